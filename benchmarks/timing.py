"""Fair timing: contestants take turns (A B C A B C …), so that other load on the machine affects all of them."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import torch


@dataclass(frozen=True)
class Plan:
    """How long to measure. A turn is as many calls as fit in ``turn_seconds``, at least one."""

    rounds: int = 11
    least_rounds: int = 3
    turn_seconds: float = 0.25
    #: after ``least_rounds``, a contestant that has used this much time in total takes no further turn.
    seconds_each: float = 20.0


QUICK = Plan(rounds=3, least_rounds=2, turn_seconds=0.05, seconds_each=1.0)


def take_turns(contestants: Mapping[str, Callable[[], object]], plan: Plan) -> dict[str, list[float]]:
    """The median seconds per call of every turn, by contestant, after one warm-up call (four if calls are short)."""
    calls = {}
    turns: dict[str, list[float]] = {name: [] for name in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    for name, run in contestants.items():
        once = timed(run)
        if once < 1.0:
            once = min(timed(run) for _ in range(3))
        calls[name] = max(1, min(200, round(plan.turn_seconds / once)))
    for _ in range(plan.rounds):
        for name, run in contestants.items():
            if len(turns[name]) >= plan.least_rounds and spent[name] > plan.seconds_each:
                continue
            # Collect garbage first, so that this contestant's time does not include that of the previous one.
            gc.collect()
            seconds = [timed(run) for _ in range(calls[name])]
            spent[name] += sum(seconds)
            turns[name].append(median(seconds))
    return turns


def timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@contextmanager
def threads(count: int) -> Iterator[None]:
    """torch on ``count`` threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
