"""Read config.yaml with its overlays and validate it; errors name the key, the value and what is allowed."""

import copy
import re
from collections.abc import Hashable, Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches
from functools import cache, reduce
from pathlib import Path
from typing import Any

import yaml

from cgnn.datasets.registry import DATASETS
from cgnn.errors import UserError
from cgnn.models.registry import MODELS, check_settings, resolve_method, types_of
from cgnn.paper.fidelity import PRESETS, preset
from cgnn.pipeline.data import has_fixed_split, own_path
from cgnn.search.priors import parse_prior

PROJECT = Path(__file__).parents[2]
SCHEMA = PROJECT / "workflow" / "schemas" / "config.schema.yaml"

Config = dict[str, Any]

#: Sections whose entries an overlay may switch off with `false`.
SWITCHABLE = (("experiments",), ("profiles", "methods"), ("fidelity", "variants"))


def load(overlays: Iterable[Path | str] = (), base: Path | str | None = None) -> Config:
    """config.yaml merged with each overlay, as `snakemake --configfile` does; not yet validated."""
    contents = {path: read_yaml(path) for path in (base or PROJECT / "config.yaml", *overlays)}
    _check_contents(contents)
    return reduce(overlay, contents.values(), {})


def overlay(below: Mapping[str, Any], above: Mapping[str, Any]) -> Config:
    """Merge mappings key by key; replace anything else, including lists."""
    from snakemake.utils import update_config

    merged = copy.deepcopy(dict(below))
    update_config(merged, above)
    return merged


def check_files(paths: Iterable[Path | str]) -> None:
    """Refuse config files with mistakes that are not visible once Snakemake has merged them.

    These are duplicate keys, of which YAML silently keeps the last, and `false` for an entry that no file defines.
    ``paths`` are all files of a run, config.yaml among them, in any order.
    """
    _check_contents({path: read_yaml(path) for path in paths})


def _check_contents(contents: Mapping[Path | str, Config]) -> None:
    problems = []
    for keys in SWITCHABLE:
        sections = {path: _section(content, keys) for path, content in contents.items()}
        defined = {name for section in sections.values() for name, value in section.items() if value is not False}
        for path, section in sections.items():
            for name in section:
                if name not in defined:
                    where = ".".join((*keys, str(name)))
                    problems.append(
                        f"{path}: {where}: `false` switches off an entry of config.yaml, which has no such entry; "
                        f"{_nearest(name, sorted(defined, key=str))}"
                    )
    if problems:
        raise UserError(_listed(problems))


def _section(content: Mapping[str, Any], keys: Iterable[str]) -> Mapping[str, Any]:
    for key in keys:
        found = content.get(key)
        content = found if isinstance(found, Mapping) else {}
    return content


class _StrictLoader(yaml.SafeLoader):
    """A YAML loader that refuses duplicate keys in a mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: dict[Any, int] = {}
        for key_node, _ in node.value:
            # The base class resolves merge keys (<<) and refuses keys that are not scalars.
            if isinstance(key_node, yaml.ScalarNode) and key_node.tag != "tag:yaml.org,2002:merge":
                key, line = self.construct_object(key_node), key_node.start_mark.line + 1
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        problem=f"the key {key!r} occurs twice, first in line {seen[key]}; expected it once",
                        problem_mark=key_node.start_mark,
                    )
                seen[key] = line
        return super().construct_mapping(node, deep)


def read_yaml(path: Path | str) -> Config:
    """The mapping in a YAML file; errors name the line."""
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_StrictLoader) or {}
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such config file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as a config file ({error}).") from None
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        context = f" {error.context}" if error.context else ""
        raise UserError(f"{path}{line}: not valid YAML: {error.problem}{context}.") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {error}.") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: found a {type(content).__name__}, expected a mapping of keys.")
    if "__use_yte__" in content:
        # Snakemake would evaluate Python expressions in such a file.
        raise UserError(f"{path}: `__use_yte__` makes a config run code; expected plain YAML. Remove the key.")
    return content


def validate(config: Mapping[str, Any], *, files: bool = True) -> None:
    """Raise a UserError with every problem, one per line.

    With ``files=False`` the files that the config names need not exist: a job on another machine reads copies.
    """
    # Each check relies on the previous one: names on a valid structure, files on known names.
    for check in (_schema_problems, _name_problems, _file_problems)[: 3 if files else 2]:
        problems = list(check(config))
        if problems:
            raise UserError(_listed(problems))


def _listed(problems: list[str]) -> str:
    count = f"{len(problems)} problems" if len(problems) > 1 else "a problem"
    return f"the config has {count}; no job was started:\n" + "\n".join(f"  {problem}" for problem in problems)


def active_datasets(config: Mapping[str, Any]) -> list[str]:
    """The datasets that are switched on, in the config's order."""
    return list(active(config["datasets"]))


def active(section: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a mapping that an overlay did not switch off with `false`."""
    return {name: value for name, value in section.items() if value is not False}


def axis_of(model: str) -> str | None:
    """The axis of this model in figures. CGNN discrete sets its number of steps by ``t1``, but they are layers."""
    entry = MODELS[model]
    return "layers" if entry.options.get("variant") == "discrete" else entry.axis


@cache
def _schema() -> dict[str, Any]:
    return yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))


def _schema_problems(config: Mapping[str, Any]) -> Iterable[str]:
    from jsonschema import Draft202012Validator

    errors = sorted(Draft202012Validator(_schema()).iter_errors(config), key=lambda error: [str(p) for p in error.path])
    for error in errors:
        yield from _explain(error)


def _explain(error: Any) -> Iterable[str]:
    where = ".".join(str(part) for part in error.absolute_path)
    found, rule, allowed = error.instance, error.validator, error.validator_value
    if rule == "anyOf":
        branch = _intended_branch(error)
        if branch and isinstance(found, Mapping):
            for inner in branch:
                yield from _explain(inner)
        else:
            yield f"{where}: found {found!r}, expected true, false or a mapping"
    elif rule == "additionalProperties" and isinstance(found, Mapping):
        known = error.schema.get("properties", {})
        for key in _unknown_keys(error):
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
            "exclusiveMaximum": f"expected less than {allowed}",
            "minLength": "expected text that is not empty",
            "uniqueItems": "expected no value twice",
            "pattern": f"expected text that matches {allowed}",
        }.get(rule, error.message)
        yield f"{where or 'config'}: found {found!r}, {wanted}"


def _intended_branch(error: Any) -> list[Any]:
    """The errors of the alternative that the value was most likely meant to be: the one it violates least."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    # An alternative of a different type (true or false instead of a mapping) gives no useful error.
    fitting = [b for b in branches.values() if not any(not e.path and e.validator in ("type", "const") for e in b)]

    def distance(branch: list[Any]) -> float:
        unlike = 0.0
        for inner in branch:
            unknown = _unknown_keys(inner) if inner.validator == "additionalProperties" else []
            known = list(inner.schema.get("properties", {}))
            for key in unknown:
                unlike += 1 - max((SequenceMatcher(None, str(key), name).ratio() for name in known), default=0)
            unlike += len(unknown) or 1
        return unlike

    return min(fitting, key=distance, default=[])


def _unknown_keys(error: Any) -> list[Any]:
    known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
    keys = [key for key in error.instance if key not in known]
    return sorted((key for key in keys if not any(re.search(p, str(key)) for p in patterns)), key=str)


def _name_problems(config: Mapping[str, Any]) -> Iterable[str]:
    if set("{}") & set(config["results"]):
        yield f"results: found {config['results']!r}; Snakemake reads braces as wildcards: choose a name without them"
    datasets = config["datasets"]
    for name, options in datasets.items():
        own = isinstance(options, Mapping) and "path" in options
        if isinstance(options, bool) and name not in DATASETS:
            known = f"{_nearest(name, DATASETS)}; your own graph is {{path: my.npz}}"
            yield f"datasets.{name}: unknown dataset (its value is {options}); {known}"
        elif own and name in DATASETS:
            yield (
                f"datasets.{name}: {name} is a dataset of this project and cannot be redefined; give your own graph "
                f"another name: `my_{name}: {{path: {options['path']}}}`"
            )
        elif isinstance(options, Mapping) and not own and name != "synthetic":
            yield f"datasets.{name}: a generated graph is called synthetic; your own graph is {{path: my.npz}}"
    if not active_datasets(config):
        yield "datasets: all are switched off, expected at least one"
    for section in ("residual", "sweeps", "profiles", "fidelity", "curves"):
        yield from _unknown(f"{section}.datasets", config[section].get("datasets", []), datasets)
    for section, key in (("search", "epochs"), ("sweeps", "epochs"), ("protocol", "split_sizes")):
        where, by_dataset = f"{section}.{key}", config[section][key]
        yield from _unknown(where, [key for key in by_dataset if key != "default"], datasets)

    for name, sizes in config["protocol"]["split_sizes"].items():
        for part, size in sizes.items():
            if size > 1 and size != int(size):
                where = f"protocol.split_sizes.{name}.{part}"
                yield f"{where}: found {size}, expected a whole number of nodes, or a fraction below 1"

    for name, block in active(config["experiments"]).items():
        yield from _unknown(f"experiments.{name}.models", block["models"], MODELS)
        yield from _unknown(f"experiments.{name}.datasets", block.get("datasets", []), datasets)
        yield from _unknown(f"experiments.{name}.preset", [block["preset"]], PRESETS)
        if "settings_of" in block:
            yield from _unknown(f"experiments.{name}.settings_of", [block["settings_of"]], MODELS)
            if block["hyperparameters"] != "published":
                found = block["hyperparameters"]
                yield f"experiments.{name}.settings_of: needs `hyperparameters: published`, found {found}"
        yield from _switch_problems(f"experiments.{name}", block["models"], block)
        for model in block["models"]:
            if block["hyperparameters"] == "search" and model in MODELS and model not in config["search"]["spaces"]:
                yield f"experiments.{name}.models: {model} needs a search, but search.spaces.{model} is missing"
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
                yield f"{where}: {model} can be swept over {axis_of(model)}, not over {axis}"
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
        yield from _switch_problems(f"fidelity.variants.{name}", [variant["model"]], variant)


def _switch_problems(where: str, models: Iterable[str], block: Mapping[str, Any]) -> Iterable[str]:
    """Unknown switches and values, and switches that a model does not use."""
    switches = block.get("switches", {})
    try:
        preset("released", **switches)
        for model in models:
            if model in MODELS:
                check_settings(model, switches, ())
    except UserError as error:
        yield f"{where}.switches: {error}"


def _file_problems(config: Mapping[str, Any]) -> Iterable[str]:
    """Problems with your own graphs: files or fixed splits that the config requires and that do not exist."""
    without_split = []
    for name in active_datasets(config):
        path = own_path(config, name)
        if path is not None and not Path(path).is_file():
            yield f"datasets.{name}.path: found {path!r}; there is no such file (looked for {Path(path).absolute()})"
        elif not has_fixed_split(config, name):
            without_split.append(name)
    wanting = {f"{section}.datasets": config[section]["datasets"] for section in ("sweeps", "fidelity", "curves")}
    for name, block in active(config["experiments"]).items():
        if block["splits"] == ["fixed"]:
            wanting[f"experiments.{name}.datasets"] = block.get("datasets", [])
    for where, names in wanting.items():
        for name in names:
            if name in without_split:
                yield (
                    f"{where}: {name} has no fixed split, which is needed here; put the arrays train, validation and "
                    f"test into {own_path(config, name)}, or remove {name}"
                )


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
