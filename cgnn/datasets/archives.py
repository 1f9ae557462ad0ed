"""Taking named files out of a tar or a wheel, and nothing else."""

import shutil
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath


class BadArchive(Exception):
    """The archive is broken, unsafe, or lacks a file."""


def extract_from_tar(archive: Path, members: Iterable[str], folder: Path) -> dict[str, Path]:
    """Copy the named members into ``folder`` under their base names.

    An archive with any member that would leave its folder (an absolute path, ``..``, a link that points
    outside) is refused as a whole: it is not the archive we know.
    """
    try:
        with tarfile.open(archive) as tar:
            for entry in tar:
                _check_member(entry)
            found = {}
            for member in members:
                stream = tar.extractfile(member)
                if stream is None:
                    raise BadArchive(f"{archive.name}: {member} is not a plain file")
                found[member] = folder / PurePosixPath(member).name
                with open(found[member], "wb") as target:
                    shutil.copyfileobj(stream, target)
            return found
    except (tarfile.TarError, EOFError, KeyError, OSError) as error:
        raise BadArchive(f"{archive.name}: {error}") from error


def _check_member(entry: tarfile.TarInfo) -> None:
    names = [entry.name]
    if entry.issym():
        names.append(str(PurePosixPath(entry.name).parent / entry.linkname))
    elif entry.islnk():
        names.append(entry.linkname)
    elif not (entry.isfile() or entry.isdir()):
        raise BadArchive(f"tar member {entry.name!r} is a device or pipe: refused")
    for name in names:
        depth = 0
        for part in PurePosixPath(name).parts:
            depth += -1 if part == ".." else 1
            if part == "/" or depth < 0:
                raise BadArchive(f"tar member {entry.name!r} would leave its folder: refused")


def extract_from_wheel(wheel: Path, members: Iterable[str], folder: Path) -> dict[str, Path]:
    """Copy the named members into ``folder`` under their base names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = {}
            for member in members:
                found[member] = folder / PurePosixPath(member).name
                with archive.open(member) as stream, open(found[member], "wb") as target:
                    shutil.copyfileobj(stream, target)
            return found
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise BadArchive(f"{wheel.name}: {error}") from error
