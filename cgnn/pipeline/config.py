"""Read config.yaml with its overlays, and refuse a wrong one by naming the key, the value and what is allowed."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from cgnn.errors import UserError
from cgnn.models.registry import MODELS, check_settings, resolve_method, types_of
from cgnn.paper.fidelity import PRESETS, preset
from cgnn.search.priors import parse_prior

PROJECT = Path(__file__).parents[2]
SCHEMA = PROJECT / "workflow" / "schemas" / "config.schema.yaml"
BUILT_IN = ("cora", "citeseer", "pubmed", "nell", "nell_partial", "synthetic")

Config = dict[str, Any]


def load(overlays: Iterable[Path | str] = (), base: Path | str | None = None) -> Config:
    """config.yaml with each overlay laid over it, as `snakemake --configfile` does; not yet validated."""
    merged: Config = {}
    for path in (base or PROJECT / "config.yaml", *overlays):
        try:
            content = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
        except FileNotFoundError:
            raise UserError(f"{path}: no such config file") from None
        except yaml.YAMLError as error:
            raise UserError(f"{path}: not readable as YAML: {error}") from None
        if not isinstance(content, dict):
            raise UserError(f"{path}: found a {type(content).__name__}, expected a mapping of keys")
        merged = overlay(merged, content)
    return merged


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> Config:
    """Mappings merge key by key; anything else, lists too, is replaced."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = overlay(merged[key], value) if both else value
    return merged


def validate(config: Mapping[str, Any]) -> None:
    """Raise a UserError with every problem, one a line; nothing if the config is good."""
    problems = [*_schema_problems(config)]
    if not problems:  # the checks of names may rely on the shape
        problems = [*_name_problems(config)]
    if problems:
        count = f"{len(problems)} problems" if len(problems) > 1 else "a problem"
        raise UserError(f"the config has {count}; no job was started:\n" + "\n".join(f"  {p}" for p in problems))


def active_datasets(config: Mapping[str, Any]) -> list[str]:
    """The datasets that are switched on, in the config's order."""
    return [name for name, options in config["datasets"].items() if options is not False]


def active(section: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a mapping that an overlay did not switch off with `false`."""
    return {name: value for name, value in section.items() if value is not False}


def axis_of(model: str) -> str | None:
    """What a figure has on its axis for this model. CGNN discrete counts its steps by ``t1``, but they are layers."""
    entry = MODELS[model]
    return "layers" if entry.options.get("variant") == "discrete" else entry.axis


def _schema_problems(config: Mapping[str, Any]) -> Iterable[str]:
    from jsonschema import Draft202012Validator

    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    errors = sorted(Draft202012Validator(schema).iter_errors(config), key=lambda error: [str(p) for p in error.path])
    for error in errors:
        yield from _explain(error)


def _explain(error: Any) -> Iterable[str]:
    where = ".".join(str(part) for part in error.absolute_path)
    found, rule, allowed = error.instance, error.validator, error.validator_value
    if rule == "anyOf":
        # The branch written for what was found (a mapping, say) explains better than "matches none".
        inner = [e for e in error.context if e.path or e.validator not in ("type", "const", "required")]
        if inner:
            yield from _explain(max(inner, key=lambda e: len(e.path)))
        elif isinstance(found, Mapping):
            needed = sorted({key for e in error.context if e.validator == "required" for key in e.validator_value})
            yield f"{where}: found {found!r}, expected a mapping with {' or '.join(needed)}"
        else:
            yield f"{where}: found {found!r}, expected true, false or a mapping"
    elif rule == "additionalProperties" and isinstance(found, Mapping):
        known = error.schema.get("properties", {})
        for key in sorted(set(found) - set(known), key=str):
            full = f"{where}.{key}" if where else str(key)
            yield f"{full}: unknown key (its value is {found[key]!r}); {_nearest(key, known)}"
    elif rule == "required":
        missing = [key for key in allowed if key not in found]
        yield f"{where or 'config'}: {', '.join(missing)} missing"
    elif rule == "enum":
        yield f"{where}: found {found!r}; {_nearest(found, allowed)}"
    else:
        wanted = {
            "type": f"expected {_words(allowed)}" if rule == "type" else "",
            "minimum": f"expected at least {allowed}",
            "maximum": f"expected at most {allowed}",
            "exclusiveMinimum": f"expected more than {allowed}",
            "uniqueItems": "expected no value twice",
            "pattern": f"expected text that matches {allowed}",
        }.get(rule, error.message)
        yield f"{where or 'config'}: found {found!r}, {wanted}"


def _name_problems(config: Mapping[str, Any]) -> Iterable[str]:
    datasets = config["datasets"]
    for name, options in datasets.items():
        if isinstance(options, bool) and name not in BUILT_IN:
            known = f"{_nearest(name, BUILT_IN)}; your own graph is {{path: my.npz}}"
            yield f"datasets.{name}: unknown dataset (its value is {options}); {known}"
        if isinstance(options, Mapping) and "path" not in options and name != "synthetic":
            yield f"datasets.{name}: a made-up graph is called synthetic; your own graph is {{path: my.npz}}"
    if not active_datasets(config):
        yield "datasets: all are switched off, expected at least one"
    for section in ("residual", "sweeps", "profiles", "fidelity", "curves"):
        yield from _unknown(f"{section}.datasets", config[section].get("datasets", []), datasets)
    for section, key in (("search", "epochs"), ("sweeps", "epochs"), ("protocol", "split_sizes")):
        where, by_dataset = f"{section}.{key}", config[section][key]
        yield from _unknown(where, [key for key in by_dataset if key != "default"], datasets)

    for name, block in active(config["experiments"]).items():
        yield from _unknown(f"experiments.{name}.models", block["models"], MODELS)
        yield from _unknown(f"experiments.{name}.datasets", block.get("datasets", []), datasets)
        yield from _unknown(f"experiments.{name}.preset", [block["preset"]], PRESETS)
        for model in block["models"]:
            if block["hyperparameters"] == "search" and model in MODELS and model not in config["search"]["spaces"]:
                yield f"experiments.{name}.models: {model} is to be searched, but search.spaces.{model} is missing"
    for model, space in config["search"]["spaces"].items():
        yield from _unknown("search.spaces", [model], MODELS)
        types = types_of(model) if model in MODELS else {}
        yield from _unknown(f"search.spaces.{model}", space if types else (), types)
        for name, text in space.items():
            try:
                parse_prior(name, text, f"search.spaces.{model}.{name}", types)
            except UserError as error:
                yield str(error)
    for axis in ("layers", "t1"):
        where = f"sweeps.{axis}.models"
        yield from _unknown(where, config["sweeps"][axis]["models"], MODELS)
        for model in config["sweeps"][axis]["models"]:
            if model in MODELS and axis_of(model) != axis:
                yield f"{where}: {model} has {axis_of(model)}, not {axis}, to sweep over"
    yield from _unknown("residual.models", config["residual"]["models"], MODELS)
    yield from _unknown("curves.models", config["curves"]["models"], MODELS)
    for section in ("sweeps", "profiles", "curves"):
        yield from _unknown(f"{section}.preset", [config[section]["preset"]], PRESETS)
    for method in active(config["profiles"]["methods"]):
        try:
            resolve_method(method, PRESETS["released"])
        except UserError as error:
            yield f"profiles.methods.{method}: {error}"
    for name, variant in active(config["fidelity"]["variants"]).items():
        yield from _unknown(f"fidelity.variants.{name}.model", [variant["model"]], MODELS)
        yield from _unknown(f"fidelity.variants.{name}.preset", [variant["preset"]], PRESETS)
        yield from _unknown(f"fidelity.variants.{name}.datasets", variant.get("datasets", []), datasets)
        try:
            preset("released", **variant.get("switches", {}))
            check_settings(variant["model"], variant.get("switches", {}), ())
        except UserError as error:
            yield f"fidelity.variants.{name}.switches: {error}"


def _unknown(where: str, found: Iterable[str], known: Iterable[str]) -> Iterable[str]:
    known = list(known)
    for name in found:
        if name not in known:
            yield f"{where}: found {name!r}; {_nearest(name, known)}"


def _nearest(found: object, allowed: Iterable[object]) -> str:
    names = [str(name) for name in allowed]
    near = get_close_matches(str(found), names, n=1, cutoff=0.5)
    return (f"did you mean {near[0]}? " if near else "") + f"allowed: {', '.join(names)}"


def _words(kinds: str | list[str]) -> str:
    names = {
        "null": "nothing (null)",
        "object": "a mapping",
        "array": "a list",
        "string": "text",
        "boolean": "true or false",
        "integer": "a whole number",
        "number": "a number",
    }
    return " or ".join(names[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
