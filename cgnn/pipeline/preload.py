"""Run the commands of many short jobs in copies of one process that has imported every package.

Importing torch, PyTorch Geometric and Orion takes longer than most jobs of `make quick` compute. With CGNN_PRELOAD set,
the workflow starts a server that imports all modules once. ``python -m cgnn`` then passes its arguments, working
directory, environment and standard streams to the server, which forks a child that runs the command. Results are the
same, and without a server a command runs in its own process. Snakemake's ``benchmark`` files then contain the run time
of a job but not its memory.

The server ends when the process that started it ends, and a child ends when the command that requested it ends.
"""

import ast
import contextlib
import json
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

#: The server's socket, set for the jobs of a workflow that started one.
VARIABLE = "CGNN_SOCKET"
#: Commands that wait until the server is ready, because importing the same packages next to it takes longer.
WAITING = ("train", "search", "profile")
#: Modules that packages import when they are first used.
IMPORTED_LATE = ("plotly.graph_objects", "plotly.io", "fontTools.subset")


def start(code: Path) -> None:
    """Start a server for the package in ``code``, and announce it to the jobs of this process."""
    path = Path(tempfile.mkdtemp(prefix="cgnn-")) / "socket"
    os.environ[VARIABLE] = str(path)
    # The server waits for the end of its standard input. Only this process has the other end of the pipe, so the input
    # ends when this process ends, even if it is killed.
    read, _ = os.pipe()
    # tune_allocator sets this as well, but torch reads it at its first allocation, which is before the server forks.
    huge_pages = {"THP_MEM_ALLOC_ENABLE": os.environ.get("THP_MEM_ALLOC_ENABLE", "1")}
    python = {"PYTHONPATH": str(code), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
    subprocess.Popen(
        [sys.executable, "-m", __name__, str(path)],
        stdin=read,
        env={**os.environ, **huge_pages, **python},
    )
    os.close(read)


def delegate(arguments: list[str]) -> int | None:
    """The exit code of a command that the server ran, or None if this process has to run it."""
    path = os.environ.get(VARIABLE)
    if path is None or not arguments:
        return None
    if arguments[0] in WAITING:
        deadline = time.monotonic() + 60
        while Path(path).parent.is_dir() and not Path(path).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:  # not ready yet, or on another machine
        return None
    with connection:
        request = {
            "arguments": arguments,
            "folder": os.getcwd(),
            "environment": dict(os.environ),
            "encoding": sys.stdout.encoding,
        }
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        connection.sendall(json.dumps(request).encode() + b"\n")
        reply = connection.makefile("rb").read()
    if not reply:
        print("cgnn: the process that ran this command was killed before it finished", file=sys.stderr)
        return 137
    return int(reply)


def serve(path: Path, main: Callable[[], int]) -> None:
    """Import every module of the package, then fork a child for each command until standard input is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes finished children
    listener = socket.socket(socket.AF_UNIX)
    try:
        _import_all()
        listener.bind(str(path.with_suffix(".new")))
        listener.listen(64)
        path.with_suffix(".new").rename(path)
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(sys.stdin, selectors.EVENT_READ)
            while all(key.fileobj is listener for key, _ in selector.select()):
                connection = listener.accept()[0]
                if os.fork() == 0:
                    listener.close()
                    _run(connection, main)
                connection.close()
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def _import_all() -> None:
    """Import all modules of this package and all packages that they import, also those imported inside functions."""
    import cgnn
    from cgnn.pipeline.fingerprint import import_closure

    modules = [found.name for found in pkgutil.walk_packages(cgnn.__path__, "cgnn.") if "__main__" not in found.name]
    import_closure(*modules)  # reads each file once, for the fingerprints of all jobs
    sources = [Path(file).read_text(encoding="utf-8") for file in Path(cgnn.__path__[0]).rglob("*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    packages = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    packages |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in [*modules, *sorted(packages), *IMPORTED_LATE]:
            with contextlib.suppress(ImportError):  # optional packages
                import_module(module)


def _run(connection: socket.socket, main: Callable[[], int]) -> None:
    """In the child: take over the streams of the requesting command, run it, and send its exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    request = json.loads(connection.makefile("rb").readline())
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    # New objects, because the old ones remember what kind of files the server's streams are.
    sys.stdin = os.fdopen(0, encoding=request["encoding"], closefd=False)
    sys.stdout = os.fdopen(1, "w", 1, encoding=request["encoding"], closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding=request["encoding"], errors="backslashreplace", closefd=False)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    try:
        code = main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(str(code).encode())
    os._exit(code)


def _end_with(connection: socket.socket) -> None:
    if not connection.recv(1):
        os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    from cgnn.__main__ import main

    serve(Path(sys.argv[1]), main)
