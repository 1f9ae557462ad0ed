"""Files of replicas: they contain every replica once, and finished replicas are not computed again."""

from hypothesis import given
from hypothesis import strategies as st

from cgnn.results.chunks import Chunk, chunk_files, cover

chunks = st.builds(lambda first, length: Chunk(first, first + length), st.integers(0, 30), st.integers(0, 12))
folders = st.lists(chunks, max_size=6)


@given(st.integers(1, 30), st.integers(1, 12), folders, folders)
def test_every_requested_replica_is_in_exactly_one_chunk(replicas, size, finished, begun):
    held = [r for chunk in cover(replicas, size, finished, begun) for r in range(chunk.first, chunk.last + 1)]
    assert held == list(range(replicas))


@given(st.integers(1, 30), st.integers(1, 12), folders, folders)
def test_new_chunks_are_no_larger_than_requested(replicas, size, finished, begun):
    for chunk in cover(replicas, size, finished, begun):
        assert len(chunk) <= size or chunk in finished or chunk in begun


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 12))
def test_another_size_keeps_finished_chunks(replicas, size, other):
    first = cover(replicas, size)
    assert cover(replicas, other, first) == first


@given(st.integers(1, 20), st.integers(0, 20), st.integers(1, 12), st.integers(1, 12))
def test_more_replicas_keep_what_exists_and_add_the_rest(replicas, more, size, other):
    first = cover(replicas, size)
    grown = cover(replicas + more, other, first)
    assert grown[: len(first)] == first
    assert sum(len(chunk) for chunk in grown[len(first) :]) == more


def test_a_finished_file_has_priority_over_a_journal_that_overlaps_it():
    assert cover(10, 5, [Chunk(0, 4)], [Chunk(0, 9)]) == [Chunk(0, 4), Chunk(5, 9)]


def test_the_journal_of_a_killed_job_is_resumed():
    assert cover(10, 3, [], [Chunk(0, 9)]) == [Chunk(0, 9)]


def test_files_outside_the_range_or_with_other_names_are_ignored(tmp_path):
    for name in ("0-9.csv", "3-1.csv", "01-2.csv", "0-1.seconds.csv", "notes.csv"):
        (tmp_path / name).touch()
    assert chunk_files(tmp_path, 4, 3) == [f"{tmp_path}/0-2.csv", f"{tmp_path}/3-3.csv"]
