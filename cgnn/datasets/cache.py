"""The cache of raw files. Every file is verified by its sha256."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

from cgnn.errors import UserError
from cgnn.files import sha256_of

SUMS = Path(__file__).with_name("SHA256SUMS")


class WrongChecksum(Exception):
    """A file whose sha256 is wrong; it has been renamed."""


@lru_cache(maxsize=1)
def expected_sums() -> dict[str, str]:
    """The sha256 of every raw file, by its path inside a cache or mirror."""
    pairs = (line.split(maxsplit=1) for line in SUMS.read_text(encoding="ascii").splitlines())
    return {path: digest for digest, path in pairs}


def default_cache() -> Path:
    """``CGNN_CACHE``, or the folder ``data`` in the working directory."""
    return Path(os.environ.get("CGNN_CACHE") or "data")


def admit(candidate: Path, file: str, cache: Path) -> Path:
    """Move a new file into the cache if its sha256 is right; otherwise rename it and raise WrongChecksum."""
    found, expected = sha256_of(candidate), expected_sums()[file]
    place = cache / file
    if found != expected:
        aside = place.with_name(f"{place.name}.wrong-{found[:12]}")
        aside.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(candidate, aside)
        raise WrongChecksum(f"{file} has sha256 {found}, expected {expected}; kept as {aside}")
    place.parent.mkdir(parents=True, exist_ok=True)
    candidate.replace(place)
    return place


def verified(file: str, cache: Path) -> Path | None:
    """The cached file, or None if there is none; a file with a wrong sha256 is renamed and raises WrongChecksum."""
    place = cache / file
    return admit(place, file, cache) if place.is_file() else None


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """One fetch at a time in a cache, so that two jobs never write to one partial download."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        handle = open(cache / ".lock", "w")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UserError(
            f"{cache}: cannot be used as the cache of raw files ({error.strerror}). Make it writable, or set "
            "another folder with --cache, CGNN_CACHE or `cache` in the config."
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
