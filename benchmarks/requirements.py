"""Requirements on the measurements, and whether they are met."""

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.cost_model import Size, bytes_held

#: Number of nodes from which a state of 16 columns (6.4 MB) is larger than a core's private caches.
BEYOND_CACHES = 100_000
#: Nodes that must fit into 24 GiB.
LARGEST = 10_000_000


@dataclass(frozen=True)
class Requirement:
    """``measured`` must be at least, or at most, ``limit``."""

    what: str
    measured: float
    relation: str
    limit: float

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.relation == "≥" else self.measured <= self.limit


def ratio(
    rows: list[dict[str, Any]], dataset: str, threads: int, above: tuple[str, str], below: tuple[str, str]
) -> float | None:
    """Milliseconds of (model, recipe) ``above`` over those of ``below``; None if either was not measured."""
    found = {
        (row["model"], row["recipe"]): row["ms_per_epoch"]
        for row in rows
        if row["dataset"] == dataset and row["threads"] == threads
    }
    return found[above] / found[below] if above in found and below in found else None


def memory_spread(rows: list[dict[str, Any]], model: str, solver: str) -> float | None:
    """Largest peak over the smallest, minus one, over all ending times."""
    peaks = [row["peak_bytes"] for row in rows if row["model"] == model and row["solver"] == solver]
    return max(peaks) / min(peaks) - 1 if peaks else None


def measured(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the growth table whose process did not fail."""
    return [row for row in content.get("growth", []) if "failed" not in row]


def check(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Every requirement that the available measurements can test."""
    rows = content.get("rows", [])
    found: list[tuple[str, float | None, str, float]] = []
    for dataset, threads in dict.fromkeys((row["dataset"], row["threads"]) for row in rows):
        where = f"{dataset.capitalize()}, {threads} thread{'s' if threads > 1 else ''}"
        if dataset == "cora":
            for model, least in (("cgnn", 100), ("cgnn_weight", 60)):
                gain = ratio(rows, dataset, threads, (model, "released"), (model, "exact"))
                found.append((f"{where}: {model}, released recipe ÷ exact", gain, "≥", least))
        share = ratio(rows, dataset, threads, ("cgnn", "exact"), ("gcn", "pyg"))
        found.append((f"{where}: cgnn, exact ÷ GCN on PyG", share, "≤", 1))
    for model in ("cgnn", "cgnn_weight"):
        spread = memory_spread(content.get("memory", []), model, "exact_recompute")
        found.append((f"{model}: spread of exact_recompute's peak memory over t1", spread, "≤", 0.05))
    for row in content.get("order", []):
        gain = row["reordered_ms"] / row["original_ms"]
        found.append((f"{row['graph'].capitalize()}, sparse product: reordered ÷ original", gain, "≤", 1))
    for row in measured(content):
        where = f"{row['graph']} graph, {row['nodes']:,} nodes, {row['solver']}"
        if row["nodes"] >= BEYOND_CACHES:
            found.append((f"{where}: epoch ÷ bare products", row["ms_per_epoch"] / row["floor_ms"], "≤", 2))
        held = row["peak_bytes"] / bytes_held(Size.of(row), row["solver"])
        found.append((f"{where}: bytes held, measured ÷ model, away from 1", abs(held - 1), "≤", 0.02))
        if row["nodes"] >= LARGEST:
            found.append((f"{where}: resident GiB", row["resident_bytes"] / 2**30, "≤", 24))
    items = [Requirement(what, value, sign, limit) for what, value, sign, limit in found if value is not None]
    return [{**asdict(item), "met": item.met} for item in items]
