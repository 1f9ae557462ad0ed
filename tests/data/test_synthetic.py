"""Synthetic graphs have the requested properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgnn.datasets.registry import obtain_graph
from cgnn.datasets.synthetic import Parameters, generate, parse
from cgnn.errors import UserError


def inside_share(graph):
    return float((graph.labels[graph.edges[0]] == graph.labels[graph.edges[1]]).mean())


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.8, 1.0])
def test_the_share_of_edges_inside_a_class_is_the_homophily(homophily):
    graph = generate("synthetic", Parameters(nodes=4000, degree=6, homophily=homophily))
    assert graph.num_edges == 12_000
    assert inside_share(graph) == pytest.approx(homophily, abs=1e-4)


def test_degree_classes_and_words_are_as_requested():
    graph = generate("synthetic", Parameters(nodes=3000, classes=6, degree=5, words=12, features=600))
    assert graph.num_edges == 7500
    assert np.bincount(graph.labels).tolist() == [500] * 6
    # A word that is drawn twice counts once, so the mean is slightly below 12.
    assert graph.features.nnz / 3000 == pytest.approx(12, rel=0.1)
    assert set(graph.features.data) == {1.0}


def test_words_depend_on_the_class():
    p = Parameters(nodes=2000, classes=4, features=400, words=20, word_homophily=0.3)
    graph = generate("synthetic", p)
    block = np.repeat(np.arange(4), 100)
    counts = graph.features @ np.eye(4)[block]
    # 30 % of the words come from the block of the class, which is a quarter of all words; the rest from anywhere.
    own = counts[np.arange(2000), graph.labels].sum() / counts.sum()
    assert own == pytest.approx(0.3 + 0.7 / 4, abs=0.02)


def test_the_same_parameters_give_the_same_graph_and_another_seed_a_different_one():
    assert generate("synthetic", Parameters()).sha256 == generate("synthetic", Parameters()).sha256
    assert generate("synthetic", Parameters()).sha256 != generate("synthetic", Parameters(seed=1)).sha256


@settings(max_examples=40, deadline=None)
@given(nodes=st.integers(1, 60), classes=st.integers(1, 6), degree=st.floats(0, 8), homophily=st.floats(0, 1))
def test_any_small_graph_can_be_generated_and_has_a_fixed_split(nodes, classes, degree, homophily):
    classes, degree = min(classes, nodes), min(degree, nodes - 1)
    graph = generate(
        "synthetic", Parameters(nodes=nodes, classes=classes, degree=degree, homophily=homophily, features=20, words=3)
    )
    assert graph.num_nodes == nodes
    assert graph.num_edges <= round(nodes * degree / 2)
    assert set(graph.labels[graph.fixed_split.train]) == set(range(classes))


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"node": 5}, "unknown parameter 'node'; expected nodes"),
        ({"nodes": 0}, "nodes is 0, expected at least 1"),
        ({"nodes": 2.5}, "nodes is 2.5, expected an integer"),
        ({"nodes": True}, "nodes is True, expected an integer"),
        ({"homophily": 1.5}, "homophily is 1.5, expected from 0 to 1"),
        ({"degree": "six"}, "degree is 'six', expected a number"),
        ({"nodes": 5, "classes": 9}, "classes is 9, expected from 1 to nodes = 5"),
        ({"features": 2, "words": 1}, "features is 2, expected at least classes"),
        ({"words": 501}, "words is 501, expected from 0 to features"),
    ],
)
def test_the_error_names_a_bad_parameter_and_what_is_allowed(values, complaint):
    with pytest.raises(UserError, match=complaint):
        parse(values)


def test_parameters_of_another_dataset_are_refused():
    with pytest.raises(UserError, match="parameters are only for synthetic, found nodes"):
        obtain_graph("cora", parameters={"nodes": 5})


@pytest.mark.slow
def test_a_million_nodes_are_generated_in_less_than_4_gib(peak_memory, tmp_path):
    parameters = '{"nodes": 1000000, "classes": 10, "features": 1000, "degree": 4, "words": 10}'
    command = ["graph", "synthetic", "--parameters", parameters, "--out", "g.npz"]
    assert peak_memory([command], tmp_path) < 4 * 2**30
