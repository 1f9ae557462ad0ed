"""The code on the library page does what the page says."""

import re
from pathlib import Path

import torch

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def test_the_layer_of_the_page_runs_and_learns(ordinary):
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict = {}
    exec(next(block for block in blocks if "class Net" in block), names)
    net = names["Net"](5, 3)
    out = net(torch.rand(ordinary.n, 5), ordinary.edge_index)
    out.square().sum().backward()
    assert out.shape == (ordinary.n, 3) and net.propagate.theta.grad is not None


def test_the_lower_level_of_the_page_runs(ordinary):
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names = {
        "edge_index": ordinary.edge_index,
        "n": ordinary.n,
        "E": torch.rand(ordinary.n, 2),
        "alpha": torch.rand(ordinary.n),
    }
    exec(next(block for block in blocks if "LinearODE(" in block), names)
    assert names["H"].shape == (ordinary.n, 2)


def test_the_signatures_on_the_page_are_those_of_the_code():
    import inspect

    from cgnn import CGNN, CGNNConv

    for layer in (CGNN, CGNNConv):
        listed = PAGE[PAGE.index("## Signatures") :]
        printed = re.findall(rf"^{layer.__name__}\((.*?)\)$", listed, flags=re.DOTALL | re.MULTILINE)[0]
        on_page = [part.split("=")[0].strip() for part in printed.split(",")]
        in_code = list(inspect.signature(layer).parameters)
        assert [name for name in on_page if name != "*"] == in_code
