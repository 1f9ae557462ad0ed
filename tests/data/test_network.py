"""Downloads that are interrupted, hang, are refused, and are resumed."""

import ast
import os
import socket
import subprocess
import sys
import termios
import time

import pytest

from cgnn.datasets import network
from cgnn.datasets.network import NetworkError, download

QUICK = {"connect_seconds": 0.5, "read_seconds": 0.5, "back_off_seconds": 0.01}
BODY = bytes(range(256)) * 4000


def assert_downloaded(web, tmp_path, *trouble, **options):
    """Download a file although the first requests have the given faults."""
    web.files["/file"], web.trouble["/file"] = BODY, list(trouble)
    download(f"{web.url}/file", tmp_path / "file", **(QUICK | options))
    assert (tmp_path / "file").read_bytes() == BODY


def test_a_file_is_downloaded_completely_and_leaves_no_partial_file(web, tmp_path):
    assert_downloaded(web, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_interrupted_download_resumes_where_it_stopped(web, tmp_path):
    assert_downloaded(web, tmp_path, "break", "break")
    first, *later = (wanted for _, wanted in web.requests)
    starts = [int(wanted.removeprefix("bytes=").rstrip("-")) for wanted in later]
    # A chunk that was being received when the connection broke may be lost.
    broke = [len(BODY) // 2, starts[0] + (len(BODY) - starts[0]) // 2]
    assert first is None and len(starts) == 2
    assert all(end - network.CHUNK <= start <= end for start, end in zip(starts, broke, strict=True))


def test_the_partial_file_of_an_earlier_run_is_resumed(web, tmp_path):
    (tmp_path / "file.part").write_bytes(BODY[:1000])
    assert_downloaded(web, tmp_path)
    assert web.requests == [("/file", "bytes=1000-")]


def test_a_download_restarts_if_the_server_cannot_resume_it(web, tmp_path):
    (tmp_path / "file.part").write_bytes(b"x" * 1000)
    assert_downloaded(web, tmp_path, "no ranges")


def test_a_partial_file_that_is_too_long_is_discarded(web, tmp_path):
    (tmp_path / "file.part").write_bytes(BODY + b"more")
    assert_downloaded(web, tmp_path)


def test_temporary_errors_are_retried_with_growing_pauses(web, tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    assert_downloaded(web, tmp_path, "error", "error", back_off_seconds=0.5)
    assert pauses == [0.5, 1.0]


def test_a_persistent_error_is_reported_with_its_reason(web, tmp_path):
    web.files["/file"], web.trouble["/file"] = BODY, ["error"] * 9
    with pytest.raises(NetworkError, match=r"HTTP 503.*\(3 attempts\)"):
        download(f"{web.url}/file", tmp_path / "file", **QUICK)
    assert len(web.requests) == 3
    assert not (tmp_path / "file").exists()


def test_a_missing_file_is_requested_once(web, tmp_path):
    with pytest.raises(NetworkError, match="HTTP 404"):
        download(f"{web.url}/file", tmp_path / "file", **QUICK)
    assert len(web.requests) == 1


def test_a_server_that_hangs_causes_a_timeout(web, tmp_path):
    web.files["/file"], web.trouble["/file"] = BODY, ["hang"] * 9
    with pytest.raises(NetworkError, match="ReadTimeout"):  # the server would hang until the end of the test
        download(f"{web.url}/file", tmp_path / "file", attempts=2, **QUICK)
    assert len(web.requests) == 2


@pytest.mark.parametrize("trouble", ["slow headers", "slow body"])
def test_a_server_that_is_too_slow_is_abandoned_at_the_deadline(web, tmp_path, trouble):
    web.files["/file"], web.trouble["/file"] = BODY, [trouble] * 9
    started = time.monotonic()
    with pytest.raises(NetworkError, match=r"file: not finished after 0\.8 s"):
        download(f"{web.url}/file", tmp_path / "file", deadline_seconds=0.8, **QUICK)
    assert time.monotonic() - started < 10  # without a deadline it would never end
    assert not (tmp_path / "file").exists()


def test_more_bytes_than_expected_are_refused_whether_announced_or_not(web, tmp_path):
    web.files["/file"] = BODY
    with pytest.raises(NetworkError, match=r"announces 1,024,000 bytes, expected at most 1,000"):
        download(f"{web.url}/file", tmp_path / "file", max_bytes=1000, **QUICK)
    web.trouble["/endless"] = ["endless"]
    with pytest.raises(NetworkError, match=r"more than the expected maximum of 1,000,000 bytes"):
        download(f"{web.url}/endless", tmp_path / "endless", max_bytes=1_000_000, **QUICK)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 0


@pytest.mark.parametrize(
    "head",
    [
        "HTTP/1.0 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 3, 4\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: \u00b2\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        "HTTP/1.0 302 Found\r\nLocation: http://[\r\n\r\n",
        "HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:99999999/\r\n\r\n",
        "HTTP/1.0 twohundred OK\r\n\r\n",
        "\x00\x01\x02\r\n\r\n",
        "HTTP/1.0 200 OK\r\n" + "X-Many: 1\r\n" * 200 + "\r\n",
    ],
)
def test_bad_headers_cause_a_network_error_or_are_ignored(web, tmp_path, head):
    web.files["/file"], web.trouble["/file"] = BODY, [f"raw {head}"] * 9
    try:
        download(f"{web.url}/file", tmp_path / "file", **QUICK)
    except NetworkError as error:
        assert "file" in str(error) and not (tmp_path / "file").exists()
    else:
        assert (tmp_path / "file").read_bytes() == BODY


def test_pip_is_stopped_at_the_deadline(tmp_path, monkeypatch):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(NetworkError, match=r"pip download nothing-like-this==1: not finished after 2 s"):
            network.pip_download("nothing-like-this==1", tmp_path, deadline_seconds=2)


def test_a_refused_connection_is_reported(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(NetworkError, match="refused"):
        download(f"http://127.0.0.1:{port}/file", tmp_path / "file", **QUICK)


def test_a_progress_bar_is_shown_on_a_terminal_only(web, tmp_path, capsys):
    web.files["/file"] = BODY
    download(f"{web.url}/file", tmp_path / "log", **QUICK)
    assert capsys.readouterr().err == ""
    code = (
        f"from cgnn.datasets.network import download as d; from pathlib import Path; d('{web.url}/file', Path('file'))"
    )
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stderr=theirs, check=True)
    os.close(theirs)
    assert b"100%" in os.read(ours, 10_000)
    os.close(ours)


def test_only_one_module_imports_network_packages(project):
    words = {"requests", "urllib", "http", "socket", "ftplib", "aiohttp", "httpx"}
    touching = set()
    for path in (project / "cgnn").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            if words & {name.split(".")[0] for name in names}:
                touching.add(path.relative_to(project / "cgnn").as_posix())
    assert touching == {"datasets/network.py", "pipeline/preload.py"}
    # The second connects only processes on one machine.
    local = (project / "cgnn" / "pipeline" / "preload.py").read_text(encoding="utf-8")
    assert local.count("socket.socket(") == local.count("socket.socket(socket.AF_UNIX)") > 0
    assert "create_connection" not in local and "create_server" not in local


def test_the_error_says_that_pip_cannot_reach_its_index(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(NetworkError, match=r"refused.*[Nn]o matching distribution"):
        network.pip_download("nothing-like-this==1", tmp_path)


def test_the_error_contains_the_reason_why_pip_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(NetworkError, match=r"pip download nothing-like-this==1: .*[Nn]o matching distribution"):
        network.pip_download("nothing-like-this==1", tmp_path)
