"""A small local web server that can fail in all the ways a real one does."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

OK = b"HTTP/1.0 200 OK\r\n"
#: Responses that never end: how they start, what is then sent repeatedly, and the pause in seconds.
UNENDING = {
    "slow headers": (OK, b"a", 0.05),
    "slow body": (OK + b"\r\n", b"a", 0.05),
    "endless": (OK + b"\r\n", bytes(1 << 16), 0.0),
}


class Web:
    """``files`` by path, and ``trouble`` by path: the fault of each request in turn; later requests succeed."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.trouble: dict[str, list[str]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.closing = threading.Event()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        self.requests.append((handler.path, wanted))
        waiting = self.trouble.get(handler.path, [])
        trouble = waiting.pop(0) if waiting else ""
        body = self.files.get(handler.path)
        if trouble == "hang":
            self.closing.wait()
            return
        if trouble in UNENDING:
            start, repeated, pause = UNENDING[trouble]
            handler.wfile.write(start)
            with contextlib.suppress(OSError):
                while not self.closing.wait(pause):
                    handler.wfile.write(repeated)
            return
        if trouble.startswith("raw "):
            with contextlib.suppress(OSError):
                handler.wfile.write(trouble.removeprefix("raw ").encode("latin-1") + (body or b""))
            return
        if trouble == "error":
            handler.send_error(503)
            return
        if body is None:
            handler.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and trouble != "no ranges" else 0
        if start >= len(body) and start:
            handler.send_error(416)
            return
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(body) - start))
        handler.end_headers()
        # "break": the connection is closed after half of the announced bytes.
        end = start + (len(body) - start) // 2 if trouble == "break" else len(body)
        handler.wfile.write(body[start:end])


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def web() -> Iterator[Web]:
    web = Web()
    yield web
    web.closing.set()
    web.server.shutdown()
    web.server.server_close()
