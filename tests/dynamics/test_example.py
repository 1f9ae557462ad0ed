"""The example in examples/ runs, offline, and learns."""

import importlib.util
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "train_cgnn.py"


def test_the_example_trains_on_a_synthetic_graph_without_a_network(capsys):
    spec = importlib.util.spec_from_file_location("train_cgnn", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main("synthetic", "40") > 0.5
    assert "synthetic: test accuracy" in capsys.readouterr().out
