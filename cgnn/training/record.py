"""One training as one record, shared by the config, the command line and the rows.

``Training.arguments`` and ``Training.from_arguments`` are the only places that translate between a record and the
options of ``python -m cgnn train``.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cgnn.errors import UserError
from cgnn.models import registry
from cgnn.paper import hyperparameters as hyper
from cgnn.paper.fidelity import Fidelity, preset
from cgnn.paper.hyperparameters import Hyperparameters

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Training:
    """Replicas that share everything except the seed or the random split: one cell of a table or point of a figure."""

    dataset: str
    split: str  # fixed; random, pool or component (replica i on split i); or one split by name, random03
    model: str
    preset: str = "released"
    hyperparameter_source: str = "published"  # published, search or custom
    variant: str = ""
    switches: Pairs = ()  # fidelity switches on top of the preset
    settings: Pairs = ()  # hyperparameters set on top, e.g. layers = 8
    epochs: int | None = None  # replaces the number in the hyperparameters

    @property
    def split_kind(self) -> str:
        return re.sub(r"\d+$", "", self.split)

    @property
    def fidelity(self) -> Fidelity:
        return preset(self.preset, **dict(self.switches))

    @property
    def folder(self) -> str:
        """The folder of its rows, relative to the folder of their stage."""
        names = (self.dataset, self.split, self.model, self.preset, self.hyperparameter_source, self.variant)
        return "/".join(filter(None, names))

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.dataset, self.split, self.model, self.preset, self.variant)))

    def split_of(self, replica: int) -> str:
        """The name of the split of a replica: a separate one, unless all replicas share one."""
        shared = self.split == "fixed" or self.split != self.split_kind
        return self.split if shared else f"{self.split}{replica:02d}"

    def arguments(self) -> list[str]:
        """The options of ``cgnn train`` for this record; the caller adds files and machine settings."""
        words = ["--dataset", self.dataset, "--split", self.split, "--model", self.model, "--preset", self.preset]
        words += ["--hyperparameter-source", self.hyperparameter_source]
        for option, pairs in (("--switch", self.switches), ("--set", self.settings)):
            for name, value in pairs:
                words += [option, f"{name}={value}"]
        if self.epochs is not None:
            words += ["--epochs", str(self.epochs)]
        if self.variant:
            words += ["--variant", self.variant]
        return words

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> "Training":
        """The record of parsed options; raises ``UserError`` for a wrong name or value."""
        source = args.hyperparameter_source
        if source is None:
            source = "published" if args.hyperparameters == "published" else "custom"
        training = cls(
            dataset=args.dataset,
            split=args.split,
            model=args.model,
            preset=args.preset,
            hyperparameter_source=source,
            variant=args.variant,
            switches=pairs(args.switch, "--switch"),
            settings=pairs(args.set, "--set"),
            epochs=args.epochs,
        )
        registry.entry(training.model)
        _ = training.fidelity  # checks the names and values of preset and switches
        registry.check_settings(training.model, dict(training.switches), dict(training.settings))
        return training

    def hyperparameters(self, file: str = "published") -> Hyperparameters:
        """Its hyperparameters: the published ones or those of a YAML file, with its settings applied."""
        changes: dict[str, Any] = dict(self.settings)
        if self.epochs is not None:
            changes["epochs"] = self.epochs
        settings = load_hyperparameters(file, self.dataset, self.split_kind, self.model)
        return registry.complete(self.model, hyper.override(settings, **changes))


def load_hyperparameters(file: str, dataset: str, split_kind: str, model: str) -> Hyperparameters:
    """``published``, or the path of a YAML file."""
    if file != "published":
        return registry.load(file, model)
    settings = registry.published(dataset, split_kind, model)
    if settings is None:
        raise UserError(
            f"the paper prints no hyperparameters for {model} on {dataset}, {split_kind} split: "
            "give --hyperparameters best.yaml of a search, or your own file"
        )
    return settings


def as_pairs(values: Mapping[str, Any]) -> Pairs:
    """Convert a mapping of the config; numbers become their shortest text, so that 8 and 8.0 are equal."""
    return tuple((name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in values.items())


def pairs(texts: Sequence[str], option: str) -> Pairs:
    """Parse the ``NAME=VALUE`` texts of a repeated option."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise UserError(f"{option}: found {text!r}, expected NAME=VALUE")
        if name in found:
            raise UserError(f"{option}: {name} is given twice ({found[name]} and {value}); give it once")
        found[name] = value
    return tuple(found.items())


def add_training_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that ``Training.arguments`` writes and ``Training.from_arguments`` reads."""
    parser.add_argument(
        "--dataset", required=True, help="name of the dataset; seeds and published settings depend on it"
    )
    parser.add_argument(
        "--split", default="fixed", help="fixed; random, pool or component (replica i on split i); or a name: random03"
    )
    parser.add_argument("--model", required=True, help=", ".join(registry.MODELS))
    add_setting_arguments(parser)
    parser.add_argument(
        "--hyperparameter-source", metavar="NAME", help="column of that name in the rows: published, search or custom"
    )
    parser.add_argument("--epochs", type=positive, help="replaces the number in the hyperparameters")
    parser.add_argument("--variant", default="", metavar="LABEL", help="column `variant` of the rows")


def add_setting_arguments(parser: argparse.ArgumentParser) -> None:
    """Preset, switches and hyperparameters, which `cgnn profile` takes as well."""
    parser.add_argument(
        "--preset", default="released", help="released (what the authors' code does) or paper (as printed)"
    )
    parser.add_argument("--switch", action="append", default=[], metavar="NAME=VALUE", help="set one fidelity switch")
    parser.add_argument(
        "--hyperparameters",
        nargs="?",
        const="published",
        default="published",
        metavar="published|FILE.yaml",
        help="the published values, or a file such as a search's best.yaml",
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="set one hyperparameter")


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    """Add machine settings, which are not part of a ``Training``."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:INDEX")
    parser.add_argument("--threads", type=positive, default=1, help="CPU threads")
    parser.add_argument(
        "--memory-limit", type=positive, metavar="MiB", help="a training that needs more ends with status out_of_memory"
    )
    parser.add_argument("--expect-fingerprint", metavar="HEX", help="refuse to run if the code has another fingerprint")


def positive(text: str) -> int:
    """An option's value that must be a whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number of at least 1")
    return value
