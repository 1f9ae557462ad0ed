"""The graph cache: the same tensors give the cached value, and any others a new one."""

import copy
import pickle

import pytest
import torch

from cgnn.models.graph_cache import GraphCache


class Counting:
    """Sums its tensors and counts how often it had to."""

    def __init__(self):
        self.cache, self.built = GraphCache(), 0

    def __call__(self, *tensors, settings=()):
        def build():
            self.built += 1
            return sum(float(tensor.detach().sum()) for tensor in tensors if tensor is not None)

        return self.cache.get(tensors, settings, build)


@pytest.fixture
def edges():
    return torch.tensor([[0, 1], [1, 0]])


def test_the_value_for_the_same_tensors_is_built_once(edges):
    total = Counting()
    assert [total(edges, None) for _ in range(3)] == [2, 2, 2] and total.built == 1


def test_another_tensor_a_modified_tensor_or_other_settings_build_a_new_value(edges):
    total = Counting()
    assert total(edges, None) == 2
    assert total(edges + 1, None) == 6  # another object
    assert total(edges, torch.ones(2)) == 4  # with weights
    edges.add_(1)
    assert total(edges, None) == 6  # the same object, modified
    total(edges, None, settings=("float64",))
    assert total.built == 5


def test_a_new_tensor_in_reused_memory_is_not_mistaken_for_the_old_one():
    total = Counting()
    for value in range(5):  # CPython and torch's allocator reuse the address
        assert total(torch.full((4,), value)) == 4 * value


def test_a_longer_list_with_the_same_start_builds_a_new_value(edges):
    total = Counting()
    assert total(edges) == 2 and total(edges, edges) == 4


def test_a_sparse_matrix_with_values_changed_in_place_builds_a_new_value():
    matrix = torch.eye(3).to_sparse_csr()
    total, cache = [], GraphCache()
    for _ in range(2):
        total.append(cache.get((matrix,), (), lambda: float(matrix.values().sum())))
        matrix.values()[0] = 7
    assert total == [3, 9]


def test_tensors_with_a_gradient_or_without_a_version_are_never_cached(edges):
    total = Counting()
    weight = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        unversioned = torch.ones(2)
    for tensor in (weight, unversioned):
        before = total.built
        total(edges, tensor), total(edges, tensor)
        assert total.built == before + 2


def test_clear_empties_the_cache(edges):
    total = Counting()
    total(edges)
    total.cache.clear()
    total(edges)
    assert total.built == 2


@pytest.mark.parametrize("how", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])
def test_a_copy_of_the_cache_is_empty(how):
    cache = GraphCache()
    matrix = torch.eye(3).to_sparse_csr()  # torch can neither copy nor pickle the storage of a CSR tensor
    cache.get((matrix,), (), lambda: matrix)
    twin = how(cache)
    assert twin.get((matrix,), (), lambda: "built again") == "built again"
    assert cache.get((matrix,), (), lambda: "built again") is matrix
