"""Figure 3: peak memory against the number of layers or the ending time."""

from pathlib import Path

from cgnn.analysis.measured import load_profiles
from cgnn.analysis.rows import OK, in_order
from cgnn.models import names
from cgnn.render.panels import legend_below, log_ticks, plain_log_y, say_empty, series, stacked
from cgnn.render.style import Drawing, look

MIB = 2**20


def draw(profiles: Path) -> Drawing:
    """A panel a dataset, a line a method; a point that ran out of memory is a cross on the upper edge."""
    rows = load_profiles(profiles)
    datasets = in_order(set(rows["dataset"]), names.DATASETS)
    figure, panels = stacked(len(datasets), 2.1)
    growth: list[str] = []
    out_of_memory = False
    for axes, dataset in zip(panels, datasets, strict=False):
        of_dataset = rows[rows["dataset"] == dataset]
        for position, method in enumerate(in_order(set(of_dataset["method"]), names.METHODS)):
            points = of_dataset[of_dataset["method"] == method].sort_values("value")
            good = points[(points["status"] == OK) & points["peak_bytes"].notna()]
            style = look(method, position)
            x, y = good["value"].tolist(), (good["peak_bytes"] / MIB).tolist()
            series(axes, x, y, None, style, names.method(method))
            lost = points[points["status"] == "out_of_memory"]["value"].tolist()
            if lost:
                out_of_memory = True
                # In axes coordinates upwards: the height has no meaning but "off the chart".
                axes.plot(lost, [0.98] * len(lost), "x", color=style.color, transform=axes.get_xaxis_transform())
            if len(y) > 1 and (method.startswith("cgnn_") and method != "cgnn_discrete"):
                growth.append(f"{names.dataset(dataset)}, {names.method(method)} {100 * (max(y) / min(y) - 1):.1f} %")
        log_ticks(axes, sorted(set(of_dataset["value"])))
        plain_log_y(axes)
        axes.set_title(names.dataset(dataset), loc="left")
        axes.set_ylabel("peak memory (MiB)")
    if datasets:
        panels[-1].set_xlabel("number of layers, or ending time $t_1$")
        legend_below(figure, panels, columns=2)
    else:
        say_empty(panels[0], "no profile was run")
    counter = ", ".join(sorted({str(item) for item in rows.get("memory_counter", [])}))
    caption = (
        "Peak memory of one training step against the number of layers or the ending time (counter: "
        f"{counter or 'none'}). "
        f"Growth from the smallest to the largest ending time: {'; '.join(growth) or 'not measured'}."
    )
    if out_of_memory:
        caption += " Crosses on the upper edge ran out of memory."
    alt = "Line chart of peak memory over depth or ending time, one panel a dataset, one line a method."
    return Drawing(figure, "Memory against depth or time", caption, alt)
