"""One paragraph per table that describes its main result, generated from the table's numbers."""

from collections.abc import Iterator
from typing import Any

from cgnn.models import names
from cgnn.render.cells import signed
from cgnn.render.plots import list_words

Table = dict[str, Any]


def readings(tables: dict[str, Table]) -> dict[str, str]:
    """The text before each table; some tables have none."""
    makers = {
        "fixed_splits": _accuracy,
        "random_splits": _accuracy,
        "gcn_residual": _residual,
        "fidelity": _fidelity,
        "propagation": _propagation,
        "split_rules": _split_rules,
    }
    return {name: makers[name](table) for name, table in tables.items() if name in makers}


def _cells(table: Table, group: str = "") -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Row, column and numbers of every cell that has numbers."""
    for row in table["rows"]:
        if group in ("", row["group"]):
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                if cell.get("numbers"):
                    yield row, column, cell["numbers"]


def _differences(table: Table) -> Iterator[tuple[str, list[float]]]:
    """The differences from the paper by block; blocks are different models, splits or hyperparameters."""
    for group in dict.fromkeys(row["group"] for row in table["rows"]):
        found = [n["difference"] for _, _, n in _cells(table, group) if n.get("difference") is not None]
        if found:
            yield group, found


def _accuracy(table: Table) -> str:
    parts = [
        f"{sum(abs(gap) <= 1 for gap in gaps)} of {len(gaps)} with {group[0].lower()}{group[1:]}"
        for group, gaps in _differences(table)
    ]
    return f"Means within one point of the paper's: {'; '.join(parts)}." if parts else ""


def _residual(table: Table) -> str:
    parts = [f"{_between(gaps)} points for {group}" for group, gaps in _differences(table)]
    return f"Ours minus the paper's: {'; '.join(parts)}." if parts else ""


def _fidelity(table: Table) -> str:
    group = names.model("cgnn")
    changes: dict[str, list[float]] = {}
    for row, column, numbers in _cells(table, group):
        if column.endswith("Δ") and numbers.get("difference") is not None:
            changes.setdefault(row["label"], []).append(numbers["difference"])
    if not changes:
        return ""
    most = min(changes, key=lambda name: min(changes[name]))
    widest = max(map(len, changes.values()))
    # A gain is that of a variant which was run on every dataset, by its mean over them.
    whole = {name: sum(values) / widest for name, values in changes.items() if len(values) == widest}
    best = max(whole, key=lambda name: whole[name])
    nothing = [name for name, values in changes.items() if max(abs(value) for value in values) < 0.5]
    text = f"{group} loses most with “{most}” ({_between(changes[most])} points)"
    if whole[best] > 0:
        text += f" and gains most, on average over the datasets, with “{best}” ({_between(changes[best])} points)"
    if nothing:
        verb = "changes" if len(nothing) == 1 else "change"
        text += f"; {list_words([f'“{name}”' for name in nothing])} {verb} the accuracy by less than half a point"
    return text + "."


def _propagation(table: Table) -> str:
    """One sentence per discrete scheme: where it differs significantly from the continuous model, by block."""
    found: dict[str, dict[str, list[str]]] = {}
    equal: set[str] = set()
    for row, column, numbers in _cells(table):
        if column.endswith("Δ") and numbers.get("difference_low") is not None:
            label = row["label"].partition(": ")[2]
            words = found.setdefault(label, {}).setdefault(row["group"][0].lower() + row["group"][1:], [])
            if numbers["difference_low"] <= 0 <= numbers["difference_high"]:
                equal.add(label)
            else:
                unit = "" if words else " points"
                words.append(f"{signed(numbers['difference'])}{unit} on {column.partition(',')[0]}")
    sentences = []
    for label, blocks in found.items():
        differing = [f"{list_words(words)} ({group})" for group, words in blocks.items() if words]
        if differing:
            end = ", and nowhere else" if label in equal else ""
            verb = f"differs significantly from the continuous model's by {'; '.join(differing)}{end}"
        else:
            verb = "does not differ significantly from the continuous model's"
        sentences.append(f"With {label}, accuracy {verb}.")
    return " ".join(sentences)


def _split_rules(table: Table) -> str:
    reached: dict[str, int] = {}
    total = 0
    for row in table["rows"]:
        numbers = {name: cell.get("numbers", {}) for name, cell in zip(table["columns"], row["cells"], strict=True)}
        paper = numbers["paper"].get("paper")
        if paper is None:
            continue
        total += 1
        for column, found in numbers.items():
            if found.get("value") is not None:
                reached[column] = reached.get(column, 0) + (abs(found["value"] - paper) <= 1)
    words = [f"{count} of {total} with “{rule}”" for rule, count in reached.items()]
    return f"Means within one point of the paper's: {list_words(words)}." if words else ""


def _between(values: list[float]) -> str:
    low, high = min(values), max(values)
    return signed(low) if f"{low:.1f}" == f"{high:.1f}" else f"{signed(low)} to {signed(high)}"
