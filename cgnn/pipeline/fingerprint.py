"""A hash of the code that a command runs; comments, help texts and formatting do not change it."""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]

#: Modules that jobs import but no fingerprint covers, with the reason why they do not affect results.
DECIDES_NOTHING = {
    "cgnn.__main__": "finds the command's module and turns a UserError into one line",
    "cgnn.errors": "the class of errors, which end a job without a result",
    "cgnn.training.progress": "prints progress",
    "cgnn.training.allocator": "decides where tensors lie in memory, on which no accuracy depends. Times do, so the "
    "fingerprints of profiles cover it; whether a memory limit is exceeded does too, so jobs with a limit depend on it",
    "cgnn.training.gpus": "chooses which of several equal GPUs a job takes; a row names the card",
    "cgnn.pipeline.preload": "runs a command in a process that has already imported its packages",
    "cgnn.pipeline.fingerprint": "computes fingerprints",
    "cgnn.pipeline.provenance": "combines fingerprints, and a different combination is a different fingerprint",
    "cgnn.datasets.registry": "only by hand: a job is given the files of its graph and splits",
}


def code_fingerprint(*modules: str, without: tuple[str, ...] = (), package: Path = PACKAGE) -> str:
    """Hash over the import closure, inside ``cgnn/``, of ``modules`` (dotted names).

    The hash is computed from the syntax tree without docstrings and help texts, so editing a comment changes nothing,
    and editing a function changes the fingerprints of exactly those commands that can reach it. Modules that are
    imported by name (models, solvers) are not followed; the caller passes the ones it uses.
    """
    digest = hashlib.sha256()
    for name in sorted(import_closure(*modules, without=without, package=package)):
        digest.update(f"{name}\0{_read(name, package).tree_hash}\0".encode())
    return digest.hexdigest()[:16]


def import_closure(*modules: str, without: tuple[str, ...] = (), package: Path = PACKAGE) -> frozenset[str]:
    """All modules of the package that ``modules`` can import, except ``without`` and DECIDES_NOTHING."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen or name in without or (name in DECIDES_NOTHING and name not in modules):
            continue
        seen.add(name)
        waiting += [found for found in _read(name, package).imports if _file_of(found, package)]
        parent = name.rpartition(".")[0]
        if parent:  # importing a.b executes a/__init__.py first
            waiting.append(parent)
    return frozenset(seen)


def _file_of(module: str, package: Path) -> Path | None:
    stem = package.joinpath(*module.split(".")[1:])
    return next((path for path in (stem / "__init__.py", stem.with_suffix(".py")) if path.is_file()), None)


class _Module(NamedTuple):
    tree_hash: str
    imports: tuple[str, ...]  # names that may be modules of the package, or attributes of one


def _read(module: str, package: Path) -> _Module:
    path = _file_of(module, package)
    if path is None:
        raise ModuleNotFoundError(f"no module {module} in {package}")
    status = path.stat()
    return _read_at(module, package.name, path, status.st_mtime_ns, status.st_size)


@cache
def _read_at(module: str, package: str, path: Path, modified_ns: int, size: int) -> _Module:
    # A workflow computes hundreds of fingerprints over the same files, so each file is parsed once until it changes.
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    inside = tuple(name for name in _names_imported(tree, module, path) if name.split(".")[0] == package)
    return _Module(_tree_hash(tree), inside)


def _names_imported(tree: ast.Module, module: str, path: Path) -> list[str]:
    found = []
    for node in _walk_run(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                anchor = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                base = ".".join(anchor[: len(anchor) - node.level + 1] + ([node.module] if node.module else []))
            else:
                base = node.module or ""
            found.append(base)
            # `from cgnn.dynamics import chebyshev` names a module, not an attribute.
            found += [f"{base}.{alias.name}" for alias in node.names]
    return found


def _walk_run(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those below ``if TYPE_CHECKING:``, which never run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        yield child
        yield from _walk_run(child)


def _tree_hash(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in ("help", "metavar")]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[1:] if has_docstring else node.body
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
