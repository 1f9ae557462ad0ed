"""The last lines that a run prints: its findings, its duration and the files to open."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: The files to open first, in this order.
SHOWN = {
    "index.html": "page",
    "paper.pdf": "paper",
    "tables": "tables",
    "figures": "figures",
    "logs": "log of each job",
}


#: The paper's protocol.
FULL = {"epochs": 400, "seeds": 10, "random_splits": 15}


def preview_of(config: Mapping[str, Any]) -> str | None:
    """``preview: 40 epochs, 3 seeds`` for a config with a smaller budget than the paper's, else None."""
    protocol = config["protocol"]
    if all(protocol[name] >= count for name, count in FULL.items()):
        return None
    return f"preview: {protocol['epochs']} epochs, {protocol['seeds']} seeds"


def closing(results: str, preview: str | None, seconds: float) -> str:
    """The text. ``preview`` is the budget of a small run, which gives no verdicts; None for the whole paper."""
    folder = Path(results)
    claims = folder / "claims.json"
    lines = []
    if preview and claims.is_file():
        lines.append(f"{preview} (no verdicts; `make paper` runs the full budget)")
    elif claims.is_file():
        from cgnn.analysis.claims.base import count_verdicts  # imports pandas, which the start of a run does not need

        counts = json.loads(claims.read_text(encoding="utf-8"))["counts"]
        lines.append(f"claims: {', '.join(count_verdicts(counts))}")
    lines.append(f"finished in {_duration(seconds)}")
    paths = {f"{folder}/{name}": what for name, what in SHOWN.items() if (folder / name).exists()}
    width = max(map(len, paths), default=0)
    lines += [f"  {path:<{width}}  {what}" for path, what in paths.items()]
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
