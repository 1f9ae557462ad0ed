"""The optimisers against those of torch."""

import pytest
import torch

from cgnn.training.optimisers import Adam, Adamax, RMSprop


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(Adam, torch.optim.Adam), (Adamax, torch.optim.Adamax), (RMSprop, torch.optim.RMSprop)],
    ids=["adam", "adamax", "rmsprop"],
)
def test_ten_steps_are_bit_identical_to_torchs(ours: type, theirs: type) -> None:
    """Two groups with their own decay, and a parameter that never gets a gradient."""
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=generator) for shape in ((3, 4), (4,), (2,))]

    def run(optimiser: type) -> list[torch.Tensor]:
        first, second, unused = (torch.nn.Parameter(tensor.clone()) for tensor in start)
        groups = [{"params": [first, unused], "weight_decay": 0.1}, {"params": [second], "weight_decay": 0.0}]
        steps = optimiser(groups, lr=0.03)
        for turn in range(10):
            steps.zero_grad()
            ((first @ second).sin().sum() * (turn + 1)).backward()
            steps.step()
        return [first.detach(), second.detach(), unused.detach()]

    found, expected = run(ours), run(theirs)
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert torch.equal(found[2], start[2]) and not torch.equal(found[0], start[0])
