"""The page as text: what it says, links to and leaves out."""

import base64
import gzip
import html
import json
import re
import shutil

import pandas as pd
import pytest
import synthetic_results as synthetic
from scorecard_tree import write_scorecard

from cgnn.analysis.claims.base import Verdict
from cgnn.paper.reported import load_reported
from cgnn.render.protocols import by_protocol
from cgnn.render.scorecard import VERDICTS, _left_out, _link_text, _with_titles, smaller_svg, winner_of


def test_the_page_is_one_file_that_loads_no_other(page):
    text = page.read_text()
    assert len(text.encode()) < 3_000_000
    assert not re.findall(r'(?:src=|<link[^>]*href=)"(?!data:)', text)  # nothing is loaded; links are for the reader
    assert "default-src 'none'" in text


def test_the_page_links_to_the_pdf_the_paper_and_the_data(page):
    links = re.findall(r'<a href="([^"#][^"]*)"', page.read_text())
    assert {"paper.pdf", "https://arxiv.org/abs/1912.00967", "runs.csv", "claims.json"} <= set(links)
    for link in links:
        if not link.startswith("https:") and link != "paper.pdf" and not link.endswith("README.md"):
            assert (page.parent / link).is_file(), link


def test_every_link_inside_the_page_has_its_target(page):
    text = page.read_text()
    targets = set(re.findall(r' id="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= targets


def test_claims_link_to_tables_and_figures_and_back(page):
    text = page.read_text()
    claim = text[text.index('id="C1"') : text.index('id="C2"')]
    assert 'href="#table-fixed_splits"' in claim
    table = text[text.index('id="table-fixed_splits"') : text.index('id="table-random_splits"')]
    assert 'href="#C1"' in table
    claim = text[text.index('id="C5"') : text.index('id="C6"')]
    assert 'href="#figure-accuracy_depth_time"' in claim
    figure = text[text.index('id="figure-accuracy_depth_time"') :]
    assert 'href="#C5"' in figure[: figure.index("</figure>")]


def part_of(page, identifier, end):
    """The page from the element with this id to the next ``end``."""
    text = page.read_text()
    text = text[text.index(f'id="{identifier}"') :]
    return text[: text.index(end)]


def test_the_page_says_what_cgnn_is_and_claims_no_dataset_that_was_not_run(page):
    lead = re.search(r'<p class="lead">(.*?)</p>', page.read_text())[1]
    assert lead.startswith("CGNN replaces the layers of a graph neural network with an ODE")
    assert "(without Pubmed and NELL)" in lead


def test_the_page_says_that_nell_has_part_of_its_labels_and_what_was_not_run():
    reported = load_reported(synthetic.REPORTED)

    def left_out(*runs):
        return _left_out(pd.DataFrame(runs, columns=["dataset", "model"]), reported)

    partial = left_out(("cora", "gcn"), ("nell_partial", "gcn"))
    assert partial == ["Citeseer", "Pubmed", "the full labels of NELL"]
    whole = [(dataset, "gat_gode") for dataset in ("cora", "citeseer", "pubmed", "nell")]
    assert left_out(*whole) == []  # the paper has no GAT-GODE on NELL either
    assert left_out(*whole[:2], *[(dataset, "gcn") for dataset, _ in whole]) == ["GAT-GODE on Pubmed"]


def test_the_page_explains_every_verdict(page):
    assert set(VERDICTS) == set(Verdict)
    terms = part_of(page, "findings", "</section>")
    assert all(f"<b>{verdict}</b>: " in terms for verdict in Verdict)


def test_the_verdict_of_each_protocol_is_visible_without_opening_the_claim(page):
    for claim in json.loads((page.parent / "claims.json").read_text())["claims"]:
        closed = part_of(page, claim["id"], "<details>")
        assert ('class="protocols"' in closed) == bool(claim["also"])
        verdicts = set(re.findall(r"<b>([\w ]+)</b>:", closed))
        assert {verdict.lower() for verdict in verdicts} == set(claim["also"].values())


def test_a_closed_claim_shows_the_deciding_comparison_and_an_opened_one_all_evidence(page):
    for claim in json.loads((page.parent / "claims.json").read_text())["claims"]:
        closed, whole = part_of(page, claim["id"], "<details>"), part_of(page, claim["id"], "</article>")
        evidence = html.escape(claim["evidence"], quote=False)
        assert evidence not in closed.replace("&#39;", "'")
        assert evidence in whole.replace("&#39;", "'")
        if claim["verdict"] != Verdict.DEPENDS and claim["comparisons"]:
            assert re.search(r"\d+ of \d+ comparisons pass|not tested|" + re.escape(claim["why"] or "–"), closed)


def test_protocols_are_described_by_what_distinguishes_them():
    def protocol(source, verdict, complete=True, preset="released"):
        names = {"label": "", "preset": preset, "hyperparameter_source": source, "split_kind": "fixed", "reading": ""}
        return {**names, "verdict": verdict, "complete": complete}

    two = [protocol("search", "reproduced"), protocol("published", "partly", complete=False)]
    assert by_protocol({"also": {"a": "b"}, "protocols": two}) == {
        "reproduced": ["hyperparameters of our search"],
        "partly": ["published hyperparameters (half or more not run)"],
    }
    four = [protocol("search", "not reproduced", preset="paper"), *(protocol("published", "reproduced"),) * 3]
    assert by_protocol({"also": {"a": "b"}, "protocols": four}) == {
        "not reproduced": ["preset paper, hyperparameters of our search"],
        "reproduced": ["the other 3 protocols"],
    }
    assert by_protocol({"also": {}, "protocols": two[:1]}) == {}


def test_every_claim_links_to_the_files_behind_it(page):
    expected = {
        **dict.fromkeys(("C1", "C2", "C3", "C4"), "runs.csv"),
        **dict.fromkeys(("C5", "C6", "C7"), "sweeps.csv"),
        **dict.fromkeys(("C8", "C9"), "profiles.csv"),
        **{"C10": "convergence.csv", "C11": "bench.json", "C12": "runs.csv sweeps.csv"},
        **dict.fromkeys(("C13a", "C13b"), "fidelity.csv runs.csv"),
    }
    for identifier, files in expected.items():
        assert re.findall(r'href="([^"#]+)"', part_of(page, identifier, "</article>")) == files.split()


def test_a_claim_links_to_no_file_that_does_not_exist(page, tmp_path):
    tree = shutil.copytree(page.parent, tmp_path / "results")
    for name in ("bench.json", "convergence.csv"):
        (tree / name).unlink()
    changed = write_scorecard(tree)
    assert "bench.json" not in changed.read_text()
    assert 'data: <a href="profiles.csv">' in part_of(changed, "C11", "</article>")
    assert "data:" not in part_of(changed, "C10", "</article>")


def test_a_table_mentions_underlined_cells_only_if_it_has_some(page):
    for name in (path.stem for path in (page.parent / "tables").glob("*.json")):
        if name != "claims" and f'id="table-{name}"' in page.read_text():
            table = part_of(page, f"table-{name}", "</details>")
            assert ("Underlined cells open the rows behind them." in table) == ('class="cell"' in table), name
    assert 'Data: <a href="bench.json">' in part_of(page, "table-speed", "</details>")


def test_the_page_refers_to_the_recordings_only_if_their_file_exists(page, tmp_path):
    beginning = "These files are in the same folder as this page and hold its numbers"
    assert f"{beginning}, except the learning curves and learned α, which are in recorded.npz." in page.read_text()
    tree = shutil.copytree(page.parent, tmp_path / "results")
    (tree / "recorded.npz").unlink()
    text = write_scorecard(tree).read_text()
    assert f"{beginning}. Each row" in text and "recorded.npz" not in text


def test_the_comparisons_of_a_claim_refer_to_its_own_test(page):
    claims = json.loads((page.parent / "claims.json").read_text())["claims"]
    with_p = [claim for claim in claims if any(item["p"] is not None for item in claim["comparisons"])]
    assert {"C1", "C5", "C7", "C8", "C13b"} <= {claim["id"] for claim in with_p}
    for claim in with_p:
        whole = part_of(page, claim["id"], "</article>")
        (note,) = re.findall(r'<p class="note">(.*?)</p>', whole)
        assert note.startswith("What a comparison needs to pass is stated under <b>Test</b> above")
        assert "<b>Test.</b> " in whole


def test_files_are_described_by_titles_of_the_page(page):
    files, text = part_of(page, "files", "</section>"), page.read_text()
    titles = re.findall("“(.+?)”", files)
    assert len(titles) == 3
    assert all(f"<summary>{title}</summary>" in text or f"<b>{title}.</b>" in text for title in titles)


def test_only_existing_tables_describe_a_file():
    titles = {"a": "Table A", "b": "Table B"}
    assert _with_titles("trainings of {a, missing, b}", titles) == "trainings of “Table A” and “Table B”"
    assert _with_titles("trainings of {missing}", titles) == "trainings of variants"


@pytest.mark.parametrize(
    "title",
    [
        "Table 2, node classification on fixed splits",
        "The paper's Table 2: node classification on fixed splits",
        "Node classification on fixed splits (the paper's Table 2)",
        "Node classification on fixed splits, in percent",
    ],
)
def test_links_to_tables_have_no_number_of_the_paper(title):
    assert _link_text(title) == "Node classification on fixed splits"


def test_the_page_defines_switches_and_protocols_as_the_documentation_does(page):
    readme = " ".join((synthetic.REPORTED.parents[1] / "README.md").read_text(encoding="utf-8").split())
    switch = "one point on which the paper and its released code differ, or which both leave open"
    assert switch in readme and switch.capitalize() in page.read_text()
    combination = "each combination of preset, source of hyperparameters and kind of splits is judged on its own"
    assert combination in part_of(page, "claims", "</section>")


def test_a_link_to_the_readme_is_not_called_a_repository(page):
    label = re.search(r'<a href="([^"]+)">(README|Repository)</a>', page.read_text())
    assert label[2] == ("README" if label[1].endswith("README.md") else "Repository")


@pytest.mark.parametrize(
    ("mean", "winner"), [([None, 70.0, 71.0], 2), ([None, 71.0, 71.0], 1), ([None, None, None], 0), (None, 0)]
)
def test_round_two_decides_a_search(mean, winner):
    trials = pd.DataFrame({"trial": [0, 1, 2], "objective": [90.0, 80.0, 80.0]})
    assert winner_of(trials if mean is None else trials.assign(mean=mean)) == winner


def test_the_page_can_be_written_from_an_almost_empty_results_tree(tmp_path):
    synthetic.rows("cora", "cgnn", [80.0, 81.0]).to_csv(tmp_path / "runs.csv", index=False)
    assert "The claims were not judged" in write_scorecard(tmp_path).read_text()


def test_a_small_budget_is_a_preview_without_verdicts(finished, tmp_path):
    tree = shutil.copytree(finished, tmp_path / "small")
    runs = pd.read_csv(tree / "runs.csv")
    runs[runs["replica"] < 3].assign(epochs=40).to_csv(tree / "runs.csv", index=False)
    text = write_scorecard(tree).read_text()
    assert "preview: 40 epochs, 3 seeds" in text
    assert 'class="verdict"' not in text and "data-verdict" not in text.split("<script")[0]
    assert 'class="findings"' not in text


def test_data_cannot_end_its_script_element():
    from cgnn.render.scorecard import _for_script

    packed = _for_script({"a": "</script><b>"})
    assert "<" not in packed
    assert json.loads(gzip.decompress(base64.b64decode(packed))) == {"a": "</script><b>"}


def test_figures_in_the_page_are_smaller_and_draw_the_same():
    drawn = '<svg><!-- 6 -->\n <path d="M 75.229278 -0.001 \nL 4116 1625.5"\n transform="scale(0.015625)"/> </svg>'
    assert smaller_svg(drawn) == "<svg><path d='M 75.23 -0 L 4116 1625.5' transform='scale(0.015625)'/></svg>"
