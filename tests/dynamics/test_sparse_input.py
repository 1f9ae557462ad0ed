"""The sparse first layer: dropout of nonzero entries, gradients and random streams."""

import pytest
import torch

from cgnn.models.random_streams import dropout, keep_mask
from cgnn.models.sparse_input import SparseInput, SparseLinear, sparse_times_dense


@pytest.fixture
def x():
    return torch.rand(8, 6, dtype=torch.float64) * (torch.rand(8, 6) < 0.4)


def test_the_product_and_its_gradient_agree_with_the_dense_matrix(x):
    weight = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    prepared = SparseInput.build(x.to_sparse_csr())
    assert torch.allclose(sparse_times_dense(prepared, weight), x @ weight)
    assert torch.autograd.gradcheck(lambda w: sparse_times_dense(prepared, w), (weight,))


def test_with_dropout_the_gradient_uses_the_same_mask(x):
    weight = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    prepared = SparseInput.build(x.to_sparse_csr())
    y = sparse_times_dense(prepared, weight, 0.5, torch.Generator().manual_seed(1))
    keep, factor = keep_mask(prepared.matrix.values().numel(), 0.5, x.device, torch.Generator().manual_seed(1))
    dropped = torch.zeros_like(x)
    dropped[x != 0] = x[x != 0] * keep * factor
    assert torch.allclose(y, dropped @ weight)
    g = torch.randn_like(y)
    assert torch.allclose(torch.autograd.grad(y, weight, g)[0], dropped.T @ g)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_mask_keeps_the_right_share_and_the_expectation(p):
    keep, factor = keep_mask(400_000, p, torch.device("cpu"), torch.Generator().manual_seed(0))
    assert abs(float(keep.float().mean()) - (1 - p)) < 0.005
    assert abs(factor * (1 - p) - 1) < 1e-3 / (1 - p)


def test_neighbouring_entries_of_the_mask_are_independent():
    keep, _ = keep_mask(400_000, 0.5, torch.device("cpu"), torch.Generator().manual_seed(0))
    centred = keep.float() - 0.5
    for lag in range(1, 9):
        assert abs(float((centred[lag:] * centred[:-lag]).mean())) < 0.003


@pytest.mark.parametrize("sparse", [False, True])
def test_there_is_no_dropout_in_eval_mode(x, sparse):
    layer = SparseLinear(6, 3, dropout=0.5).double().eval()
    features = x.to_sparse_csr() if sparse else x
    assert torch.allclose(layer(features), x @ layer.weight + layer.bias)
    layer.train()
    assert not torch.allclose(layer(features), layer(features))


def test_dropout_of_a_dense_tensor_has_one_random_stream_per_replica():
    x = torch.ones(50, 3, 4)

    def streams():
        return [torch.Generator().manual_seed(seed) for seed in (4, 5, 6)]

    together = dropout(x, 0.5, True, streams())
    assert torch.equal(together, dropout(x, 0.5, True, streams()))
    assert torch.equal(together[:, 1], dropout(x[:, 1], 0.5, True, [streams()[1]]))
    assert dropout(x, 0.5, False) is x


def test_the_initialisation_agrees_with_the_linear_layer_of_torch():
    layer = SparseLinear(400, 300)
    reference = torch.nn.Linear(400, 300)
    for mine, theirs in ((layer.weight, reference.weight), (layer.bias, reference.bias)):
        assert abs(float(mine.abs().max()) - 400**-0.5) < 1e-3
        assert abs(float(mine.std()) / float(theirs.std()) - 1) < 0.1


def test_the_layer_notices_another_input_matrix(x):
    layer = SparseLinear(6, 3, bias=False).double()
    first, second = x.to_sparse_csr(), (2 * x).to_sparse_csr()
    assert torch.allclose(2 * layer(first), layer(second))
    assert torch.allclose(layer(first), x @ layer.weight)


def test_the_same_seed_gives_the_same_bits(x):
    layer = SparseLinear(6, 3, dropout=0.5).double()
    outputs = []
    for _ in range(2):
        layer.generators = [torch.Generator().manual_seed(9)]
        outputs.append(layer(x.to_sparse_csr()))
    assert torch.equal(*outputs)
