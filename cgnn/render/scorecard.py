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
from markupsafe import Markup

from cgnn.analysis.account import cost, provenance, read
from cgnn.analysis.claims.base import Verdict
from cgnn.analysis.rows import in_order
from cgnn.files import write_text
from cgnn.models import names
from cgnn.paper.reported import CLAIMED, NOT_COMPARABLE, RUNS, Reported, load_reported
from cgnn.render.budget import preview_text
from cgnn.render.catalogue import INPUTS, TABLES
from cgnn.render.headline import headline
from cgnn.render.plots import list_words
from cgnn.render.products import load_claims, load_figures, load_tables
from cgnn.render.protocols import by_protocol, one_line
from cgnn.render.tables import fidelity, hyperparameters

PAGE = Path(__file__).parent / "page"
#: The verdicts as the page explains them; docs/claims.md has the rules.
VERDICTS = {
    Verdict.REPRODUCED: "every comparison passed, or one of them if the claim needs only one.",
    Verdict.PARTLY: "only some passed, or half or more could not be made.",
    Verdict.DEPENDS: "protocols (preset, source of the hyperparameters and the like) for which more than half of the "
    "comparisons could be made give different verdicts.",
    Verdict.NOT_REPRODUCED: "none passed and at least one was contradicted, by the rule for its kind of comparison. A "
    "lead, for example, is contradicted if its whole interval lies below 1 point.",
    Verdict.TOO_FEW_RUNS: "none passed and none was contradicted.",
    Verdict.NOT_TESTABLE: "nothing could be compared.",
}
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
    "input_dropout",
    "dropout",
    "t1",
    "alpha",
    "gamma",
    "layers",
    "seed",
    "code_fingerprint",
    "split_sha256",
)
#: Names of columns in dialogs and plots; others are shown with spaces for underscores.
LABELS = {
    **hyperparameters.SHOWN,
    "lr": "learning rate",
    "hidden": "hidden units",
    "test_oracle": "best test epoch (not a valid protocol)",
    "test_final_epoch": "test, last epoch",
    "test_last_best_validation": "test, last epoch of best validation",
    "objective": "validation, round one",
    "mean": "mean validation, round two",
}
#: The column that a cell shows, by the file of its rows; in other files it is the accuracy.
MEASURED = {"profiles": "seconds_per_epoch", "trials": "mean"}
ACCURACY = "test_accuracy"
#: Characters that must be escaped in a URL inside an attribute.
ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in '%#<>&"'})
SEARCH = ["dataset", "split_kind", "model", "preset"]
TRIALS = (*SEARCH, "trial", "round", "status", "objective", "mean", "replicas")
#: Orion's plots of a search, by file name.
ORION = {
    "parallel_coordinates": "parallel coordinates",
    "regret": "validation error by trial",
    "lpi": "importance of each hyperparameter",
}
#: Files next to the page that the page links to, and their content; braces hold names of tables and figures, which
#: become the titles of those that exist.
FILES = {
    "runs.csv": "trainings of the paper's Tables 2 and 3 and of {propagation, split_rules, gcn_residual}",
    "summary.csv": "mean and interval of each cell",
    "sweeps.csv": "trainings of {accuracy_depth_time}",
    "fidelity.csv": "trainings of {fidelity}",
    "profiles.csv": "time and memory of training steps",
    "bench.json": "benchmark timings of the speed tables",
    "trials.csv": "trials of the hyperparameter searches",
    "convergence.csv": "distance to the fixed point",
    "claims.json": "claims with all comparisons",
}
#: What the paper itself contains, appendix included.
OF_PAPER = {
    "tables": {"datasets", "fixed_splits", "random_splits", "gcn_residual", "running_time", "hyperparameters"},
    "figures": {"architecture", "accuracy_depth_time", "memory_depth_time"},
}
#: The tables and figures that show the evidence for a claim, and the files that its comparisons are computed from.
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
FILES_OF_CLAIM = {
    **dict.fromkeys(("C1", "C2", "C3", "C4"), ("runs.csv",)),
    **dict.fromkeys(("C5", "C6", "C7"), ("sweeps.csv",)),
    **dict.fromkeys(("C8", "C9"), ("profiles.csv",)),
    "C10": ("convergence.csv",),
    "C11": ("bench.json",),
    "C12": ("runs.csv", "sweeps.csv"),
    "C13": ("fidelity.csv", "runs.csv"),
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
    titles = {name: item["title"] for kind in ("tables", "figures") for name, item in content[kind].items()}
    files = {name: _with_titles(what, titles) for name, what in FILES.items() if (results / name).is_file()}
    page = environment.get_template("page.html.jinja").render(
        paper=load_reported(reported).raw["paper"],
        preview=preview,
        findings=[] if preview or not content["claims"] else content["findings"],
        claims=content["claims"],
        verdicts=VERDICTS,
        by_protocol=by_protocol,
        one_line=one_line,
        link_text=_link_text,
        complete=all(OF_PAPER[kind] <= set(content[kind]) for kind in OF_PAPER),
        left_out=list_words(_left_out(runs, load_reported(reported))),
        seen_in=_seen_in(content, set(files)),
        tables=content["tables"],
        figures=content["figures"],
        two_rounds=content["trials"] is not None and "mean" in content["trials"]["columns"],
        files=files,
        recorded=(results / "recorded.npz").is_file(),
        repository=_repository(citation, out),
        cost=cost(results),
        origin=provenance(results),
        style=(PAGE / "page.css").read_text(encoding="utf-8"),
        script=(PAGE / "page.js").read_text(encoding="utf-8"),
        data=_for_script({**{name: content[name] for name in ("rows", "trials", "tables")}, "labels": LABELS}),
    )
    write_text(out, page)
    return len(page.encode())


def scorecard_data(results: Path) -> dict[str, Any]:
    """The content of the page, as plain values."""
    files = ("runs", "sweeps", "fidelity", "profiles", "trials")
    frames = {name: frame for name in files if (frame := read(results / f"{name}.csv")) is not None}
    return {
        "claims": load_claims(results),
        "findings": headline(results),
        "tables": link_cells(load_tables(results), frames),
        "figures": {
            name: {**words, **_picture(results / "figures" / f"{name}.svg")}
            for name, words in load_figures(results).items()
        },
        "rows": {name: compact(_shown(frame)) for name, frame in frames.items() if name != "trials"},
        "trials": _trials(frames.get("trials"), results / "search"),
    }


def link_cells(tables: dict[str, dict[str, Any]], frames: dict[str, pd.DataFrame]) -> dict[str, dict[str, Any]]:
    """Add to each cell the column that it shows (``shows``), and remove the keys (``where``) of cells without rows.

    ``linked`` says whether a table has cells with rows; ``files`` are the data files of a table that has none.
    """
    held: dict[tuple[str, ...], set[tuple[Any, ...]]] = {}  # by file and columns: the values that occur there
    for name, table in tables.items():
        table["linked"] = False
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                where, frame = cell.pop("where", None), frames.get(cell.get("file", ""))
                if not where or frame is None:
                    continue
                keys = [key for key in where if key in frame.columns]
                if (index := (cell["file"], *keys)) not in held:
                    values = frame[keys].astype(object)
                    held[index] = set(values.where(values.notna(), "").itertuples(index=False, name=None))
                if tuple(where[key] for key in keys) in held[index]:
                    shows = _column_of(name, row["label"], column, cell["file"])
                    # A search with one round has no mean.
                    cell |= {"where": where, "shows": shows if shows in frame.columns else "objective"}
                    table["linked"] = True
        inputs = (*TABLES[name].inputs, *TABLES[name].optional)
        table["files"] = [] if table["linked"] else [INPUTS[item] for item in inputs if item in INPUTS]
    return tables


def _column_of(table: str, row: str, column: str, file: str) -> str:
    """The column of the data file that a cell shows."""
    if table == "hyperparameters" and file == "runs":
        return next((name for name, label in hyperparameters.SHOWN.items() if label == column), ACCURACY)
    if table == "fidelity":
        return next((name for name, label in fidelity.SELECTIONS.items() if label == row), ACCURACY)
    return MEASURED.get(file, ACCURACY)


def _left_out(runs: pd.DataFrame | None, reported: Reported) -> list[str]:
    """What of the paper was not run: datasets, the labels that a dataset lacks, and models on a dataset."""
    ran = set() if runs is None else set(zip(runs["model"], runs["dataset"], strict=True))
    held = {dataset for _, dataset in ran}
    partial = {NOT_COMPARABLE[name] for name in held if name in NOT_COMPARABLE}
    missing = [name for name in CLAIMED if name not in NOT_COMPARABLE and name not in held]
    left_out = [
        f"the full labels of {names.dataset(name)}" if name in partial else names.dataset(name) for name in missing
    ]
    return left_out + [
        f"{names.model(model)} on {names.dataset(dataset)}"
        for model in in_order({model for model, _ in ran}, names.MODELS)
        for dataset in in_order(held, names.DATASETS)
        if (model, dataset) not in ran and any(reported.accuracy(dataset, kind, model) for kind in RUNS)
    ]


def _with_titles(text: str, titles: dict[str, str]) -> str:
    def quoted(found: re.Match[str]) -> str:
        names = found[1].split(", ")
        return list_words([f"“{titles[name]}”" for name in names if name in titles] or ["variants"])

    return re.sub(r"{([\w, ]+)}", quoted, text)


def _link_text(title: str) -> str:
    """A title without its second half and without the number of a table, which is the paper's and not our PDF's."""
    words = re.sub(r"^([Tt]he paper's )?Table \d+( of the paper)?[,:] | \([^()]*Table \d+[^()]*\)", "", title)
    return (words[:1].upper() + words[1:]).split(",")[0]


def _seen_in(content: dict[str, Any], files: set[str]) -> dict[str, dict[str, list[str]]]:
    """The tables, figures and files of this page for each claim, and the claims for each table and figure."""
    found: dict[str, dict[str, list[str]]] = {"claims": {}, "files": {}, "table": {}, "figure": {}}
    for claim in (content["claims"] or {"claims": []})["claims"]:
        match = re.match(r"C\d+", claim["id"])
        number = match[0] if match else ""
        for kind, places in (("table", TABLES_OF_CLAIM), ("figure", FIGURES_OF_CLAIM)):
            for name in places.get(number, ()):
                if name in content[f"{kind}s"]:
                    found["claims"].setdefault(claim["id"], []).append(f"{kind}-{name}")
                    found[kind].setdefault(name, []).append(claim["id"])
        needed = FILES_OF_CLAIM.get(number, ())
        # The profiles replace a benchmark that was not run.
        needed = ("profiles.csv",) if needed == ("bench.json",) and "bench.json" not in files else needed
        found["files"][claim["id"]] = [name for name in needed if name in files]
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


def _trials(frame: pd.DataFrame | None, folder: Path) -> dict[str, Any] | None:
    """The trials, and the winner and Orion's plots of each search."""
    if frame is None or frame.empty:
        return None
    parameters = [column for column in frame.columns if column not in (*TRIALS, "seconds", "id")]
    table = compact(frame[[*(name for name in TRIALS if name in frame.columns), *parameters]])
    kept = [name for name in parameters if name in table["columns"]]
    numeric = [name for name in kept if pd.api.types.is_numeric_dtype(frame[name])]
    labels = {name: names.model(name) for name in frame["model"].unique()} | {
        name: names.dataset(name) for name in frame["dataset"].unique()
    }
    searches = {}
    for keys, trials in frame.groupby(SEARCH, sort=False):
        plots = folder.joinpath(*map(str, keys), "plots")
        found = {name: label for name, label in ORION.items() if (plots / f"{name}.html").is_file()}
        searches[" · ".join(map(str, keys))] = {"winner": winner_of(trials), "plots": found}
    return {**table, "parameters": numeric, "labels": labels, "searches": searches}


def winner_of(trials: pd.DataFrame) -> int | None:
    """The trial with the highest mean in round two, or the highest objective if there was no round two."""
    finalists = "mean" in trials.columns and trials["mean"].notna().any()
    column = "mean" if finalists else "objective"
    ranked = trials[trials[column].notna()].sort_values([column, "trial"], ascending=[False, True])
    return int(ranked["trial"].iloc[0]) if len(ranked) else None


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
    text = smaller_svg(path.read_text(encoding="utf-8"))
    box = re.search(r"viewBox='[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)'", text)
    return {
        # Not escaped again by Jinja: the characters that matter in an attribute are escaped already.
        "source": Markup("data:image/svg+xml;charset=utf-8," + text.translate(ESCAPED)),
        "themed": INK in text,
        "wide": box is not None and float(box[1]) > 1.2 * float(box[2]),
    }


def smaller_svg(text: str) -> str:
    """Without comments, with coordinates in hundredths of a point, and with single quotes, which need no escape."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' d="[^"]*"', lambda path: re.sub(r"-?\d+\.\d{3,}", _hundredths, path[0]), text)
    return " ".join(text.split()).replace("> <", "><").replace('"', "'")


def _hundredths(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2):g}"


def _for_script(content: Any) -> str:
    """JSON, compressed and in base64: a page of some thousand rows is then a third of the size."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
