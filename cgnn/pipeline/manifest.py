"""The list of published files; publishing again may replace or delete only these."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from cgnn.errors import UserError
from cgnn.files import sha256_of
from cgnn.pipeline.config import PROJECT

MANIFEST = "published.json"


@dataclass(frozen=True)
class Entry:
    """One published file; ``commit`` identifies the code that produced it."""

    path: str
    sha256: str
    size: int
    commit: str


@dataclass(frozen=True)
class Run:
    """When the code of ``commit`` produced its files (ISO 8601; the start is not always known)."""

    commit: str
    ended: str
    started: str | None = None


@dataclass(frozen=True)
class Manifest:
    date: str = ""
    runs: tuple[Run, ...] = ()
    files: tuple[Entry, ...] = ()

    @property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.files}

    def dump(self) -> str:
        # One line per file, so that a diff shows the files that changed.
        lines = ",\n".join(f"  {json.dumps(asdict(entry))}" for entry in self.files)
        runs = json.dumps([asdict(run) for run in self.runs])
        return f'{{"date": {json.dumps(self.date)}, "runs": {runs}, "files": [\n{lines}\n]}}\n'


def read_manifest(target: Path) -> Manifest:
    """The manifest of a published folder; an empty one if the folder has none."""
    path = target / MANIFEST
    if not path.is_file():
        return Manifest()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        files = tuple(Entry(**entry) for entry in content["files"])
        manifest = Manifest(content["date"], tuple(Run(**run) for run in content["runs"]), files)
        names = [PurePosixPath(entry.path) for entry in files]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a manifest of `cgnn publish` ({error!r}); restore it from git") from None
    for name in names:
        if name.is_absolute() or ".." in name.parts or not _inside(target, name):
            raise UserError(f"{path}: names {str(name)!r}, which is outside {target}; restore it from git")
    return manifest


def _inside(target: Path, name: str | PurePosixPath) -> bool:
    """False if a linked folder in ``target`` points elsewhere."""
    return (target / name).parent.resolve().is_relative_to(target.resolve())


def check_target(target: Path, results: Path | None = None) -> None:
    """Refuse a folder that overlaps the results or contains the repository, and a path that is not a folder."""
    place = target.resolve()
    for what, other in (("the repository", PROJECT.resolve()), ("the current folder", Path.cwd())):
        if other.is_relative_to(place):
            raise _overlap(target, f"{what} {other}")
    if (place / ".git").exists():
        raise _overlap(target, f"the repository {place}")
    if results is not None:
        source = results.resolve()
        if place.is_relative_to(source) or source.is_relative_to(place):
            raise _overlap(target, f"the results {results}")
    if place.exists() and not place.is_dir():
        raise UserError(f"{target}: found a file, expected a folder; choose another one with --out")


def check_made_by_publish(target: Path) -> None:
    """Refuse a folder with files but without a manifest, because `cgnn publish` did not create it."""
    if target.is_dir() and any(target.iterdir()) and not (target / MANIFEST).is_file():
        raise UserError(
            f"{target}: has files that `cgnn publish` did not record (there is no {MANIFEST}). Nothing was changed. "
            "Choose an empty or new folder with --out. If an earlier version published this folder, "
            f"run `python -m cgnn publish --adopt --out {target}` once."
        )


def check_unmodified(target: Path, old: Manifest, wanted: Mapping[str, str]) -> None:
    """Refuse to lose content: ``wanted`` gives the sha256 of each new file by its path."""
    recorded = old.by_path
    lost = []
    for name in sorted({*recorded, *wanted}):
        path = target / name
        if path.is_dir() or not _inside(target, name):
            lost.append(name)
        elif path.exists() or path.is_symlink():
            found = sha256_of(path) if path.is_file() and not path.is_symlink() else ""
            if found not in (recorded[name].sha256 if name in recorded else None, wanted.get(name)):
                lost.append(name)
    if lost:
        raise UserError(
            f"{target}: not what `cgnn publish` last wrote: {', '.join(lost)}. Nothing was changed. Move these files "
            f"elsewhere or restore them from git, or record them as they are with "
            f"`python -m cgnn publish --adopt --out {target}`."
        )


def write_folder(
    target: Path, sources: Mapping[str, Path], obsolete: Iterable[str], generate: Callable[[Path], None]
) -> None:
    """Copy ``sources`` to ``target`` and delete obsolete files there, atomically.

    Everything is first copied to a folder next to the target; ``generate`` adds files to the copy. Then the files are
    renamed into place, the manifest last. An error restores the previous state.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=".partial-"))
        try:
            new, old = staging / "new", staging / "old"
            for name, source in sources.items():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, new / name)
            generate(new)
            _swap(target, new, old, set(obsolete))
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise UserError(
            f"{target}: could not be written ({error}). Nothing was changed there; "
            "free some space or correct the permissions, then run the same command again."
        ) from error


def _swap(target: Path, new: Path, old: Path, obsolete: set[str]) -> None:
    names = sorted(path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file())
    # The manifest comes last, so that after an interruption the next run still recognises the files.
    names = sorted(names, key=lambda name: name == MANIFEST)
    undo: list[tuple[Path, Path]] = []
    try:
        for name in [*sorted(obsolete - set(names)), *names]:
            if (target / name).is_file():
                if (new / name).is_file() and sha256_of(new / name) == sha256_of(target / name):
                    continue
                _move(target / name, old / name)
                undo.append((old / name, target / name))
            if (new / name).is_file():
                _move(new / name, target / name)
                undo.append((target / name, new / name))
    except OSError:
        for source, place in reversed(undo):
            _move(source, place)
        raise
    for name in obsolete:
        for folder in (target / name).parents:
            if folder == target or not folder.is_dir() or any(folder.iterdir()):
                break
            folder.rmdir()


def _move(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(source, place)


def _overlap(target: Path, other: str) -> UserError:
    return UserError(
        f"{target}: overlaps {other}. Publishing replaces and deletes files, so it needs a separate folder: "
        "choose another one with --out."
    )
