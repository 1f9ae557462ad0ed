"""index.html: findings, claims, tables with the rows of each cell, figures and searches in one file."""

import base64
import gzip
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.account import cost, provenance, read
from cgnn.files import write_text
from cgnn.models import names
from cgnn.paper.reported import load_reported
from cgnn.render.budget import preview_text
from cgnn.render.headline import headline
from cgnn.render.products import load_claims, load_figures, load_tables

PAGE = Path(__file__).parent / "page"
#: Columns shown for the rows of a cell; columns that are empty everywhere are left out.
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
#: Characters that must be escaped in a URL inside an attribute.
ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "%#<>&\"'"})
TRIALS = ("dataset", "split_kind", "model", "preset", "trial", "round", "status", "objective", "mean", "replicas")
#: Files next to the page that the page links to, and their content.
FILES = {
    "runs.csv": "trainings of Tables 2 and 3 and of the residual GCN",
    "summary.csv": "mean and interval of each cell",
    "sweeps.csv": "trainings of Figure 2",
    "fidelity.csv": "trainings of the fidelity table",
    "profiles.csv": "time and memory of training steps",
    "trials.csv": "trials of the hyperparameter searches",
    "convergence.csv": "distance to the fixed point",
    "claims.json": "claims with all comparisons",
}
#: The tables and figures that show the evidence for a claim.
TABLES_OF_CLAIM = {
    "C1": ("fixed_splits",),
    "C2": ("random_splits", "split_rules"),
    "C3": ("fixed_splits", "random_splits", "propagation"),
    "C4": ("fixed_splits", "random_splits"),
    "C11": ("running_time", "speed"),
    "C12": ("gcn_residual",),
    "C13": ("fidelity",),
}
FIGURES_OF_CLAIM = {
    "C1": ("forest",),
    "C2": ("forest",),
    "C3": ("forest",),
    "C4": ("forest",),
    "C5": ("accuracy_depth_time",),
    "C6": ("accuracy_depth_time",),
    "C7": ("accuracy_depth_time",),
    "C8": ("memory_depth_time",),
    "C9": ("memory_depth_time",),
    "C10": ("convergence",),
    "C11": ("speed_accuracy",),
    "C12": ("accuracy_depth_time",),
}
#: The colour of text and axes in our figures, which the page replaces in its dark theme.
INK = "#333333"


def write_scorecard(results: Path, reported: Path, out: Path, citation: Path = Path("CITATION.cff")) -> int:
    """Write the page and return its size in bytes."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    content = scorecard_data(results)
    runs = read(results / "runs.csv")
    preview = None if runs is None else preview_text(runs)
    page = environment.get_template("page.html.jinja").render(
        paper=load_reported(reported).raw["paper"],
        preview=preview,
        findings=[] if preview or not content["claims"] else content["findings"],
        claims=content["claims"],
        seen_in=_seen_in(content),
        tables=content["tables"],
        figures=content["figures"],
        files={name: what for name, what in FILES.items() if (results / name).is_file()},
        repository=_repository(citation, out),
        cost=cost(results),
        origin=provenance(results),
        style=(PAGE / "page.css").read_text(encoding="utf-8"),
        script=(PAGE / "page.js").read_text(encoding="utf-8"),
        data=_for_script({"rows": content["rows"], "trials": content["trials"], "tables": content["tables"]}),
    )
    write_text(out, page)
    return len(page.encode())


def scorecard_data(results: Path) -> dict[str, Any]:
    """The content of the page, as plain values."""
    claims = load_claims(results)
    return {
        "claims": claims,
        "findings": headline(results),
        "tables": load_tables(results),
        "figures": {
            name: {**words, **_picture(results / "figures" / f"{name}.svg")}
            for name, words in load_figures(results).items()
        },
        "rows": {
            name: compact(_shown(frame))
            for name in ("runs", "sweeps", "fidelity", "profiles")
            if (frame := read(results / f"{name}.csv")) is not None
        },
        "trials": _trials(results),
    }


def _seen_in(content: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """The tables and figures of this page for each claim, and the claims for each table and figure."""
    found: dict[str, dict[str, list[str]]] = {"claims": {}, "table": {}, "figure": {}}
    for claim in (content["claims"] or {"claims": []})["claims"]:
        number = re.match(r"C\d+", claim["id"])
        for kind, places in (("table", TABLES_OF_CLAIM), ("figure", FIGURES_OF_CLAIM)):
            for name in places.get(number[0] if number else "", ()):
                if name in content[f"{kind}s"]:
                    found["claims"].setdefault(claim["id"], []).append(f"{kind}-{name}")
                    found[kind].setdefault(name, []).append(claim["id"])
    return found


def _repository(citation: Path, out: Path) -> str:
    """The URL of the repository in CITATION.cff, or else the relative path from the page to the README."""
    if citation.is_file():
        import yaml

        address = (yaml.safe_load(citation.read_text(encoding="utf-8")) or {}).get("repository-code")
        if address:
            return str(address)
    return os.path.relpath(citation.parent / "README.md", out.parent)


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The shown columns; hashes are shortened to the digits that distinguish them (the CSV has all digits)."""
    shown = frame[[column for column in SHOWN if column in frame.columns]]
    return shown.assign(split_sha256=shown["split_sha256"].str[:12]) if "split_sha256" in shown else shown


def compact(frame: pd.DataFrame) -> dict[str, Any]:
    """Column names once, then rows as lists, with numbers rounded to meaningful digits."""
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
    # Seeds have 63 bits, but JavaScript numbers are exact only up to 53 bits.
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def _picture(path: Path) -> dict[str, Any]:
    """The figure as an escaped data URL, which is a third smaller than base64.

    ``themed`` figures have text in one known colour and no background, so they follow the page's dark theme.
    ``wide`` figures use the full width of the page.
    """
    text = " ".join(path.read_text(encoding="utf-8").split())
    box = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', text)
    return {
        "source": "data:image/svg+xml;charset=utf-8," + text.translate(ESCAPED),
        "themed": INK in text,
        "wide": box is not None and float(box[1]) > 1.2 * float(box[2]),
    }


def _for_script(content: Any) -> str:
    """JSON, compressed and in base64: a page of some thousand rows is then a third of the size."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
