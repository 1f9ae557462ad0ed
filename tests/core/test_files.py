"""Files are written completely or not at all."""

import hashlib
import os
import stat

import pytest

from cgnn.errors import UserError
from cgnn.files import atomic_path, sha256_of, write_csv, write_text


def test_a_file_is_written_completely_and_its_folders_are_created(tmp_path):
    write_text(tmp_path / "a" / "b" / "file.txt", "Â = 1\n")
    assert (tmp_path / "a" / "b" / "file.txt").read_bytes() == "Â = 1\n".encode()


def test_a_failure_leaves_the_old_file_and_no_temporary_file(tmp_path):
    write_text(tmp_path / "file.txt", "old")
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "file.txt") as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert (tmp_path / "file.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_the_target_does_not_exist_until_it_is_complete(tmp_path):
    with atomic_path(tmp_path / "file.csv") as temporary:
        temporary.write_text("x")
        assert not (tmp_path / "file.csv").exists()
        assert temporary.suffix == ".csv" and temporary.parent == tmp_path
    assert (tmp_path / "file.csv").read_text() == "x"


def test_an_output_has_the_permissions_that_the_umask_allows(tmp_path):
    old = os.umask(0o022)
    try:
        write_text(tmp_path / "file", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


def test_the_error_names_a_path_that_cannot_be_written_and_says_what_to_do(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UserError, match=r"file/below: could not be written .* run the same command again"):
        write_text(tmp_path / "file" / "below", "x")


def test_the_sha256_is_the_hash_of_the_bytes(tmp_path):
    (tmp_path / "file").write_bytes(b"abc" * 100_000)
    assert sha256_of(tmp_path / "file") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_a_csv_file_keeps_floats_exactly_and_leaves_missing_values_empty(tmp_path):
    write_csv(tmp_path / "a.csv", ["x", "y", "z"], [{"x": 0.1 + 0.2, "y": None, "other": 1}, {"z": 'a,"b"\nc'}])
    assert (tmp_path / "a.csv").read_bytes() == b'x,y,z\n0.30000000000000004,,\n,,"a,""b""\nc"\n'
