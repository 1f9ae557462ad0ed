"""The diagram of the workflow's rules."""

import pytest

from cgnn.errors import UserError
from cgnn.render.dag import draw_dag, layers, read_rules, reduced
from cgnn.render.style import use_style

#: fetch -> graph -> train -> collect -> all, and a figure that reads the graph as well as the rows.
DOT = """digraph snakemake_dag {
    0[label = "all", color = "0.00 0.6 0.85"];
    1[label = "fetch", color = "0.1 0.6 0.85"];
    2[label = "graph", color = "0.2 0.6 0.85"];
    3[label = "train", color = "0.3 0.6 0.85"];
    4[label = "collect", color = "0.4 0.6 0.85"];
    5[label = "figure", color = "0.5 0.6 0.85"];
    1 -> 2
    2 -> 3
    1 -> 3
    3 -> 4
    4 -> 5
    2 -> 5
    5 -> 0
    4 -> 0
}"""


def test_the_target_and_implied_arrows_are_removed_from_the_graph():
    rules = read_rules(DOT)
    assert rules["train"] == {"fetch", "graph"} and "all" not in rules
    assert reduced(rules) == {
        "fetch": set(),
        "graph": {"fetch"},
        "train": {"graph"},
        "collect": {"train"},
        "figure": {"collect"},
    }


def test_an_arrow_that_crosses_a_level_has_a_position_on_it():
    rules = {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"c", "a"}}
    rows, paths = layers(rules)
    assert [sorted(name for name in row if name in rules) for row in rows] == [["a"], ["b"], ["c"], ["d"]]
    (long,) = [path for path in paths if path[0] == "a" and path[-1] == "d"]
    assert len(long) == 4 and long[1] in rows[1] and long[2] in rows[2]


def test_a_box_is_drawn_for_every_rule():
    with use_style():
        texts = {text.get_text() for text in draw_dag(DOT).figure.axes[0].texts}
    assert texts == {"fetch", "graph", "train", "collect", "figure"}


def test_text_that_is_not_a_graph_is_refused():
    with pytest.raises(UserError, match="rulegraph"):
        read_rules("Building DAG of jobs...")
