"""One job, one GPU: how jobs on one machine share several GPUs.

Snakemake's ``gpu`` resource limits how many jobs use a GPU, but does not assign one. A job takes the first
GPU whose lock file is free. The kernel releases the lock when the process ends, so even a job killed with
``kill -9`` frees its GPU. On a cluster the scheduler assigns the GPU: only one is visible, and nothing is
locked.
"""

import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

VARIABLE = "CUDA_VISIBLE_DEVICES"
POLL_SECONDS = 1.0


def visible_gpus(environment: dict[str, str] | None = None, devices: Path = Path("/dev")) -> list[str]:
    """The GPUs that this process may use, by index or UUID, without importing torch (which takes seconds).

    CUDA stops reading the variable at the first negative index, and so does this.
    """
    environment = dict(os.environ) if environment is None else environment
    if VARIABLE not in environment:
        return [str(index) for index in range(len(list(devices.glob("nvidia[0-9]*"))))]
    found: list[str] = []
    for name in (word.strip() for word in environment[VARIABLE].split(",")):
        if not name or name.startswith("-") or name == "NoDevFiles":
            break
        found.append(name)
    return found


@contextmanager
def one_gpu(device: str, gpus: Sequence[str] | None = None, locks: Path | None = None) -> Iterator[str | None]:
    """Reserve one of the visible GPUs while the block runs; the block only sees that GPU, as ``cuda:0``.

    Does nothing and yields None if there is no choice: ``device`` is neither ``auto`` nor ``cuda``, or fewer
    than two GPUs are visible. Waits while all of them are reserved.
    """
    gpus = visible_gpus() if gpus is None else gpus
    if device not in ("auto", "cuda") or len(gpus) < 2:
        yield None
        return
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        raise RuntimeError(f"CUDA was initialised before a GPU was chosen; {VARIABLE} would have no effect")
    gpu, lock = _take(gpus, _lock_folder() if locks is None else locks)
    changed = {VARIABLE: gpu, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}  # an index means the same device in every job
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield gpu
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        lock.close()


def _lock_folder() -> Path:
    """One folder per user, because lock files of other users cannot be opened for writing."""
    return Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"cgnn-gpus-{os.getuid()}"


def _take(gpus: Sequence[str], folder: Path) -> tuple[str, IO[bytes]]:
    folder.mkdir(parents=True, exist_ok=True)
    waiting = False
    while True:
        for gpu in gpus:
            # A MIG slice is named MIG-GPU-<uuid>/<instance>/<instance>.
            lock = open(folder / f"{gpu.replace('/', '_')}.lock", "ab")  # noqa: SIM115
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return gpu, lock
            except BlockingIOError:
                lock.close()
        if not waiting:
            print(f"waiting for one of the GPUs {', '.join(gpus)}", file=sys.stderr)
            waiting = True
        time.sleep(POLL_SECONDS)
