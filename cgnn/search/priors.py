"""Priors of a search space, parsed by a strict grammar before Orion sees them, because Orion passes the text to eval.

uniform(a, b), loguniform(a, b), both also with ``discrete=True``; normal(mean, deviation); choices([...]) of numbers
or quoted words; randint(a, b), another name for ``uniform(a, b, discrete=True)``.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cgnn.errors import UserError
from cgnn.paper.hyperparameters import TYPES

Value = int | float | str

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
WORD = r"'[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*'|\"[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*\""
VALUE = f"(?:{NUMBER}|{WORD})"
PAIR = re.compile(
    rf"\s*(uniform|loguniform|normal|randint)\s*\(\s*({NUMBER})\s*,\s*({NUMBER})\s*"
    r"(?:,\s*discrete\s*=\s*(True|False)\s*)?\)\s*"
)
CHOICES = re.compile(rf"\s*choices\s*\(\s*\[\s*({VALUE}(?:\s*,\s*{VALUE})*)\s*\]\s*\)\s*")
EXPECTED = (
    "expected uniform(a, b), loguniform(a, b), normal(mean, deviation) or choices([...]) with numbers or quoted words; "
    "uniform and loguniform take discrete=True as well"
)


@dataclass(frozen=True)
class Prior:
    """The distribution of a hyperparameter; its text is in Orion's notation."""

    kind: str  # uniform, loguniform, normal, choices
    values: tuple[Value, ...]
    discrete: bool = False

    def __str__(self) -> str:
        values = ", ".join(repr(value) for value in self.values)
        if self.kind == "choices":
            return f"choices([{values}])"
        return f"{self.kind}({values}{', discrete=True' if self.discrete else ''})"


def parse_prior(name: str, text: str, where: str, types: Mapping[str, type] = TYPES) -> Prior:
    """The prior of the hyperparameter ``name``; a UserError begins with ``where`` and quotes the text.

    ``types`` of the model's hyperparameters are those of :func:`cgnn.models.registry.types_of`.
    """
    try:
        prior = _parse(text)
        _check_values(prior)
        _check_type(name, prior, types)
    except ValueError as error:
        raise UserError(f"{where}: found {text!r}; {error}") from None
    return prior


def _parse(text: str) -> Prior:
    if pair := PAIR.fullmatch(text):
        kind, first, second, discrete = pair.groups()
        if discrete and kind in ("normal", "randint"):
            raise ValueError(f"{kind} takes two numbers and nothing else")
        if kind == "randint":
            kind, discrete = "uniform", "True"
        return Prior(kind, (_number(first), _number(second)), discrete == "True")
    if choices := CHOICES.fullmatch(text):
        found = re.findall(VALUE, choices[1])
        return Prior("choices", tuple(word[1:-1] if word[0] in "'\"" else _number(word) for word in found))
    raise ValueError(EXPECTED)


def _number(text: str) -> int | float:
    if len(text) > 40:
        raise ValueError(f"expected numbers of at most 40 characters, found {text[:40]}…")
    value = int(text) if re.fullmatch("[-+]?[0-9]+", text) else float(text)
    if not math.isfinite(value):
        raise ValueError(f"expected finite numbers, found {text}")
    return value


def _check_values(prior: Prior) -> None:
    if prior.kind == "choices":
        if len(set(prior.values)) < len(prior.values):
            raise ValueError("expected no choice twice")
        return
    first, second = (value for value in prior.values if not isinstance(value, str))
    if prior.kind == "normal":
        if second <= 0:
            raise ValueError(f"expected a deviation above 0, found {second}")
    elif first >= second:
        raise ValueError(f"expected the lower bound first, found {first} and then {second}")
    elif prior.kind == "loguniform" and first <= 0:
        raise ValueError(f"expected a lower bound above 0, found {first}")
    elif prior.discrete and not (isinstance(first, int) and isinstance(second, int)):
        raise ValueError("expected whole numbers as bounds of a discrete prior")
    elif not math.isfinite(second - first):
        raise ValueError("expected bounds that are less than 1e308 apart")


def _check_type(name: str, prior: Prior, types: Mapping[str, type]) -> None:
    kind = types.get(name, float)
    if kind is str and not all(isinstance(value, str) for value in prior.values):
        raise ValueError(f"{name} is a word, expected choices of quoted words")
    if kind is not str and any(isinstance(value, str) for value in prior.values):
        raise ValueError(f"{name} is a number, expected numbers")
    whole = prior.discrete or (prior.kind == "choices" and all(isinstance(value, int) for value in prior.values))
    if kind is int and not whole:
        raise ValueError(f"{name} is a whole number, expected discrete=True or choices of whole numbers")
