"""Which part of a results tree is committed, and how the README's headline is made from it."""

import json
import shutil
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.files import atomic_path, write_text

#: Small files a reader opens; graphs, Orion's stores, logs and journals stay behind.
KEPT = (
    "*.csv",
    "claims.json",
    "paper.pdf",
    "index.html",
    "tables/*.*",
    "figures/*.*",
    "search/*/*/*/*/best.yaml",
)
LARGEST = 2_000_000
BEGIN, END = "<!-- headline: made by `python -m cgnn publish` -->", "<!-- end of headline -->"


def publish(results: Path, target: Path) -> list[Path]:
    """Copy what is kept from ``results`` to ``target``, and drop there what the run no longer has."""
    files = sorted({path for pattern in KEPT for path in results.glob(pattern) if path.is_file()})
    if not files:
        raise UserError(f"{results}: holds no results; run `snakemake --cores all` first, or name another folder")
    for path in files:
        if path.stat().st_size > LARGEST:
            raise UserError(f"{path}: {path.stat().st_size} bytes, at most {LARGEST} are committed")
    wanted = {path.relative_to(results) for path in files}
    for old in sorted(target.rglob("*")):
        if old.is_file() and old.relative_to(target) not in wanted:
            old.unlink()
    for relative in sorted(wanted):
        with atomic_path(target / relative) as temporary:
            shutil.copyfile(results / relative, temporary)
    return sorted(wanted)


def headline(published: Path) -> str:
    """The README's opening: verdicts, Tables 2 and 3 beside the paper's, one figure. All of it read from files."""
    claims = json.loads((published / "claims.json").read_text(encoding="utf-8"))
    counted = ", ".join(f"{count} {verdict}" for verdict, count in claims["counts"].items())
    parts = [
        f"**The paper's {len(claims['claims'])} claims, tested:** {counted}. "
        f"Each with its test, effect and interval: [{published.as_posix()}/tables/claims.md]"
        f"({published.as_posix()}/tables/claims.md).",
        verdicts(claims["claims"]),
    ]
    for name in ("fixed_splits", "random_splits"):
        table = published / "tables" / f"{name}.md"
        if table.is_file():
            parts.append(table.read_text(encoding="utf-8").strip())
    figure = published / "figures" / "accuracy_depth_time.png"
    if figure.is_file():
        parts.append(f"![Accuracy against layers or ending time]({figure.as_posix()})")
    return "\n\n".join(parts)


def verdicts(claims: list[dict[str, Any]]) -> str:
    """A line a claim: what it says and how it fared; what was not tested is counted."""
    lines = ["|  | claim | verdict | comparisons passed |", "| --- | --- | --- | --- |"]
    for claim in claims:
        passed = [item["passed"] for item in claim["comparisons"]]
        untested = f", {len(claim['missing'])} not run" if claim["missing"] else ""
        cells = (claim["id"], claim["text"], claim["verdict"], f"{sum(map(bool, passed))} of {len(passed)}{untested}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def renew_readme(readme: Path, text: str) -> None:
    """Put ``text`` between the headline's two marks."""
    page = readme.read_text(encoding="utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise UserError(f"{readme}: expected the marks {BEGIN!r} and {END!r} once each; put them back")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    write_text(readme, f"{before}{BEGIN}\n{text}\n{END}{after}")
