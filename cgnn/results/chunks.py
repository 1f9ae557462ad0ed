"""Distribute replicas over files: existing files are kept, and only missing replicas are requested."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# The journal of an unfinished file also contains replicas, so its chunk is resumed.
NAME = re.compile(r"(0|[1-9]\d*)-(0|[1-9]\d*)\.csv(\.journal)?")


@dataclass(frozen=True, order=True)
class Chunk:
    """Replicas ``first`` to ``last``, both included, as in the file name ``0-4.csv``."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last:
            raise ValueError(f"chunk {self.first}-{self.last}: expected 0 ≤ first ≤ last")

    @classmethod
    def of(cls, path: Path | str) -> "Chunk | None":
        """The chunk given by a file's name, or None for any other file."""
        match = NAME.fullmatch(Path(path).name)
        return cls(int(match[1]), int(match[2])) if match and int(match[1]) <= int(match[2]) else None

    def overlaps(self, replicas: range) -> bool:
        return self.first < replicas.stop and replicas.start <= self.last

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __len__(self) -> int:
        return self.last - self.first + 1


def cover(replicas: int, size: int, finished: Iterable[Chunk] = (), begun: Iterable[Chunk] = ()) -> list[Chunk]:
    """Disjoint chunks that together contain replicas 0 … ``replicas`` − 1.

    Finished chunks in that range are kept (of overlapping ones the first, then the longest), then unfinished
    ones that still fit; the gaps are divided into chunks of at most ``size``. A new ``size``, or more
    replicas, therefore recomputes nothing.
    """
    kept: list[Chunk] = []
    for candidates in (finished, begun):
        for chunk in sorted(set(candidates), key=lambda chunk: (chunk.first, -chunk.last)):
            if chunk.last < replicas and all(chunk.last < k.first or k.last < chunk.first for k in kept):
                kept.append(chunk)
    chunks, reached = [], 0
    for chunk in [*sorted(kept), Chunk(replicas, replicas)]:
        chunks += [Chunk(first, min(first + size, chunk.first) - 1) for first in range(reached, chunk.first, size)]
        chunks.append(chunk)
        reached = chunk.last + 1
    return chunks[:-1]


def chunks_in(folder: Path | str) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks in a folder: finished ones and unfinished ones."""
    finished: set[Chunk] = set()
    begun: set[Chunk] = set()
    for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
        chunk = Chunk.of(path)
        if chunk is not None:
            (begun if path.suffix == ".journal" else finished).add(chunk)
    return sorted(finished), sorted(begun)


def chunk_files(folder: Path | str, replicas: int, size: int) -> list[str]:
    """The paths of the cover of ``folder``."""
    return [f"{folder}/{chunk}.csv" for chunk in cover(replicas, size, *chunks_in(folder))]
