"""bench.json as Markdown: `python -m benchmarks.render [JSON] [--docs FILE …]`.

Without ``--docs``, everything is printed. With it, every block of the files between ``<!-- bench NAME -->`` and
``<!-- end -->`` is rewritten (NAME is a key of ``BLOCKS``), and the JSON is copied next to the first file.
"""

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cost_model import Size, bytes_held, bytes_moved, epoch_over_products, products
from benchmarks.requirements import measured, memory_spread
from cgnn.analysis.measured import bench_label, bench_name
from cgnn.files import write_text

#: The rows of the tables of epochs, in their order.
CGNN_RECIPES = ("released", "rk4", "dopri5_adjoint", "exact_recompute", "exact", "floor")
BASELINE_RECIPES = ("pyg", "pyg_sparse", "ours", "fused")
RECIPES = [
    *((model, recipe) for model in ("cgnn", "cgnn_weight") for recipe in CGNN_RECIPES),
    *((model, recipe) for model in ("gcn", "gat") for recipe in BASELINE_RECIPES),
]


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


#: A median of fewer timings than this is marked.
FEW = 10


def epochs_block(content: dict[str, Any]) -> str:
    """Milliseconds per epoch, also divided by the exact epoch of the same model (of CGNN for GCN and GAT)."""
    parts = []
    for threads in sorted({row["threads"] for row in content.get("rows", [])}, reverse=True):
        rows = [row for row in content["rows"] if row["threads"] == threads]
        datasets = list(dict.fromkeys(row["dataset"] for row in rows))
        cell = {(row["dataset"], row["model"], row["recipe"]): row["ms_per_epoch"] for row in rows}
        few = {(row["dataset"], row["model"], row["recipe"]) for row in rows if 0 < len(row.get("ms", ())) < FEW}
        header = [f"{threads} thread{'s' if threads > 1 else ''}"]
        for dataset in datasets:
            header += [f"{dataset.capitalize()}, ms", "÷ exact"]
        body = []
        for model, recipe in RECIPES:
            label = bench_label(bench_name({"model": model, "recipe": recipe}))
            line = [f"**{label}**" if recipe == "exact" else label]
            for dataset in datasets:
                mine = cell.get((dataset, model, recipe))
                exact = cell.get((dataset, model if model.startswith("cgnn") else "cgnn", "exact"))
                if mine is None or exact is None:
                    line += ["–", "–"]
                else:
                    mark = "†" if (dataset, model, recipe) in few else ""
                    line += [milliseconds(mine) + mark, f"{mine / exact:.3g}"]
            if set(line[1:]) != {"–"}:  # a contestant that this run did not have
                body.append(line)
        parts.append(table(header, body))
    return "\n\n".join(parts)


def memory_block(content: dict[str, Any]) -> str:
    """Peak MiB against the ending time."""
    rows = content.get("memory", [])
    times = sorted({row["t1"] for row in rows})
    cell = {(row["model"], row["solver"], row["t1"]): row["peak_bytes"] / 2**20 for row in rows}
    body = []
    for model, solver in dict.fromkeys((row["model"], row["solver"]) for row in rows):
        spread = memory_spread(rows, model, solver)
        peaks = [f"{cell[model, solver, t1]:,.1f}" if (model, solver, t1) in cell else "–" for t1 in times]
        body.append([f"{model}, {solver}", *peaks, f"{100 * (spread or 0):,.1f} %"])
    return table(["peak MiB at t1 =", *(f"{t1:g}" for t1 in times), "spread"], body)


def order_block(content: dict[str, Any]) -> str:
    """One sparse product in both orders of the nodes."""
    body = [
        [
            f"{row['graph'].capitalize()}, {row['nodes']:,} nodes",
            milliseconds(row["original_ms"]),
            milliseconds(row["reordered_ms"]),
            f"{row['reordered_ms'] / row['original_ms']:.2f}",
        ]
        for row in content.get("order", [])
    ]
    return table(["one product ÂH", "original order, ms", "reverse Cuthill–McKee, ms", "ratio"], body)


def growth_block(content: dict[str, Any]) -> str:
    """Time and memory against nodes."""
    body = []
    for row in content.get("growth", []):
        label = f"{row['graph']}, {row['solver']}, {row['nodes']:,}"
        if "failed" in row:
            body.append([label, f"failed: {row['failed']}", *5 * "–"])
            continue
        body.append(
            [
                label,
                f"{row['ms_per_epoch']:,.1f}",
                f"{1000 * row['ms_per_epoch'] / row['nodes']:.2f}",
                f"{row['ms_per_epoch'] / row['floor_ms']:.2f}",
                f"{row['peak_bytes'] / 2**20:,.0f}",
                f"{row['resident_bytes'] / 2**30:.1f}",
                f"{len(row['ms'])}",
            ]
        )
    header = [
        *("graph, solver, nodes", "ms per epoch", "µs per node", "÷ bare products", "peak MiB", "resident GiB"),
        "epochs timed",
    ]
    return table(header, body)


def allocator_block(content: dict[str, Any]) -> str:
    """The same epoch with and without the settings of `tune_allocator`."""
    tuned, default = content["allocator"]
    where = f"{tuned['graph']}, {tuned['solver']}, {tuned['nodes']:,}"
    if "failed" in tuned or "failed" in default:
        return f"The epoch on {where} nodes failed."
    body = [
        f"{tuned['ms_per_epoch']:,.0f}",
        f"{default['ms_per_epoch']:,.0f}",
        f"{default['ms_per_epoch'] / tuned['ms_per_epoch']:.2f}",
    ]
    header = ["graph, solver, nodes", "ms per epoch, tuned allocator", "default allocator", "ratio"]
    return table(header, [[where, *body]])


def model_block(content: dict[str, Any]) -> str:
    """The cost model next to the measurements."""
    body = []
    for row in measured(content):
        size = Size.of(row)
        held = bytes_held(size, row["solver"])
        body.append(
            [
                f"{row['graph']}, {row['solver']}, {row['nodes']:,}",
                f"{row['products']}",
                f"{row['peak_bytes'] / row['nodes']:,.1f}",
                f"{held / row['nodes']:,.1f}",
                f"{row['peak_bytes'] / held:.4f}",
                f"{bandwidth(row) / 1e9:.1f}",
                f"{row['ms_per_epoch'] / row['floor_ms']:.2f}",
                f"{epoch_over_products(size, row['solver']):.2f}",
            ]
        )
    header = [
        "graph, solver, nodes",
        "products",
        "bytes per node, measured",
        "by the model",
        "ratio",
        "GB/s of products",
        "epoch ÷ products, measured",
        "by bytes moved",
    ]
    return table(header, body)


def bandwidth(row: dict[str, Any]) -> float:
    """Bytes per second of the bare products with Â, if each value moved once. Caches can make it seem higher."""
    return row["products"] * bytes_moved(Size.of(row)) / (row["floor_ms"] / 1000)


#: Assumed bandwidths of a large machine and a cluster, in bytes per second.
MEMORY_BANDWIDTH, NETWORK_BANDWIDTH, MACHINES, CUT = 200e9, 3e9, 16, 0.1


def prediction_block(content: dict[str, Any]) -> str:
    """10^8 nodes, from the largest measured graph with communities."""
    communities = [row for row in measured(content) if row["graph"] == "community"]
    if not communities:
        return "No graph with communities was measured."
    largest = max(communities, key=lambda row: row["nodes"])
    size = Size.of(largest).grown(10**8)
    overhead = largest["ms_per_epoch"] / largest["floor_ms"]
    body = []
    for solver in ("exact", "exact_recompute"):
        count = products(size.terms, solver)
        moved, held = count * bytes_moved(size), bytes_held(size, solver)
        here = overhead * moved / bandwidth(largest)
        there = overhead * moved / MEMORY_BANDWIDTH
        # Each machine receives the states of remote neighbours: at most one per edge that leaves its partition.
        halo = CUT * (size.stored - size.nodes) / MACHINES * 4 * size.width
        exchange = count * halo / NETWORK_BANDWIDTH
        body.append(
            [
                solver,
                f"{held / 2**30:,.0f}",
                f"{moved / 1e9:,.0f}",
                f"{here:,.0f}",
                f"{there:,.0f}",
                f"{held / MACHINES / 2**30:,.0f}",
                f"{there / MACHINES:,.1f} + {exchange:,.1f}",
            ]
        )
    header = [
        "10^8 nodes",
        "GiB held",
        "GB moved by the products",
        "s per epoch, this machine's bandwidth",
        f"s per epoch, {MEMORY_BANDWIDTH / 1e9:.0f} GB/s",
        f"GiB on each of {MACHINES}",
        f"s per epoch on {MACHINES}, products + exchange",
    ]
    return table(header, body)


def requirements_block(content: dict[str, Any]) -> str:
    body = [
        [
            item["what"],
            f"{item['relation']} {item['limit']:g}",
            f"{item['measured']:.3g}",
            ("**no**", "yes")[item["met"]],
        ]
        for item in content.get("requirements", [])
    ]
    return table(["requirement", "limit", "measured", "met"], body)


def machine_block(content: dict[str, Any]) -> str:
    machine = content["machine"]
    code = ", ".join(f"{model} `{fingerprint}`" for model, fingerprint in content.get("code", {}).items())
    return (
        f"Measured on {content['date']}: {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']:.0f} GiB, load {machine['load_before']} before; {machine['versions']}; "
        f"{content['seconds']:.0f} s in all." + (f" Fingerprints of the measured code: {code}." if code else "")
    )


BLOCKS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "machine": ("machine", machine_block),
    "requirements": ("requirements", requirements_block),
    "epochs": ("rows", epochs_block),
    "memory": ("memory", memory_block),
    "order": ("order", order_block),
    "growth": ("growth", growth_block),
    "allocator": ("allocator", allocator_block),
    "model": ("growth", model_block),
    "prediction": ("growth", prediction_block),
}


def markdown(content: dict[str, Any]) -> str:
    there = {name: render for name, (key, render) in BLOCKS.items() if content.get(key)}
    parts = [f"## {name.capitalize()}\n\n{render(content)}\n" for name, render in there.items()]
    return "# Speed and memory\n\n" + "\n".join(parts)


def fill(document: str, content: dict[str, Any]) -> str:
    """The document with its blocks rewritten; a block whose measurement is missing is left as it is."""

    def block(match: re.Match[str]) -> str:
        key, render = BLOCKS[match[2]]
        return f"{match[1]}\n{render(content)}\n{match[4]}" if content.get(key) else match[0]

    return re.sub(r"(<!-- bench (\w+) -->)(.*?)(<!-- end -->)", block, document, flags=re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.render", description=__doc__)
    parser.add_argument("json", nargs="?", default="benchmarks/out/bench.json", type=Path)
    parser.add_argument("--docs", type=Path, nargs="+", help="rewrite the blocks of these documents")
    options = parser.parse_args(arguments)
    content = json.loads(options.json.read_text(encoding="utf-8"))
    if options.docs is None:
        print(markdown(content))
    else:
        for document in options.docs:
            write_text(document, fill(document.read_text(encoding="utf-8"), content))
        write_text(options.docs[0].with_suffix(".json"), json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
