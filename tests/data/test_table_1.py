"""Table 1: our graphs next to the paper's numbers, with a reason for each difference."""

from cgnn.__main__ import main
from cgnn.paper.reported import load_reported
from cgnn.render.tables.datasets import NO_REASON, QUANTITIES, quantities, reasons, table_of


def test_the_command_writes_our_numbers_next_to_the_papers_with_reasons(graph_file, project, tmp_path):
    graphs = [str(graph_file(name)) for name in ("cora", "citeseer", "pubmed")]
    reported = str(project / "paper" / "reported.yaml")
    arguments = ["table", "datasets", "--graphs", *graphs, "--reported", reported, "--out", str(tmp_path / "datasets")]
    assert main(arguments) in (0, None)
    lines = (tmp_path / "datasets.md").read_text().splitlines()
    cora = next(line for line in lines if line.startswith("| Cora"))
    assert cora == "| Cora | 2,708 | 2,708 | 5,278 | 5,429 | 1,433 | 1,433 | 7 | 7 | 0.052 | 0.036 |"
    assert any("appear exchanged" in line for line in lines)


def test_every_difference_has_a_reason(dataset):
    reported = load_reported()
    for name in ("cora", "citeseer", "pubmed", "nell_partial"):
        graph = dataset(name)
        ours, paper = quantities(graph), reported.statistics(name)
        assert set(reasons(graph, reported)) == {key for key in QUANTITIES if ours[key] != paper[key]}
        assert NO_REASON not in reasons(graph, reported).values()


def test_the_notes_explain_nell_partial(dataset):
    notes = table_of([dataset("nell_partial")], load_reported()).notes
    assert any("3,575 of its 9,891 labels" in note for note in notes)
