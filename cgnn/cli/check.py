"""Check that this machine computes every model correctly, in about a minute and without downloads.

  python -m cgnn check                  on the CPU: against float64, and with another number of threads
  python -m cgnn check --device cuda    on a GPU: against the CPU

For every model, compares scores and gradients with the reference, replicas trained side by side with replicas trained
alone, and two runs of the same training, and times an epoch. Then checks the memory counter. Exits with 1 if a check
fails.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `python -m cgnn --help` loads no torch
    from cgnn.training.check import ModelCheck


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:INDEX, or auto")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads (default 1)")


def run(args: argparse.Namespace) -> int:
    import torch

    from cgnn.training import check
    from cgnn.training.device import choose_device, make_deterministic
    from cgnn.training.experiment import device_name

    device = choose_device(args.device)
    make_deterministic(args.threads)
    on_cpu = device.type == "cpu"
    reference = "float64 and another number of threads" if on_cpu else "the CPU"
    print(f"{device_name(device)}, torch {torch.__version__}, CUDA {torch.version.cuda or 'not built in'}")
    print(f"compared with {reference}; differences are relative to the largest entry\n")
    print(f"{'model':<16}{'scores':>10}{'gradients':>11}{'side by side':>14}{'run twice':>11}{'ms per epoch':>14}")
    results = check.check_models(device, on_model=lambda result: print(_row(result), flush=True))
    limits = {name: _shown(value) for name, value in check.tolerances(device).items()}
    print(
        f"{'allowed':<16}{limits['scores']:>10}{limits['gradients']:>11}{limits['side_by_side']:>14}"
        f"{limits['repeated']:>11}\n"
    )
    memory = check.check_memory(device)
    print(
        f"memory counter: {memory.counted / 2**20:.1f} MiB counted, {memory.expected / 2**20:.1f} MiB allocated: "
        f"{'ok' if memory.good else 'WRONG'}"
    )
    failures = [(result.model, name, result.error) for result in results for name in result.failures]
    for model, name, error in failures:
        print(f"\n{model}: {name.replace('_', ' ')}" + (f" ({error})" if error else "") + f": {check.WHAT_TO_DO[name]}")
    if not memory.good:
        print(f"\nmemory counter: {check.WHAT_TO_DO['memory']}")
    failed = bool(failures) or not memory.good
    print("\nFAILED" if failed else f"all checks passed on {device_name(device)}")
    return int(failed)


def _row(result: "ModelCheck") -> str:
    if result.error is not None:
        return f"{result.model:<16}  {result.error}"
    milliseconds = f"{1000 * (result.seconds_per_epoch or 0):.1f}"
    verdict = "WRONG: " + ", ".join(result.failures).replace("_", " ") if result.failures else "ok"
    return (
        f"{result.model:<16}{_shown(result.scores):>10}{_shown(result.gradients):>11}{_shown(result.side_by_side):>14}"
        f"{_shown(result.repeated):>11}{milliseconds:>14}  {verdict}"
    )


def _shown(value: float | None) -> str:
    return "-" if value is None else "equal" if value == 0 else f"{value:.1e}"
