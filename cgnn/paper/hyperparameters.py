"""The hyperparameters of a training: published ones, those found by a search, or the user's."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.paper.fidelity import Fidelity
from cgnn.paper.reported import PAPER, entry_of, load_reported, load_yaml

OPTIMIZERS = ("adam", "rmsprop", "adamax")

#: ``cgnn_no_h0`` differs from ``cgnn`` only in its derivative, and ``cgnn_appnp`` from ``cgnn_discrete`` only in its
#: steps, so they are compared with the same settings.
BORROWED = {"cgnn_no_h0": "cgnn", "cgnn_appnp": "cgnn_discrete"}

Value = float | int | str


@dataclass(frozen=True)
class OwnHyperparameter:
    """A hyperparameter that only one model has, such as APPNP's teleport. Its type is that of its default.

    A number must be in [``low``, ``high``), a word must be one of ``choices``.
    """

    name: str
    default: Value
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name in TYPES or not self.name.isidentifier():
            raise ValueError(f"{self.name!r} cannot name a hyperparameter: it is already used or not an identifier")
        self.check(self.default, "default")

    @property
    def expected(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        kind = "an integer" if isinstance(self.default, int) else "a number"
        upper = "" if self.high == math.inf else f" < {self.high:g}" if self.low == -math.inf else f", {self.high:g})"
        if self.low == -math.inf:
            return kind + upper
        return f"{kind} in [{self.low:g}{upper}" if upper else f"{kind} ≥ {self.low:g}"

    def check(self, value: Value, where: str) -> Value:
        """Return ``value`` if it is allowed; otherwise raise an error with the allowed values."""
        good = value in self.choices if isinstance(value, str) else self.low <= value < self.high
        if not good:
            raise UserError(f"{where}: {self.name}: found {value!r}, expected {self.expected}")
        return value


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of all models in one record; each model uses those that it needs.

    ``own`` holds the values of hyperparameters that only one model has, sorted by name. The model's record
    (cgnn/models/records.py) declares them.
    """

    lr: float
    weight_decay: float
    optimizer: str
    hidden: int
    input_dropout: float
    dropout: float
    epochs: int = 400
    # CGNN family (t1: GODE too)
    t1: float = 1.0
    alpha: float = 0.95
    gamma: float = 1.0
    beta: float = 0.5
    # discrete baselines
    layers: int = 2
    heads: int = 8
    output_heads: int = 1
    # hyperparameters of one model
    own: tuple[tuple[str, Value], ...] = ()

    def value(self, name: str) -> Value:
        """The value of a common hyperparameter or of one that only this model has."""
        return dict(self.own)[name] if name not in TYPES else getattr(self, name)

    def __post_init__(self) -> None:
        for key, good, expected in (
            ("lr", self.lr > 0, "a number > 0"),
            ("weight_decay", self.weight_decay >= 0, "a number ≥ 0"),
            ("optimizer", self.optimizer in OPTIMIZERS, f"one of {', '.join(OPTIMIZERS)}"),
            ("input_dropout", 0 <= self.input_dropout < 1, "a number in [0, 1)"),
            ("dropout", 0 <= self.dropout < 1, "a number in [0, 1)"),
            ("t1", self.t1 >= 0, "a number ≥ 0"),
            ("alpha", 0 < self.alpha < 1, "a number in (0, 1)"),
            ("gamma", self.gamma >= 0, "a number ≥ 0"),
            ("beta", 0 <= self.beta <= 0.5, "a number in [0, 0.5]"),
            *(
                (key, getattr(self, key) >= 1, "an integer ≥ 1")
                for key in ("hidden", "epochs", "layers", "heads", "output_heads")
            ),
        ):
            if not good:
                raise UserError(f"hyperparameter {key}: found {getattr(self, key)!r}, expected {expected}")


#: The common hyperparameters and their types.
TYPES: dict[str, type] = {field.name: field.type for field in fields(Hyperparameters) if field.name != "own"}  # type: ignore[misc]


def published(
    dataset: str,
    split_kind: str,
    model: str,
    own: Sequence[OwnHyperparameter] | None = None,
    baseline: Mapping[str, Mapping[str, Any]] | None = None,
) -> Hyperparameters | None:
    """The printed settings, or None if the paper prints none (``cgnn_weight`` on random splits) and a search is needed.

    Use :func:`cgnn.models.registry.published`, which passes ``own`` and ``baseline`` from the model's record. Without
    ``own``, the model's specific hyperparameters are those in baselines.yaml, unchecked.
    """
    entry, model = entry_of(dataset), BORROWED.get(model, model)
    common = load_reported().raw["common_hyperparameters"]
    printed = load_reported().raw["hyperparameters"][entry].get(model)
    if printed is not None:
        row = printed["fixed" if split_kind == "fixed" else "random"]
        if row["lr"] is None:
            return None
        shared = common["nell" if entry == "nell" else "cora_citeseer_pubmed"]
        values = {**shared, "optimizer": common["optimizer"][entry], "epochs": common["epochs"], **row}
        return from_mapping(values, own=own or ())
    baseline = load_yaml(PAPER / "baselines.yaml").get(model) or baseline
    if not baseline:
        return None
    values = {"epochs": common["epochs"], **baseline["default"], **baseline.get(entry, {})}
    if own is None:
        own = [
            OwnHyperparameter(key, value, choices=(value,) if isinstance(value, str) else ())
            for key, value in values.items()
            if key not in TYPES
        ]
    return from_mapping(values, where=f"published settings of {model}", own=own)


def from_mapping(
    values: Mapping[str, Any], where: str = "hyperparameters", own: Sequence[OwnHyperparameter] = ()
) -> Hyperparameters:
    """Build from plain values (of a YAML file or a trial); errors name the key and ``where`` it comes from.

    ``own`` declares the hyperparameters that only this model has; those missing in ``values`` get their defaults.
    """
    declared = {item.name: item for item in own}
    types = TYPES | {name: type(item.default) for name, item in declared.items()}
    typed = {key: _typed(key, value, where, types) for key, value in values.items()}
    mine = {name: item.check(typed.pop(name, item.default), where) for name, item in declared.items()}
    try:
        return Hyperparameters(**typed, own=tuple(sorted(mine.items())))
    except TypeError as error:
        raise UserError(f"{where}: {str(error).partition('__init__() ')[2]}; give all of them") from None


def override(hyperparameters: Hyperparameters, **changes: Any) -> Hyperparameters:
    """The same with some values changed; strings, as in ``--set t1=5``, are converted to the key's type."""
    mine = dict(hyperparameters.own)
    types = TYPES | {name: type(value) for name, value in mine.items()}
    typed = {key: _typed(key, value, "--set", types) for key, value in changes.items()}
    mine |= {key: typed.pop(key) for key in changes if key in mine}
    return replace(hyperparameters, **typed, own=tuple(sorted(mine.items())))


def under(hyperparameters: Hyperparameters, fidelity: Fidelity) -> Hyperparameters:
    """The settings of a training after the switch ``optimizer`` has replaced the tabulated optimiser."""
    if fidelity.optimizer == "as_tabulated":
        return hyperparameters
    return replace(hyperparameters, optimizer=fidelity.optimizer)


def own_text(hyperparameters: Hyperparameters) -> str:
    """The column ``own`` of a row: ``steps=10;teleport=0.1``, sorted by name; empty if the model has none."""
    return ";".join(f"{name}={value}" for name, value in hyperparameters.own)


def parse_own(text: str) -> dict[str, Value]:
    """The inverse of :func:`own_text`."""
    return {name: _plain(value) for name, _, value in (item.partition("=") for item in text.split(";") if item)}


def to_mapping(hyperparameters: Hyperparameters) -> dict[str, Value]:
    """All values by name, common and model-specific; :func:`from_mapping` is the inverse."""
    return {name: getattr(hyperparameters, name) for name in TYPES} | dict(hyperparameters.own)


def load(path: Path | str, own: Sequence[OwnHyperparameter] = ()) -> Hyperparameters:
    """Read ``best.yaml``: a flat mapping, or one under the key ``hyperparameters`` next to notes of the search."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected `published` or a YAML file of hyperparameters") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not a YAML file ({error}); delete it and run its search again") from None
    if isinstance(content, dict) and isinstance(content.get("hyperparameters"), dict):
        content = content["hyperparameters"]
    if not isinstance(content, dict):
        raise UserError(f"{path}: found {type(content).__name__}, expected a mapping such as `lr: 0.01`")
    return from_mapping(content, where=str(path), own=own)


def save(hyperparameters: Hyperparameters, path: Path | str, **notes: Any) -> None:
    """Write what ``load`` reads, preceded by ``notes`` (plain values)."""
    write_text(path, yaml.safe_dump({**notes, "hyperparameters": to_mapping(hyperparameters)}, sort_keys=False))


def unknown(name: str, known: Iterable[str]) -> str:
    """``unknown hyperparameter 'laers'; did you mean layers?``"""
    known = list(known)
    near = get_close_matches(name, known, n=1)
    return f"unknown hyperparameter {name!r}; " + (
        f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
    )


def _typed(key: str, value: Any, where: str, types: Mapping[str, type]) -> Any:
    if key not in types:
        raise UserError(f"{where}: {unknown(key, types)}")
    kind = types[key]
    try:
        typed = kind(value)
        if kind is int and float(value) != typed:
            raise ValueError
    except (TypeError, ValueError):
        raise UserError(f"{where}: {key}: found {value!r}, expected {kind.__name__}") from None
    return typed


def _plain(text: str) -> Value:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
