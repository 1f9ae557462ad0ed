"""The code in docs/library.md works as the page says."""

import inspect
import re
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from cgnn import CGNN, CGNNConv, Fidelity
from cgnn.errors import UserError
from cgnn.paper.fidelity import preset

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def run_block(text, **names):
    """Run the Python block of the page that contains ``text``, and return its names."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(next(block for block in blocks if text in block), names)
    return names


def test_the_layer_of_the_page_runs_and_learns(ordinary):
    net = run_block("class Net")["Net"](5, 3)
    out = net(torch.rand(ordinary.n, 5), ordinary.edge_index)
    out.square().sum().backward()
    assert out.shape == (ordinary.n, 3) and net.propagate.theta.grad is not None


def test_the_low_level_example_of_the_page_runs(ordinary):
    n = ordinary.n
    names = run_block("LinearODE(", edge_index=ordinary.edge_index, n=n, E=torch.rand(n, 2), alpha=torch.rand(n))
    assert names["H"].shape == (n, 2)


def test_the_signatures_on_the_page_agree_with_the_code():
    for layer in (CGNN, CGNNConv):
        listed = PAGE[PAGE.index("## Signatures") :]
        printed = re.findall(rf"^{layer.__name__}\((.*?)\)$", listed, flags=re.DOTALL | re.MULTILINE)[0]
        on_page = [part.split("=")[0].strip() for part in printed.split(",")]
        in_code = list(inspect.signature(layer).parameters)
        assert [name for name in on_page if name != "*"] == in_code


def test_the_presets_of_the_page_run_and_the_default_differs_from_released_in_one_switch(ordinary):
    run_block('fidelity="paper"', CGNNConv=CGNNConv)
    default, released = asdict(Fidelity()), asdict(preset("released"))
    assert {name for name in default if default[name] != released[name]} == {"source_gradient"}


def test_unsupported_uses_raise_the_documented_errors(ordinary):
    x, edges, conv = torch.rand(ordinary.n, 4), ordinary.edge_index, CGNNConv(4, t1=2.0)
    with pytest.raises(UserError, match="to_undirected"):
        conv(x, edges[:, : edges.shape[1] // 2])
    with pytest.raises(UserError, match="weights for"):
        conv(x, edges, torch.rand(edges.shape[1], 3))
    with pytest.raises(UserError, match="num_nodes=None"):
        CGNNConv(4, 99, t1=2.0)(x, edges)
    with pytest.raises(UserError, match="bipartite graphs are not supported"):
        conv((x, x), edges)
    with pytest.raises(UserError, match="expected a number"):
        CGNNConv(-1, t1=2.0, weight=True)
    with pytest.raises(Exception, match="once_differentiable"):
        E = x.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(conv(E, edges).square().sum(), E, create_graph=True)
        gradient.sum().backward()
    with pytest.raises(Exception):  # noqa: B017
        torch.jit.script(conv)
