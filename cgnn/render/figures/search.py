"""The random searches: validation accuracy against each hyperparameter."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from cgnn.analysis.measured import load_trials
from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.plots import list_words, say_empty
from cgnn.render.style import INK, PAGE, Drawing, look

SHOWN = {"lr": "learning rate", "t1": "ending time $t_1$", "alpha": "α", "gamma": "γ"}
PLAIN = {"lr": "learning rate", "t1": "ending time", "alpha": "initial α", "gamma": "self-loop weight γ"}
MODELS = ("cgnn", "cgnn_weight", "cgnn_discrete")


def draw(trials: Path) -> Drawing:
    """Rows are datasets, columns hyperparameters, on the fixed split; the winner of each search is a star."""
    rows = load_trials(trials)
    rows = rows[rows["model"].isin(MODELS)]
    kind = "fixed" if (rows["split_kind"] == "fixed").any() else "random"
    rows = rows[rows["split_kind"] == kind]
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    shown = [name for name in SHOWN if name in rows.columns and rows[name].notna().any()]
    count = max(len(datasets), 1)
    figure, grid = plt.subplots(
        count, max(len(shown), 1), figsize=(PAGE, 1.2 * count + 0.45), squeeze=False, sharey="row", sharex="col"
    )
    if not datasets or not shown:
        say_empty(figure, grid[0, 0], "no search was run")
    for i, dataset in enumerate(datasets if shown else []):
        of_dataset = rows[rows["dataset"] == dataset]
        for j, name in enumerate(shown):
            axes = grid[i, j]
            for model in in_order(set(of_dataset["model"]), names.MODELS):
                part = of_dataset[(of_dataset["model"] == model) & of_dataset["objective"].notna()]
                style, label = look(model), names.model(model)
                places = part[name], part["objective"]
                axes.plot(*places, style.marker, color=style.color, markersize=2.8, alpha=0.65, mew=0, label=label)
                best = winners(part)
                axes.plot(best[name], best["mean"], "*", color=style.color, markersize=9, mec=INK, mew=0.6)
            if name == "lr":
                axes.set_xscale("log")
                inside = rows["lr"].min() * 0.9, rows["lr"].max() * 1.1
                digits = (1, 3) if inside[1] / inside[0] > 12 else (1, 2, 5)
                ticks = [digit * 10.0**power for power in range(-5, 1) for digit in digits]
                axes.set_xlim(*inside)
                axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if inside[0] <= tick <= inside[1]]))
                axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes.xaxis.set_minor_formatter(NullFormatter())
            else:
                axes.xaxis.set_major_locator(MaxNLocator(4))
            low, high = float(of_dataset["objective"].quantile(0.1)), float(of_dataset["objective"].max())
            axes.set_ylim(low - 0.05 * (high - low) - 0.1, high + 0.12 * (high - low) + 0.1)
            if j == 0:
                axes.set_ylabel(f"{names.dataset(dataset)}\nvalidation (%)")
            if i == count - 1:
                axes.set_xlabel(SHOWN[name])
    handles, labels = grid[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    counts = rows.groupby(["dataset", "model", "preset"]).size()
    lost = int((rows["status"] != "completed").sum())
    failed = f", {lost} of them failed" if lost else "; no trial failed"
    caption = (
        f"{_finding(rows, datasets, shown)} Random search on the {kind} splits: each point is a trial in round one; a "
        "star marks the winner of each search at its mean validation accuracy in round two. "
        f"{len(rows)} trials in {len(counts)} searches{failed}. The axes leave out the lowest tenth of "
        "each dataset's trials."
    )
    alt = "Scatter plots of validation accuracy over hyperparameters."
    return Drawing(figure, "Hyperparameter search", caption, alt, empty=not datasets or not shown)


def winners(trials: pd.DataFrame) -> pd.DataFrame:
    """The finalist with the highest mean for each preset, the earliest if several are equal, as in the search."""
    ranked = trials[trials["mean"].notna()].sort_values(["mean", "trial"], ascending=[False, True])
    return ranked.drop_duplicates("preset")


def _finding(rows: pd.DataFrame, datasets: list[str], shown: list[str]) -> str:
    """The hyperparameter that correlates most with CGNN's validation accuracy, by rank correlation."""
    words = []
    for dataset in datasets:
        part = rows[(rows["dataset"] == dataset) & (rows["model"] == "cgnn") & (rows["status"] == "completed")]
        ranks = {name: part[name].corr(part["objective"], method="spearman") for name in shown if len(part) > 2}
        ranks = {name: rank for name, rank in ranks.items() if rank == rank}
        if ranks:
            name = max(ranks, key=lambda item: abs(ranks[item]))
            words.append(
                f"the {PLAIN.get(name, name)} on {names.dataset(dataset)} ({ranks[name]:+.2f})".replace("-", "−")
            )
    if not words:
        return "No search of CGNN was run."
    return f"CGNN's validation accuracy correlates most with {list_words(words)} (rank correlation)."
