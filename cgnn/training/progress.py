"""Show progress: a bar on a terminal, an occasional line in a log."""

import sys
import time
from typing import Any

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Call ``epoch`` after each epoch; if replicas are trained side by side, an epoch of all of them counts as one."""

    def __init__(self, label: str, epochs: int, replicas: int) -> None:
        self.label, self.epochs, self.replicas = label, epochs, replicas
        self.done = 0
        self.started = self.last_line = time.monotonic()
        self.bar: Any = None
        if sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=epochs * replicas, desc=label, unit="epoch", leave=False)

    def epoch(self) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update()
            return
        now = time.monotonic()
        if now - self.last_line > SECONDS_BETWEEN_LINES:
            self.last_line = now
            replica, epoch = divmod(self.done, self.epochs)
            each = 1000 * (now - self.started) / self.done
            print(
                f"{self.label}: replica {min(replica + 1, self.replicas)} of {self.replicas}, "
                f"epoch {epoch} of {self.epochs}, {each:.1f} ms per epoch",
                file=sys.stderr,
                flush=True,
            )

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
