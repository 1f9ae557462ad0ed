"""The only module that uses the network: a resumable download, and a call of pip."""

import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

CONNECT_SECONDS = 5.0
READ_SECONDS = 30.0
ATTEMPTS = 3
BACK_OFF_SECONDS = 0.5
CHUNK = 1 << 14
#: For all attempts at one file together, because a server that sends a byte now and then never causes a read timeout.
DEADLINE_SECONDS = 1800.0
#: Several times the largest known file.
MAX_BYTES = 1 << 28


class NetworkError(Exception):
    """Why a download failed, in readable form."""


class _Transient(Exception):
    """A temporary failure: another attempt may succeed."""


def download(
    url: str,
    target: Path,
    *,
    connect_seconds: float = CONNECT_SECONDS,
    read_seconds: float = READ_SECONDS,
    attempts: int = ATTEMPTS,
    back_off_seconds: float = BACK_OFF_SECONDS,
    deadline_seconds: float = DEADLINE_SECONDS,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Fetch ``url`` into ``target``; an interrupted transfer is resumed from ``target.part``.

    All attempts together take at most ``deadline_seconds``, and more than ``max_bytes`` are refused.
    """
    stop = threading.Event()
    failure: list[BaseException] = []

    def run() -> None:
        try:
            _attempts(url, target, (connect_seconds, read_seconds), attempts, back_off_seconds, max_bytes, stop)
        except BaseException as error:
            failure.append(error)

    # In a thread, because no socket timeout limits the whole transfer. The thread ends at its first chunk after the
    # deadline.
    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(deadline_seconds)
    if worker.is_alive():
        stop.set()
        raise NetworkError(f"{url.rpartition('/')[2]}: not finished after {deadline_seconds:g} s, gave up")
    if failure:
        raise failure[0]


def _attempts(
    url: str,
    target: Path,
    timeouts: tuple[float, float],
    attempts: int,
    back_off_seconds: float,
    max_bytes: int,
    stop: threading.Event,
) -> None:
    partial = target.with_name(target.name + ".part")
    partial.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(attempts):
        try:
            _transfer(url, partial, timeouts, max_bytes, stop)
            if not stop.is_set():
                partial.replace(target)
            return
        except _Transient as error:
            if attempt == attempts - 1 or stop.is_set():
                raise NetworkError(f"{error} ({attempts} attempts)") from error
            time.sleep(back_off_seconds * 2**attempt)


def _transfer(url: str, partial: Path, timeouts: tuple[float, float], max_bytes: int, stop: threading.Event) -> None:
    import requests
    import urllib3
    from tqdm import tqdm

    name = url.rpartition("/")[2]
    have = partial.stat().st_size if partial.is_file() else 0
    # No transparent compression: byte ranges must count the bytes of the file itself.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with requests.get(url, headers=headers, timeout=timeouts, stream=True) as response:
            if response.status_code == 416:
                # The partial file is at least as long as the whole file, so it cannot be resumed: start again.
                partial.unlink()
                raise _Transient(f"{name}: the partial download could not be resumed")
            if response.status_code >= 500 or response.status_code == 429:
                raise _Transient(f"{name}: HTTP {response.status_code} {response.reason}")
            if response.status_code not in (200, 206):
                raise NetworkError(f"{name}: HTTP {response.status_code} {response.reason}")
            resumed = response.status_code == 206
            # The server may send any length. Since the sha256 is checked later, an invalid length is ignored.
            length = response.headers.get("Content-Length", "")
            received = have if resumed else 0
            total = int(length) + received if length.isascii() and length.isdigit() and len(length) < 19 else None
            if (total or 0) > max_bytes:
                raise NetworkError(f"{name}: the server announces {total:,} bytes, expected at most {max_bytes:,}")
            with (
                open(partial, "ab" if resumed else "wb") as stream,
                # disable=None shows the bar on a terminal but not in a log.
                tqdm(total=total, initial=received, unit="B", unit_scale=True, desc=name, disable=None) as bar,
            ):
                for chunk in response.iter_content(CHUNK):
                    received += len(chunk)
                    if received > max_bytes:
                        stream.truncate(0)
                        raise NetworkError(f"{name}: received more than the expected maximum of {max_bytes:,} bytes")
                    if stop.is_set():
                        return
                    stream.write(chunk)
                    bar.update(len(chunk))
            if total is not None and partial.stat().st_size < total:
                raise _Transient(f"{name}: the connection ended after {partial.stat().st_size} of {total} bytes")
    # Besides its own errors, requests raises those of urllib3 and those caused by invalid headers or redirects.
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, ValueError, UnicodeError) as error:
        raise _Transient(f"{name}: {_plain(error)}") from error


def _plain(error: Exception) -> str:
    """The error's class and its innermost message; requests wraps the reason several times."""
    reason: BaseException = error
    while reason.__cause__ or reason.__context__:
        reason = reason.__cause__ or reason.__context__  # type: ignore[assignment]
    return f"{type(error).__name__}: {reason}"


def pip_download(
    requirement: str,
    folder: Path,
    *options: str,
    deadline_seconds: float = DEADLINE_SECONDS,
    max_bytes: int = MAX_BYTES,
) -> Path:
    """Download one wheel with the user's pip settings (index, proxy, certificates), without installing it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
    ]
    command += [
        "--progress-bar",
        "on" if sys.stderr.isatty() else "off",
        "--retries",
        "1",
        "--dest",
        str(folder),
        *options,
    ]
    try:
        finished = subprocess.run(
            [*command, requirement],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=deadline_seconds,
            # pip has no option for a maximum size, so the size of all files of this process is limited.
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes)),
        )
    except subprocess.TimeoutExpired as error:
        raise NetworkError(f"pip download {requirement}: not finished after {deadline_seconds:g} s") from error
    wheels = list(folder.glob("*.whl"))
    if finished.returncode or len(wheels) != 1:
        raise NetworkError(f"pip download {requirement}: {_why(finished.stdout)}")
    return wheels[0]


def _why(output: str) -> str:
    """The reason of pip's retries and its last line, which calls an index that it cannot reach an empty one."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    broken = [line.partition("connection broken by ")[2] for line in lines if "connection broken by " in line]
    return "; ".join([*broken[-1:], *lines[-1:]]) or "no wheel was downloaded"
