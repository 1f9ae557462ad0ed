"""Read the arrays of an untrusted npz: sizes are checked before memory is allocated."""

import os
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from cgnn.errors import UserError

#: An npz may always declare this many bytes, whatever its compressed size.
SMALL_BYTES = 1 << 30
#: A larger npz may declare at most this many bytes per byte of the file. Only arrays of mostly zeros compress better.
LARGEST_RATIO = 100


def read_npz(
    path: Path | str, *, made_by: str = "`cgnn graph DATASET --out {path}` writes it"
) -> dict[str, np.ndarray]:
    """All arrays of an npz. Pickled objects, impossible sizes and arrays that exceed the memory are refused."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path}: there is no such file. {made_by.format(path=path)}.")
    try:
        with open(path, "rb") as stream:
            if stream.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX:
                raise UserError(
                    f"{path}: holds a single array, as np.save writes it, expected an npz with named arrays. "
                    "Write it with np.savez(path, edges=..., labels=..., features=...)."
                )
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check_members(path, members)
            return {member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members}
    except UserError:
        raise
    # What zipfile, zlib and NumPy raise on damaged, encrypted or hostile files.
    except (
        *(ValueError, OSError, zipfile.BadZipFile, EOFError, zlib.error, RuntimeError, NotImplementedError),
        *(AttributeError, KeyError, TypeError, SyntaxError, OverflowError, MemoryError),
    ) as error:
        raise UserError(
            f"{path}: damaged, or not an npz of plain arrays ({error}). Delete it and write it again."
        ) from error


def _check_members(path: Path, members: Collection[zipfile.ZipInfo]) -> None:
    other = [member.filename for member in members if not member.filename.endswith(".npy")]
    if other:
        raise UserError(
            f"{path}: a zip file that holds {', '.join(other[:3])}, expected an npz as np.savez writes it, "
            "with arrays only."
        )
    names = [member.filename for member in members]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise UserError(f"{path}: array {twice[0].removesuffix('.npy')!r} is in the file twice; expected it once.")
    declared, size = sum(member.file_size for member in members), path.stat().st_size
    largest = min(memory_bytes() // 2, max(SMALL_BYTES, LARGEST_RATIO * size))
    if declared > largest:
        raise UserError(
            f"{path}: a file of {_megabytes(size)} that declares arrays of {_megabytes(declared)}; expected at most "
            f"{_megabytes(largest)} (half of the memory, and {LARGEST_RATIO} times the file). If the file is correct, "
            "store its features as a sparse CSR matrix (docs/data.md)."
        )


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as stream:
        shape, dtype = _read_header(stream)
        count = int(np.prod(shape, dtype=object)) if shape else 1
        header = stream.tell()
    if dtype.hasobject:
        raise ValueError(f"{member.filename} holds pickled objects")
    if min(shape, default=0) < 0 or header + count * dtype.itemsize != member.file_size:
        raise ValueError(f"{member.filename} declares {shape} of {dtype}, which is not what the file holds")
    with archive.open(member) as stream:
        return npy.read_array(stream, allow_pickle=False)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"npy version {version} is unknown")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def memory_bytes() -> int:
    """The machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"
