"""The rebuilt paper: compiles, repeats to the byte, and has no number of its own."""

import json
import re

import made_up
import pytest

from cgnn.__main__ import main

SOURCE = made_up.ROOT / "paper" / "paper.typ"


def compiled(results, out, *more):
    arguments = [
        "paper",
        "--results",
        str(results),
        "--source",
        str(SOURCE),
        "--reported",
        str(made_up.REPORTED),
        "--out",
        str(out),
    ]
    return main([*arguments, *more])


def test_the_paper_compiles_with_everything_in_it_and_repeats_to_the_byte(finished, tmp_path):
    for name in ("first", "second"):
        assert compiled(finished, tmp_path / f"{name}.pdf", "--data", str(tmp_path / f"{name}.json")) in (0, None)
    first = (tmp_path / "first.pdf").read_bytes()
    assert first.startswith(b"%PDF") and len(first) > 100_000
    assert first == (tmp_path / "second.pdf").read_bytes()
    data = json.loads((tmp_path / "first.json").read_text())
    assert set(data["figures"]) and set(data["tables"]) >= {"fixed_splits", "claims", "fidelity"}
    assert data["headline"][0]["dataset"] == "Cora"


def test_an_almost_empty_results_tree_still_gives_a_paper_that_says_what_is_missing(tmp_path):
    made_up.rows("cora", "cgnn", [80.0, 81.0]).to_csv(tmp_path / "runs.csv", index=False)
    assert compiled(tmp_path, tmp_path / "paper.pdf") in (0, None)


def test_the_text_types_no_result_by_hand():
    """What is left without quoted options, colours and lengths has no decimal and no number above nine."""
    text = SOURCE.read_text().split("// ---- the text ----")[1]
    prose = re.sub(r'"[^"]*"|-?\d+(\.\d+)?(pt|cm|em|fr|%)|95 %|sha256', "", text)
    assert re.findall(r"\d+\.\d+|\d{2,}", prose) == []


def test_a_typst_error_names_the_source(tmp_path, capsys):
    broken = tmp_path / "broken.typ"
    broken.write_text("#let")
    assert (
        main(
            [
                "paper",
                "--results",
                str(tmp_path),
                "--source",
                str(broken),
                "--reported",
                str(made_up.REPORTED),
                "--out",
                str(tmp_path / "x.pdf"),
            ]
        )
        == 2
    )
    assert "broken.typ" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["datasets"])
def test_table_one_is_read_from_its_own_csv(tmp_path, name):
    from cgnn.render.products import load_tables

    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "datasets.csv").write_text(
        "dataset,nodes,nodes_paper,edges,edges_paper,labels,reasons,note\ncora,2708,2708,5278,5429,2708,Edges: why,\n"
    )
    table = load_tables(tmp_path)[name]
    assert table["rows"][0]["cells"][1] == {"text": "5,278", "under": ["paper 5,429"]}
    assert table["notes"] == ["Cora. Edges: why"]
