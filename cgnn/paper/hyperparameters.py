"""The numbers a training is run with: the published ones, those of a search, or one's own."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.paper.reported import PAPER, entry_of, load_reported, load_yaml

OPTIMIZERS = ("adam", "rmsprop")

#: ``cgnn_no_h0`` differs from ``cgnn`` in its derivative alone, so it is compared at the same settings.
BORROWED = {"cgnn_no_h0": "cgnn"}


@dataclass(frozen=True)
class Hyperparameters:
    """All models share one record; a model reads what it has a use for."""

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

    def __post_init__(self) -> None:
        for key, good, expected in (
            ("lr", self.lr > 0, "a number > 0"),
            ("weight_decay", self.weight_decay >= 0, "a number ≥ 0"),
            ("optimizer", self.optimizer in OPTIMIZERS, " or ".join(OPTIMIZERS)),
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


TYPES = {field.name: field.type for field in fields(Hyperparameters)}


def published(dataset: str, split_kind: str, model: str) -> Hyperparameters | None:
    """The printed settings, or None where the paper prints none (``cgnn_weight`` on random splits): then search."""
    entry, model = entry_of(dataset), BORROWED.get(model, model)
    common = load_reported().raw["common_hyperparameters"]
    printed = load_reported().raw["hyperparameters"][entry].get(model)
    if printed is not None:
        row = printed["fixed" if split_kind == "fixed" else "random"]
        if row["lr"] is None:
            return None
        shared = common["nell" if entry == "nell" else "cora_citeseer_pubmed"]
        return from_mapping({**shared, "optimizer": common["optimizer"][entry], "epochs": common["epochs"], **row})
    baseline = load_yaml(PAPER / "baselines.yaml").get(model)
    if baseline is None:
        return None
    return from_mapping({"epochs": common["epochs"], **baseline["default"], **baseline.get(entry, {})})


def from_mapping(values: Mapping[str, Any], where: str = "hyperparameters") -> Hyperparameters:
    """Build from plain values (a YAML file's, a trial's); errors name the key and ``where`` it stands."""
    values = {key: _typed(key, value, where) for key, value in values.items()}
    try:
        return Hyperparameters(**values)
    except TypeError as error:
        raise UserError(f"{where}: {str(error).partition('__init__() ')[2]}; give every one of them") from None


def override(hyperparameters: Hyperparameters, **changes: Any) -> Hyperparameters:
    """The same with some keys changed; strings are read as the key's type, as from ``--set t1=5``."""
    return replace(hyperparameters, **{key: _typed(key, value, "--set") for key, value in changes.items()})


def load(path: Path | str) -> Hyperparameters:
    """Read ``best.yaml``: a flat mapping, or one under the key ``hyperparameters`` beside notes of the search."""
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
    return from_mapping(content, where=str(path))


def save(hyperparameters: Hyperparameters, path: Path | str, **notes: Any) -> None:
    """Write what ``load`` reads; ``notes`` (plain values) stand before it."""
    write_text(path, yaml.safe_dump({**notes, "hyperparameters": asdict(hyperparameters)}, sort_keys=False))


def _typed(key: str, value: Any, where: str) -> Any:
    if key not in TYPES:
        near = get_close_matches(key, TYPES, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(TYPES)}"
        raise UserError(f"{where}: unknown hyperparameter {key!r}{hint}")
    kind = TYPES[key]
    try:
        typed = kind(value)  # type: ignore[operator]
        if kind is int and float(value) != typed:
            raise ValueError
    except (TypeError, ValueError):
        raise UserError(f"{where}: {key}: found {value!r}, expected {kind.__name__}") from None  # type: ignore[union-attr]
    return typed
