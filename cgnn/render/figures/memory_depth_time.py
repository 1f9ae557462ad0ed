"""Figure 3: peak memory against the number of layers or the ending time."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cgnn.analysis.claims.memory import MIB, curve
from cgnn.analysis.measured import load_profiles
from cgnn.analysis.rows import OK, in_order
from cgnn.analysis.statistics import fit_line
from cgnn.models import names
from cgnn.render.cells import short
from cgnn.render.plots import label_ends, list_words, panels, say_empty
from cgnn.render.style import Drawing, Look, blend, look

LAYERED = ("gcn", "gat", "gcn_residual", "cgnn_discrete")
#: The four of the paper's figure.
PAPER = ("gcn", "gat", "cgnn_discrete", "cgnn_adjoint")
COUNTERS = {"torch cpu allocator": "PyTorch's CPU allocator", "torch cuda allocator": "PyTorch's CUDA allocator"}
SOLVERS = {
    "cgnn_adjoint": "the adjoint method",
    "cgnn_exact_recompute": "the recomputing exact solver",
    "cgnn_exact": "the exact solver",
    "cgnn_dopri5": "dopri5",
}
#: CGNN's solvers in shades of its colour: the share of the colour, and what it is blended with.
SHADES = {
    "cgnn_exact": (0.62, "#000000"),
    "cgnn_exact_recompute": (0.62, "#FFFFFF"),
    "cgnn_dopri5": (0.82, "#000000"),
    "cgnn_adjoint_no_augmentation": (0.78, "#FFFFFF"),
}
#: Hollow markers for methods whose lines are close to those of others.
HOLLOW = ("cgnn_exact_recompute", "cgnn_adjoint_no_augmentation")


def draw(profiles: Path) -> Drawing:
    """One row per dataset: the paper's methods on the left, the solvers of the ODE on the right."""
    rows = load_profiles(profiles)
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    figure, grid = panels(len(datasets), 2, 2.5)
    out_of_memory = False
    for i, dataset in enumerate(datasets):
        here = rows[rows["dataset"] == dataset]
        solvers = [name for name in set(here["method"]) if name not in LAYERED]
        for axes, methods, title in zip(
            grid[i], (PAPER, solvers), ("the paper's methods", "solvers of the ODE"), strict=True
        ):
            part = here[here["method"].isin(methods)]
            out_of_memory |= _panel(axes, part, dataset)
            if methods is PAPER:
                _inset(axes, part, dataset)
            axes.set_title(f"{names.dataset(dataset)}: {title}")
            if i == len(datasets) - 1:
                axes.set_xlabel("number of layers, or ending time $t_1$" if methods is PAPER else "ending time $t_1$")
        grid[i, 0].set_ylabel("peak memory (MiB)")
    if not datasets:
        say_empty(figure, grid[0, 0], "no profile was run")
    counters = {COUNTERS.get(str(item), str(item)) for item in rows.get("memory_counter", [])}
    caption = f"{_finding(rows, datasets)} Peak memory of one training step, counted by {', '.join(sorted(counters))}."
    caption = caption.lstrip() + _fewer_points(rows)
    if out_of_memory:
        caption += " Crosses at the upper edge mark points that ran out of memory."
    alt = "Peak memory over depth or ending time: one row of panels per dataset, one line per method."
    return Drawing(figure, "Memory against depth or time", caption, alt, empty=not datasets)


def _inset(axes: Axes, part: pd.DataFrame, dataset: str) -> None:
    """The same lines without GAT, whose memory is so much larger that the others look flat."""
    curves = {method: curve(part, dataset, method) for method in PAPER if method != "gat"}
    # Points at one depth have no slope that could look flat.
    if len(curve(part, dataset, "gat")) < 2 or not any(map(len, curves.values())):
        return
    inset = axes.inset_axes((0.54, 0.33, 0.44, 0.44))
    for method, points in curves.items():
        style = look(method)
        inset.plot(points["value"], points["peak_bytes"] / MIB, color=style.color, linestyle=style.dashes, linewidth=1)
        inset.plot(points["value"], points["peak_bytes"] / MIB, style.marker, color=style.color, markersize=2)
    inset.set_xlim(0)
    inset.set_ylim(0)
    inset.tick_params(labelsize=7)
    inset.set_title("without GAT", fontsize=7)


def _look(method: str, position: int) -> Look:
    """The look of a method; CGNN's solvers differ in shade as well."""
    style = look(method, position)
    return replace(style, color=blend(style.color, *SHADES[method])) if method in SHADES else style


def _panel(axes: Axes, part: pd.DataFrame, dataset: str) -> bool:
    ends, out_of_memory = [], False
    for position, method in enumerate(in_order(set(part["method"]), names.METHODS)):
        good = curve(part, dataset, method)
        style = _look(method, position)
        if len(good):
            peaks = good["peak_bytes"] / MIB
            (line,) = axes.plot(
                good["value"], peaks, color=style.color, marker=style.marker, linestyle=style.dashes, markersize=3.5
            )
            if method in HOLLOW:
                line.set(markerfacecolor="none", markersize=4.5)
            ends.append((good["value"].iloc[-1], peaks.iloc[-1], names.method(method), style.color))
        lost = part[(part["method"] == method) & (part["status"] == "out_of_memory")]["value"]
        if len(lost):
            out_of_memory = True
            # The height is in axes coordinates: it only means "off the chart".
            axes.plot(lost, [0.98] * len(lost), "x", color=style.color, transform=axes.get_xaxis_transform())
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    label_ends(axes, ends)
    return out_of_memory


def _finding(rows: pd.DataFrame, datasets: list[str]) -> str:
    """Whether memory grows linearly or stays constant, from fits; else the memory at the points that were measured."""
    if not (rows["status"] == OK).any():
        return "No point was measured successfully." if len(rows) else "No profile was run."
    linear, constant, growth = [], [], []
    for method in PAPER[:3]:
        parts = [curve(rows, dataset, method) for dataset in datasets]
        fits = [
            fit_line(part["value"].tolist(), (part["peak_bytes"] / MIB).tolist()).r_squared
            for part in parts
            if part["value"].nunique() > 2
        ]
        if fits and min(fits) > 0.99:
            linear.append(names.method(method))
    for method in SOLVERS:
        peaks_of = [curve(rows, dataset, method)["peak_bytes"] for dataset in datasets]
        changes = [100 * float(peaks.max() / peaks.min() - 1) for peaks in peaks_of if len(peaks) > 1]
        if changes and max(changes) < 0.5:
            constant.append(SOLVERS[method])
        elif changes:
            growth.append(f"{max(changes):.0f} % with {SOLVERS[method]}")
    sentences = []
    if linear:
        sentences.append(f"Memory grows linearly with the layers of {list_words(linear)}")
    over_time = [f"does not grow with {list_words(constant)}"] if constant else []
    over_time += [f"grows by at most {list_words(growth)}"] if growth else []
    if over_time:
        subject = " it" if linear else ", memory"
        sentences.append(f"from the shortest to the longest ending time{subject} {list_words(over_time)}")
    doubled, plain = (_against_exact(rows, datasets, f"cgnn_adjoint{end}") for end in ("", "_no_augmentation"))
    if doubled:
        sentences.append(
            f"the adjoint method with augmentation, which doubles the state, needs {doubled} the memory of the "
            "recomputing exact solver" + (f", and without augmentation {plain}" if plain else "")
        )
    if not sentences:
        sentences = [text for dataset in datasets if (text := _peaks(rows, dataset))]
    text = "; ".join(sentences)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _peaks(rows: pd.DataFrame, dataset: str) -> str:
    """``on Cora, one training step needs 4 MiB with GCN (2 layers)``, for methods that were measured at one point."""
    here = rows[(rows["dataset"] == dataset) & (rows["status"] == OK)]
    words = []
    for (axis, value), part in here.groupby(["axis", "value"]):
        peaks = part.sort_values("peak_bytes", ascending=False)
        found = [
            f"{peak / MIB:,.0f} MiB with “{names.method(method)}”"
            for method, peak in zip(peaks["method"], peaks["peak_bytes"], strict=True)
        ]
        words.append(f"{list_words(found)} ({f'{value:g} layers' if axis == 'layers' else f't₁ = {value:g}'})")
    return f"On {names.dataset(dataset)}, one training step needs {', and '.join(words)}" if words else ""


def _fewer_points(rows: pd.DataFrame) -> str:
    """Which solvers were measured at fewer ending times than others, and how long an epoch of the slowest takes."""
    timed = rows[~rows["method"].isin(LAYERED)]
    values = {str(method): sorted(set(part["value"])) for method, part in timed.groupby("method")}
    most = max(map(len, values.values()), default=0)
    words = [
        f"“{names.method(method)}” only at t₁ = {list_words([f'{value:g}' for value in values[method]])}"
        for method in in_order(values, names.METHODS)
        if len(values[method]) < most
    ]
    slowest = timed["seconds_per_epoch"].max()
    if not words or pd.isna(slowest):
        return ""
    text = ", and ".join(words).replace(" only", " was measured only", 1)
    return f" {text}; an epoch takes up to {short(float(slowest))} s with the slowest solver."


def _against_exact(rows: pd.DataFrame, datasets: list[str], method: str) -> str:
    """``3 times (Cora)``: memory over that of the recomputing exact solver, at the longest common ending time."""
    words = []
    for dataset in datasets:
        peaks, exact = (
            curve(rows, dataset, name).set_index("value")["peak_bytes"] for name in (method, "cgnn_exact_recompute")
        )
        ratios = (peaks / exact).dropna().sort_index()
        if len(ratios):
            words.append(f"{short(float(ratios.iloc[-1]))} times ({names.dataset(dataset)})")
    return list_words(words)
