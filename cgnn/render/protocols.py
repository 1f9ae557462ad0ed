"""A claim in short: which protocols give which verdict, and the comparison that decides it, in words."""

from typing import Any

from cgnn.analysis.claims.base import Outcome, Verdict, digits_of
from cgnn.render.accuracy_table import SOURCES
from cgnn.render.cells import signed

INCOMPLETE = " (half or more not run)"


def by_protocol(claim: dict[str, Any]) -> dict[str, list[str]]:
    """The protocols of a claim by verdict, each described by what distinguishes it; empty if there is only one.

    The most frequent verdict is last. If it has more than two protocols, all of them complete, they are only counted.
    """
    protocols = claim["protocols"] if claim["also"] else []
    words = {
        "preset": lambda name: f"preset {name}",
        "hyperparameter_source": lambda name: SOURCES.get(name, name),
        "split_kind": lambda name: f"{name} splits",
        "reading": lambda name: name,
    }
    varying = [field for field in words if len({protocol[field] for protocol in protocols}) > 1]
    found: dict[str, list[str]] = {}
    for protocol in protocols:
        label = ", ".join(words[field](protocol[field]) for field in varying if protocol[field]) or protocol["label"]
        partial = not protocol["complete"] and protocol["verdict"] != Verdict.NOT_TESTABLE
        found.setdefault(protocol["verdict"], []).append(label + (INCOMPLETE if partial else ""))
    found = dict(sorted(found.items(), key=lambda item: len(item[1])))
    kind = "readings" if varying == ["reading"] else "protocols"
    kind = "combinations of protocol and splits" if "split_kind" in varying else kind
    for last in list(found)[-1:]:
        if (count := len(found[last])) > 2 and not any(label.endswith(INCOMPLETE) for label in found[last]):
            found[last] = [f"{'the other' if len(found) > 1 else 'all'} {count} {kind}"]
    return found


def one_line(claim: dict[str, Any]) -> str:
    """The number of comparisons that pass and the deciding one, or which protocols give which verdict."""
    if claim["verdict"] == Verdict.DEPENDS:
        found = by_protocol(claim).items()
        return ". ".join(f"{verdict.capitalize()}: {'; '.join(labels)}" for verdict, labels in found)
    passed = [bool(item["passed"]) for item in claim["comparisons"] if item["outcome"] != Outcome.CANNOT_FAIL]
    if not passed:
        return str(claim["why"]) or "not tested"
    text = f"{sum(passed)} of {len(passed)} comparisons pass"
    effect = claim["effect"]
    if effect is None or effect["estimate"] is None:
        return text
    points = effect["unit"] == "points"
    digits = digits_of(effect["estimate"], effect["low"], effect["high"])

    def number(value: float) -> str:
        return signed(value, digits) if points else f"{value:.2f}".replace("-", "−")

    span = ""
    if effect["low"] is not None and effect["low"] != effect["high"]:
        span = f" [{number(effect['low'])}, {number(effect['high'])}]"
    return f"{text}; least favourable: {effect['label']}, {number(effect['estimate'])}{span} {effect['unit']}"
