"""The counter of torch's allocations, against patterns whose peak is known exactly."""

import pytest
import torch

from cgnn.errors import UserError
from cgnn.training.device import MIB, PeakMemory, choose_device, is_out_of_memory, memory_limit

CPU = torch.device("cpu")


def block(mebibytes: int) -> torch.Tensor:
    return torch.empty(mebibytes * MIB, dtype=torch.uint8)


def test_the_peak_is_the_memory_held_at_one_time_and_not_the_sum_of_all_allocations() -> None:
    with PeakMemory(CPU) as peak:
        first, second = block(4), block(2)
        del first
        third = block(5)
        del second, third
        block(1)
    assert peak.bytes == 7 * MIB
    assert peak.counter == "torch cpu allocator"


def test_after_a_restart_only_memory_still_held_and_new_allocations_count() -> None:
    with PeakMemory(CPU) as peak:
        kept, dropped = block(3), block(50)
        del dropped
        peak.restart()
        block(2)
    assert peak.bytes == 5 * MIB
    del kept


def test_tensors_that_autograd_keeps_for_the_backward_pass_count() -> None:
    """exp saves its result, so a chain of ten keeps ten results and the start until the backward pass."""
    with PeakMemory(CPU) as peak:
        x = torch.zeros(MIB // 4, requires_grad=True)
        y = x
        for _ in range(10):
            y = y.exp()
        del y
    assert peak.bytes == 11 * MIB


def test_allocations_inside_an_operation_count_too() -> None:
    with PeakMemory(CPU) as peak:
        torch.arange(MIB // 8, 0, -1).sort()  # at least the input, the sorted values and their indices, 8 bytes each
    assert peak.bytes >= 3 * MIB


def test_a_memory_limit_raises_out_of_memory_and_ends_with_its_block() -> None:
    with pytest.raises(RuntimeError) as caught, memory_limit(64, CPU):
        torch.zeros(8 * MIB, dtype=torch.uint8)
        torch.zeros(200 * MIB, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)
    torch.zeros(200 * MIB, dtype=torch.uint8)


def test_other_errors_are_not_mistaken_for_out_of_memory() -> None:
    assert is_out_of_memory(MemoryError()) and is_out_of_memory(torch.OutOfMemoryError())
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_the_error_names_a_device_that_does_not_exist() -> None:
    assert choose_device("cpu") == CPU
    with pytest.raises(UserError, match="expected auto, cpu, cuda or cuda:INDEX"):
        choose_device("gpu")
    with pytest.raises(UserError, match="cuda:63 requested"):
        choose_device("cuda:63")
