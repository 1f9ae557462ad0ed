"""Splits: disjoint, of the right sizes, balanced, and the same on every machine."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgnn.datasets.splits import Split, load_split, random_split, save_split
from cgnn.errors import UserError


@st.composite
def problems(draw):
    """Labels with enough of each class, and sizes that fit; some nodes have no label."""
    classes = draw(st.integers(1, 5))
    per_class = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(per_class, 12), min_size=classes, max_size=classes))
    unknown = draw(st.integers(0, 10))
    labels = np.repeat(np.arange(-1, classes), [unknown, *sizes])
    labels = np.random.default_rng(draw(st.integers(0, 99))).permutation(labels)
    rest = sum(sizes) - per_class * classes
    validation = draw(st.integers(0, rest))
    test = draw(st.integers(0, rest - validation))
    return labels, classes, {"per_class": per_class, "validation": validation, "test": test}


@given(problems(), st.integers(0, 2**31))
def test_a_random_split_is_disjoint_balanced_labelled_and_of_the_sizes_asked(problem, seed):
    labels, classes, sizes = problem
    split = random_split(labels, dataset="d", name="random00", seed=seed, **sizes)
    assert np.bincount(labels[split.train], minlength=classes).tolist() == [sizes["per_class"]] * classes
    assert (len(split.validation), len(split.test)) == (sizes["validation"], sizes["test"])
    everything = np.concatenate([split.train, split.validation, split.test])
    assert len(set(everything.tolist())) == len(everything)
    assert (labels[everything] >= 0).all()


@given(problems(), st.integers(0, 2**31))
def test_the_same_seed_gives_the_same_split(problem, seed):
    labels, _, sizes = problem
    first, second = (random_split(labels, dataset="d", name="random00", seed=seed, **sizes) for _ in range(2))
    assert first.sha256 == second.sha256


def test_names_seeds_and_datasets_give_different_draws():
    labels = np.repeat(np.arange(4), 100)
    sizes = {"per_class": 5, "validation": 50, "test": 50}
    hashes = {
        random_split(labels, dataset=dataset, name=f"random{index:02d}", seed=seed, **sizes).sha256
        for dataset in ("a", "b")
        for index in range(15)
        for seed in (0, 1)
    }
    assert len(hashes) == 2 * 15 * 2


GOLDEN = {"train": [7, 11, 24, 27, 32, 34], "validation": [8, 21, 30, 33, 37], "test": [0, 4, 13, 19, 26, 28]}


def test_a_split_is_the_same_on_any_machine():
    labels = np.arange(40) % 3
    split = random_split(labels, dataset="golden", name="random00", per_class=2, validation=5, test=6)
    # Written down once: this must never change, or published splits could not be made again.
    assert split.train.tolist() == GOLDEN["train"]
    assert split.validation.tolist() == GOLDEN["validation"]
    assert split.test.tolist() == GOLDEN["test"]


def test_every_node_is_equally_likely_to_be_drawn():
    labels = np.arange(30) % 3
    drawn = np.zeros(30)
    for seed in range(600):
        split = random_split(labels, dataset="d", name="random00", per_class=3, validation=6, test=6, seed=seed)
        drawn[split.train] += 1
    # 600 draws at 3/10: mean 180, standard deviation 11; six of them either way.
    assert abs(drawn - 180).max() < 68


def test_a_class_without_labels_takes_no_part():
    labels = np.array([0, 0, 0, 2, 2, 2, -1])
    split = random_split(labels, dataset="d", name="random00", per_class=1, validation=1, test=1)
    assert sorted(labels[split.train]) == [0, 2]


def test_a_class_that_is_too_small_is_named():
    labels = np.array([0] * 30 + [1] * 3)
    with pytest.raises(UserError, match=r"class 1 has 3 labelled nodes, fewer than per_class = 20"):
        random_split(labels, dataset="d", name="random00")


def test_sizes_that_overlap_are_refused_with_the_sum():
    labels = np.arange(100) % 2
    with pytest.raises(UserError, match=r"20 × 2 classes \+ 50 validation \+ 60 test = 150 nodes, but only 100"):
        random_split(labels, dataset="d", name="random00", validation=50, test=60)


@pytest.mark.parametrize("key", ["per_class", "validation", "test"])
def test_a_negative_size_is_named(key):
    with pytest.raises(UserError, match=rf"{key} is -1"):
        random_split(np.arange(100) % 2, dataset="d", name="random00", **{key: -1})


def test_a_graph_without_labels_is_refused():
    with pytest.raises(UserError, match="no node has a label"):
        random_split(np.full(10, -1), dataset="d", name="random00")


@pytest.mark.parametrize(("name", "per_class"), [("cora", 20), ("citeseer", 20), ("pubmed", 20), ("nell_partial", 1)])
def test_fifteen_random_splits_of_each_dataset_differ_and_fit(dataset, name, per_class):
    graph = dataset(name)
    splits = [
        random_split(graph.labels, dataset=name, name=f"random{index:02d}", per_class=per_class) for index in range(15)
    ]
    assert len({split.sha256 for split in splits}) == 15
    classes = len(np.unique(graph.labels[graph.labels >= 0]))
    assert {(len(s.train), len(s.validation), len(s.test)) for s in splits} == {(per_class * classes, 500, 1000)}


def a_split(folder):
    split = Split("random00", np.array([1, 4]), np.array([0]), np.array([2, 3]))
    save_split(split, folder / "s.json", dataset="d", seed=0, graph_sha256="abc")
    return split, folder / "s.json"


def test_a_split_comes_back_as_it_was_saved(tmp_path):
    split, path = a_split(tmp_path)
    again = load_split(path, graph_sha256="abc")
    assert (again.name, again.sha256) == ("random00", split.sha256)
    assert set(json.loads(path.read_text())) == {
        "name", "dataset", "seed", "train", "validation", "test", "sha256", "graph_sha256",
    }  # fmt: skip


def test_an_edited_split_is_refused(tmp_path):
    _, path = a_split(tmp_path)
    path.write_text(path.read_text().replace("[2, 3]", "[2, 5]"))
    with pytest.raises(UserError, match=r"s\.json: damaged or edited"):
        load_split(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"train": "x"}', '{"name": "a", "train": [1], "validation"'])
def test_a_file_that_is_no_split_is_refused(tmp_path, text):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(UserError, match=r"s\.json: not a split"):
        load_split(tmp_path / "s.json")


def test_a_split_of_another_graph_is_refused(tmp_path):
    _, path = a_split(tmp_path)
    with pytest.raises(UserError, match="made for a graph with sha256 abc, but the graph at hand has def"):
        load_split(path, graph_sha256="def")


def test_a_missing_split_is_named(tmp_path):
    with pytest.raises(UserError, match="there is no such split"):
        load_split(tmp_path / "absent.json")


@pytest.mark.parametrize(
    "parts",
    [([0, 1], [1], [2]), ([0, 0], [1], [2]), ([1, 0], [2], [3])],
    ids=["shared", "twice", "unsorted"],
)
def test_parts_that_share_or_repeat_a_node_cannot_be_made(parts):
    with pytest.raises(ValueError, match="split s"):
        Split("s", *(np.array(part) for part in parts))
