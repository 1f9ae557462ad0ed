"""The random searches: validation accuracy against each hyperparameter."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from cgnn.analysis.rows import in_order
from cgnn.models import names
from cgnn.render.panels import say_empty
from cgnn.render.style import BLACK, PAGE, Drawing, look

SHOWN = {"lr": "learning rate", "t1": "ending time $t_1$", "alpha": "α", "gamma": "γ"}
MODELS = ("cgnn", "cgnn_weight", "cgnn_discrete")


def draw(trials: Path) -> Drawing:
    """Rows are datasets, columns hyperparameters, on the fixed split; the winner of each search is a star."""
    rows = pd.read_csv(trials)
    rows = rows[rows["model"].isin(MODELS)]
    kind = "fixed" if (rows["split_kind"] == "fixed").any() else "random"
    rows = rows[rows["split_kind"] == kind]
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    shown = [name for name in SHOWN if name in rows.columns and rows[name].notna().any()]
    count = max(len(datasets), 1)
    figure, grid = plt.subplots(
        count, max(len(shown), 1), figsize=(PAGE, 1.55 * count + 0.45), squeeze=False, sharey="row", sharex="col"
    )
    if not datasets or not shown:
        say_empty(grid[0, 0], "no search was run")
    for i, dataset in enumerate(datasets if shown else []):
        of_dataset = rows[rows["dataset"] == dataset]
        for j, name in enumerate(shown):
            axes = grid[i, j]
            for model in in_order(set(of_dataset["model"]), names.MODELS):
                part = of_dataset[(of_dataset["model"] == model) & of_dataset["objective"].notna()]
                style = look(model)
                axes.plot(
                    part[name],
                    part["objective"],
                    style.marker,
                    color=style.color,
                    markersize=2.8,
                    alpha=0.65,
                    markeredgewidth=0,
                    linestyle="none",
                    label=names.model(model),
                )
                best = winners(part)
                axes.plot(
                    best[name],
                    best["mean"],
                    "*",
                    color=style.color,
                    markersize=9,
                    markeredgecolor=BLACK,
                    mew=0.6,
                    linestyle="none",
                )
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
            low = float(of_dataset["objective"].quantile(0.1))
            high = float(of_dataset["objective"].max())
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
    caption = (
        f"Random search on the {kind} splits: validation accuracy of each trial in round one against each "
        "hyperparameter. A star marks the winner of each search at its mean validation accuracy over the further "
        f"replicas of round two. {len(rows)} trials in {len(counts)} searches, {lost} of which diverged or ran out of "
        "memory. The axes leave out the lowest tenth of each dataset's trials."
    )
    return Drawing(
        figure, "Hyperparameter search", caption, "Scatter plots of validation accuracy over hyperparameters."
    )


def winners(trials: pd.DataFrame) -> pd.DataFrame:
    """The finalist with the highest mean for each preset, the earliest if several are equal, as in the search."""
    ranked = trials[trials["mean"].notna()].sort_values(["mean", "trial"], ascending=[False, True])
    return ranked.drop_duplicates("preset")
