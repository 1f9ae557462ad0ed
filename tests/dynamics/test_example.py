"""The examples in examples/ run without a network and learn."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_trains_on_a_synthetic_graph_without_a_network(capsys):
    spec = importlib.util.spec_from_file_location("train_cgnn", EXAMPLES / "train_cgnn.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main("synthetic", "40") > 0.5
    assert "synthetic: test accuracy" in capsys.readouterr().out


@pytest.fixture
def notebook():
    nbformat = pytest.importorskip("nbformat")
    content = nbformat.read(EXAMPLES / "quickstart.ipynb", as_version=4)
    nbformat.validate(content)
    return content


def test_the_notebook_is_committed_executed_and_without_errors(notebook):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert {output.output_type for output in outputs} <= {"execute_result", "display_data", "stream"}
    assert all(output.get("name") != "stderr" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.slow
def test_the_notebook_runs_from_start_to_end(notebook, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    monkeypatch.delenv("CGNN_DATA_MIRROR", raising=False)  # without a mirror it generates a graph
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    from nbformat.v4 import new_code_cell

    notebook.cells.append(
        new_code_cell("assert name == 'synthetic' and accuracy > 0.5 and losses[-1] < 0.5 * losses[0]")
    )
    notebook.cells.append(new_code_cell("assert alpha.shape == (data.num_nodes,) and alpha.std() > 1e-3"))
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    assert any("image/png" in output.get("data", {}) for output in notebook.cells[-4].outputs)
