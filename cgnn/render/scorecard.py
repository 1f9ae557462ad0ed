"""index.html: one page that needs nothing else. Claims, tables down to the rows behind each cell, figures, searches."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.account import cost, provenance, read
from cgnn.files import write_text
from cgnn.models import names
from cgnn.paper.reported import load_reported
from cgnn.render.products import load_claims, load_figures, load_tables

PAGE = Path(__file__).parent / "page"
#: What a reader sees of a row behind a cell; columns that are empty everywhere are left out.
SHOWN = (
    "dataset",
    "split_kind",
    "split",
    "model",
    "preset",
    "hyperparameter_source",
    "variant",
    "method",
    "value",
    "replica",
    "status",
    "test_accuracy",
    "validation_accuracy",
    "best_epoch",
    "test_final_epoch",
    "test_last_best_validation",
    "test_oracle",
    "seconds_per_epoch",
    "peak_bytes",
    "lr",
    "weight_decay",
    "hidden",
    "dropout",
    "t1",
    "alpha",
    "gamma",
    "layers",
    "seed",
    "code_fingerprint",
    "split_sha256",
)
#: What ends an address or its attribute, or means something else in it.
ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "%#<>&\"'"})
TRIALS = ("dataset", "split_kind", "model", "preset", "trial", "status", "objective")


def write_scorecard(results: Path, reported: Path, out: Path) -> int:
    """Write the page and return its size in bytes."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    content = scorecard_data(results)
    page = environment.get_template("page.html.jinja").render(
        paper=load_reported(reported).raw["paper"],
        claims=content["claims"],
        tables=content["tables"],
        figures=content["figures"],
        cost=cost(results),
        origin=provenance(results),
        style=(PAGE / "page.css").read_text(encoding="utf-8"),
        script=(PAGE / "page.js").read_text(encoding="utf-8"),
        data=_for_script({"rows": content["rows"], "trials": content["trials"], "tables": content["tables"]}),
    )
    write_text(out, page)
    return len(page.encode())


def scorecard_data(results: Path) -> dict[str, Any]:
    """All that the page shows, as plain values."""
    return {
        "claims": load_claims(results),
        "tables": load_tables(results),
        "figures": {
            name: {**words, "source": _data_uri(results / "figures" / f"{name}.svg")}
            for name, words in load_figures(results).items()
        },
        "rows": {
            name: compact(_shown(frame))
            for name in ("runs", "sweeps", "fidelity", "profiles")
            if (frame := read(results / f"{name}.csv")) is not None
        },
        "trials": _trials(results),
    }


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns for a reader; of a hash the digits that tell it from the others, all of them are in the CSV."""
    shown = frame[[column for column in SHOWN if column in frame.columns]]
    return shown.assign(split_sha256=shown["split_sha256"].str[:12]) if "split_sha256" in shown else shown


def compact(frame: pd.DataFrame) -> dict[str, Any]:
    """Columns once, then rows as lists, numbers with the digits that mean something."""
    frame = frame.dropna(axis="columns", how="all")
    return {
        "columns": list(frame.columns),
        "rows": [[_plain(value) for value in row] for row in frame.itertuples(index=False)],
    }


def _trials(results: Path) -> dict[str, Any] | None:
    frame = read(results / "trials.csv")
    if frame is None or frame.empty:
        return None
    parameters = [column for column in frame.columns if column not in (*TRIALS, "seconds", "id")]
    table = compact(frame[[*(name for name in TRIALS if name in frame.columns), *parameters]])
    kept = [name for name in parameters if name in table["columns"]]
    numeric = [name for name in kept if pd.api.types.is_numeric_dtype(frame[name])]
    labels = {name: names.model(name) for name in frame["model"].unique()} | {
        name: names.dataset(name) for name in frame["dataset"].unique()
    }
    return {**table, "parameters": numeric, "labels": labels}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.5g}")
    value = value.item() if hasattr(value, "item") else value
    # Seeds have 63 bits; a browser's numbers keep 53.
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def _data_uri(path: Path) -> str:
    """Escaped where it must be: a third smaller than base64."""
    text = " ".join(path.read_text(encoding="utf-8").split())
    return "data:image/svg+xml;charset=utf-8," + text.translate(ESCAPED)


def _for_script(content: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")
