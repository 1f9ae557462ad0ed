"""Figure 2: accuracy against the number of layers or the ending time."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.ticker import MaxNLocator

from cgnn.analysis.claims.depth import LATE, READINGS, WORDS
from cgnn.analysis.rows import finished, in_order, load_rows, sample
from cgnn.models import names
from cgnn.render.cells import count_text
from cgnn.render.plots import label_ends, list_words, panels, runs_mean_interval, say_empty
from cgnn.render.style import Drawing, look

#: Models with layers, by the column that holds their number; CGNN discrete counts its steps in t1. All others: time.
DEPTH = {"gcn": "layers", "gat": "layers", "gcn_residual": "layers", "cgnn_discrete": "t1"}
LETTERS = "abcd"
#: By rank of a model's line; the markers are those of CGNN without H(0), whose first line has the model's own marker.
LINES = ("-", "--", "-.", ":")
MARKERS = ("", "<", ">", "*")


def draw(sweeps: Path) -> Drawing:
    """One row per dataset: layers on the left, ending time on the right."""
    every = load_rows(sweeps)
    rows = finished(every)
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    figure, grid = panels(len(datasets), 2, 2.05)
    for i, dataset in enumerate(datasets):
        for axes, deep in zip(grid[i], (True, False), strict=True):
            part = rows[(rows["dataset"] == dataset) & (rows["model"].isin(DEPTH) == deep)]
            ends: list[tuple[float, float, str, str]] = []
            for position, model in enumerate(in_order(set(part["model"]), names.MODELS)):
                style = look(model, position)
                axis = DEPTH.get(model, "t1")
                for rank, (label, reading) in enumerate(_readings(part[part["model"] == model], model).items()):
                    own = replace(style, marker=MARKERS[rank]) if rank and model == "cgnn_no_h0" else style
                    places, means = runs_mean_interval(axes, reading, axis, own, LINES[rank])
                    ends.append((places[-1], means[-1], label, style.color))
            axes.set_title(names.dataset(dataset))
            axes.set_ylabel("test accuracy (%)" if deep else "")
            axes.set_xlabel(("number of layers" if deep else "ending time $t_1$") if i == len(datasets) - 1 else "")
            axes.margins(x=0.03)
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
            label_ends(axes, ends)
    finding = _finding(rows, datasets)
    if not datasets:
        why = "no run of the sweeps finished" if len(every) else "no sweep was run"
        say_empty(figure, grid[0, 0], why)
        finding = f"{why.capitalize()}."
    seeds = {len(group) for _, group in rows.groupby(["dataset", "model", "variant", "layers", "t1"], dropna=False)}
    caption = (
        f"{finding} Dots are runs ({count_text(seeds)} seeds per point), lines are their means and bands are 95 % "
        f"intervals.{_legend(rows)}"
    ).lstrip()
    alt = "Test accuracy over layers and over ending time: one row of panels per dataset, one line per model."
    return Drawing(figure, "Accuracy against depth or time", caption, alt, empty=not datasets)


def _finding(rows: pd.DataFrame, datasets: list[str]) -> str:
    """What the lines show, by comparing their means; empty if no line of GCN, GAT or CGNN allows it."""
    sentences = []
    for model in ("gcn", "gat"):
        drops = []
        for dataset in datasets:
            means = _means(rows, dataset, model)
            if len(means) > 1:
                drops.append(f"{means.max() - means.iloc[-1]:.0f} points on {names.dataset(dataset)}")
        if drops:
            sentences.append(f"{names.model(model)} loses {list_words(drops)}")
    if sentences:
        sentences = [f"From its best depth to the deepest, {' and '.join(sentences)}"]
    robust = []
    for dataset in datasets:
        means = _means(rows, dataset, "cgnn")
        late = means[means.index > LATE]
        if len(late) > 1:
            robust.append(f"{late.max() - late.min():.1f} on {names.dataset(dataset)}")
    if robust:
        sentences.append(f"for t > {LATE:g}, the accuracy of CGNN varies by {list_words(robust)}")
    sentences += _without_h0(rows, datasets, " it" if robust else ", the accuracy of CGNN")
    text = "; ".join(sentences)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _without_h0(rows: pd.DataFrame, datasets: list[str], subject: str) -> list[str]:
    """How much lower the accuracy is without H(0): the first reading by dataset, the others as a range."""
    by_letter = {letter: gaps for letter in LETTERS if (gaps := _gaps(rows, datasets, letter))}
    if not by_letter:
        return []
    first, *others = by_letter
    words = [
        f"{gap:.1f} on {names.dataset(dataset)} (t = {last:g})" for dataset, (last, gap) in by_letter[first].items()
    ]
    text = f"without H(0){subject} is lower by {list_words(words)}"
    if _legend(rows):
        text += f" with reading {first}"
    if others:
        further = {round(gap) for letter in others for _, gap in by_letter[letter].values()}
        plural = "s" if len(others) > 1 else ""
        text += (
            f" and by {count_text(further)} points with reading{plural} {list_words(others)}, each "
            "compared with CGNN of the same derivative"
        )
    return [text.replace("-", "−")]


def _gaps(rows: pd.DataFrame, datasets: list[str], letter: str) -> dict[str, tuple[float, float]]:
    """By dataset: the longest time with and without H(0) under the derivative, and how much lower the latter is."""
    derivative, form = READINGS[LETTERS.index(letter)]
    found = {}
    for dataset in datasets:
        with_h0 = _means(rows[rows["sw_derivative"] == derivative], dataset, "cgnn")
        without = _means(rows[_of(rows, derivative, form)], dataset, "cgnn_no_h0")
        common = without.index.intersection(with_h0.index)
        if len(common):
            last = float(common.max())
            found[dataset] = last, float(with_h0[last] - without[last])
    return found


def _means(rows: pd.DataFrame, dataset: str, model: str) -> pd.Series:
    part = _main(rows[(rows["dataset"] == dataset) & (rows["model"] == model)])
    if part.empty:
        return pd.Series(dtype=float)
    return pd.Series({value: sample(group).mean for value, group in part.groupby(DEPTH.get(model, "t1"), sort=True)})


def _main(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of one protocol and reading of the equation: the first of READINGS, and of those with most rows."""
    switches = [name for name in ("sw_derivative", "sw_no_h0") if name in rows.columns]
    parts = [part for _, part in rows.groupby(["preset", "hyperparameter_source", *switches], dropna=False)]
    return max(parts, key=lambda part: (len(switches) == 2 and _of(part, *READINGS[0]).all(), len(part)), default=rows)


def _readings(rows: pd.DataFrame, model: str) -> dict[str, pd.DataFrame]:
    """By label: the main rows, then CGNN with another derivative, and the other equations without H(0)."""
    main, label = _main(rows), names.model(model)
    rest = rows.drop(main.index)
    if model == "cgnn" and len(rest):
        others = rest.groupby("sw_derivative")
        return {label: main} | {f"{label}, {WORDS[str(name)]}": part for name, part in others}
    if model != "cgnn_no_h0" or rest.empty:
        return {label: main}
    chosen = {letter: rows[_of(rows, *reading)] for letter, reading in zip(LETTERS, READINGS, strict=True)}
    return {f"{label}, {letter}": part for letter, part in chosen.items() if len(part)}


def _of(rows: pd.DataFrame, derivative: str, form: str) -> pd.Series:
    return (rows["sw_derivative"] == derivative) & (rows["sw_no_h0"] == form)


def _legend(rows: pd.DataFrame) -> str:
    """What the letters mean, if several equations without H(0) were run."""
    without = rows[rows["model"] == "cgnn_no_h0"]
    if without.empty or without.groupby(["sw_derivative", "sw_no_h0"]).ngroups == 1:
        return ""
    words = [
        f"{letter}: {WORDS[derivative]} derivative, {WORDS[form]}"
        for letter, (derivative, form) in zip(LETTERS, READINGS, strict=True)
        if _of(without, derivative, form).any()
    ]
    return f" The readings without H(0) are {'; '.join(words)}."
