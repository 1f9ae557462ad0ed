"""Publish the part of a results tree that is committed, and write the README's headline from it."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from cgnn.analysis.claims.base import claim_count, count_verdicts
from cgnn.errors import UserError
from cgnn.files import sha256_of, write_text
from cgnn.pipeline.config import PROJECT
from cgnn.pipeline.crate import CRATE, crate_text
from cgnn.pipeline.manifest import (
    MANIFEST,
    Entry,
    Manifest,
    Run,
    check_made_by_publish,
    check_target,
    check_unmodified,
    read_manifest,
    write_folder,
)
from cgnn.render.headline import compact_table
from cgnn.render.headline import headline as findings

#: Small files that a reader opens or a verdict uses; graphs, Orion's stores, logs and journals are not published.
KEPT = (
    "*.csv",
    "claims.json",
    "bench.json",
    "recorded.npz",
    "paper.pdf",
    "index.html",
    "tables/*.*",
    "figures/*.*",
    "search/*/*/*/*/best.yaml",
    "search/*/*/*/*/plots/*.html",
    "search/plotly.min.js",
)
#: The workflow and the config of the run, copied to the folder ``code/``; the package is identified by its commit.
WORKFLOW = ("Snakefile", "workflow/rules/*.smk", "workflow/schemas/*.yaml")
CODE = "code"
#: What determines a run: the recorded commit is the newest one with the same content.
DECIDING = ("cgnn", "paper", "workflow", "config.yaml")
UNCOMMITTED = "uncommitted"
LARGEST = 2_000_000
PLOTLY = "plotly.min.js"  # larger, and shared by all plots of the searches
BEGIN, END = "<!-- headline: made by `python -m cgnn publish` -->", "<!-- end of headline -->"


def publish(results: Path, target: Path) -> list[str]:
    """Copy the published files from ``results`` to ``target``; delete earlier published files that the run lacks."""
    check_target(target, results)
    check_made_by_publish(target)
    sources = kept_files(results)
    if not sources:
        raise UserError(f"{results}: contains no results; run `snakemake --cores all` first, or give another folder")
    ended = max(path.stat().st_mtime for path in sources.values())
    started = min(path.stat().st_mtime for path in results.rglob("*") if path.is_file())
    frozen = max(results.glob(".code/*/workflow"), key=lambda path: path.stat().st_mtime, default=None)
    code = PROJECT if frozen is None else frozen.parent
    sources |= workflow_files(code)
    commit = commit_of(code)
    run = Run(commit, ended=_iso(ended), started=_iso(started))
    old = read_manifest(target)
    entries = tuple(_entry(name, path, commit) for name, path in sorted(sources.items()))
    check_unmodified(target, old, {entry.path: entry.sha256 for entry in entries})
    _write(target, sources, old, Manifest(_iso()[:10], (run,), entries))
    return sorted(sources)


def adopt(target: Path, code: Path | None = None, configfiles: Iterable[Path] = ()) -> list[str]:
    """Record the files of a published folder as they are now, and rewrite the crate that describes them.

    This is for folders that were published before manifests existed, and for files that a later version of the code
    rewrote; these are recorded with its commit. ``code`` is a checkout of the commit that produced the run.
    """
    check_target(target)
    sources = kept_files(target)
    if "runs.csv" not in sources:
        raise UserError(f"{target}: contains no runs.csv, so it is not a published run; give another folder with --out")
    old, copied = read_manifest(target), {}
    earlier = tuple(entry for entry in old.files if entry.path.startswith(f"{CODE}/"))
    if code is None:
        sources |= {entry.path: target / entry.path for entry in earlier if (target / entry.path).is_file()}
    else:
        copied = workflow_files(code, configfiles)
        check_unmodified(target, Manifest(files=earlier), {name: sha256_of(path) for name, path in copied.items()})
    sources |= copied
    run = Run(commit_of(code or PROJECT), ended=_commit_time(target / "runs.csv"))
    entries = []
    for name, path in sorted(sources.items()):
        entry, known = _entry(name, path, run.commit), old.by_path.get(name)
        entries.append(known if known is not None and known.sha256 == entry.sha256 else entry)
    used = {entry.commit for entry in entries}
    runs = {known.commit: known for known in (run, *old.runs) if known.commit in used}
    _write(target, sources, old, Manifest(_iso()[:10], tuple(runs.values()), tuple(entries)), adopting=True)
    return sorted(sources)


def kept_files(results: Path) -> dict[str, Path]:
    """The files of a results tree that are published, by their path in it."""
    found = {
        path.relative_to(results).as_posix(): path
        for pattern in KEPT
        for path in sorted(results.glob(pattern))
        if path.is_file()
    }
    for path in found.values():
        if path.stat().st_size > LARGEST and path.name != PLOTLY:
            raise UserError(f"{path}: {path.stat().st_size} bytes, at most {LARGEST} are committed")
    return found


def workflow_files(code: Path, configfiles: Iterable[Path] = ()) -> dict[str, Path]:
    """The workflow and the config of a run, from its copy of the code or from a checkout."""
    found = [path for pattern in WORKFLOW for path in sorted(code.glob(pattern))]
    resolved = code / "resolved_config.json"
    found += [resolved] if resolved.is_file() else [code / "config.yaml", *(code / path for path in configfiles)]
    files = {f"{CODE}/{path.relative_to(code).as_posix()}": path for path in found}
    # The copy of the code in a run contains the rules, but not the entry file, which only includes them.
    return {f"{CODE}/Snakefile": PROJECT / "Snakefile", **files}


def commit_of(code: Path) -> str:
    """The newest commit whose code equals that in the folder ``code``, which need not be a checkout itself."""
    git = ["git", "-C", str(PROJECT if (code / "resolved_config.json").is_file() else code)]
    paths = ["--", *(name for name in DECIDING if (code / name).exists())]
    candidates = _git(*git, "rev-list", "--max-count=100", "HEAD", *paths)
    if not candidates:
        return UNCOMMITTED
    compare = ["git", f"--git-dir={_git(*git, 'rev-parse', '--absolute-git-dir')}", f"--work-tree={code.resolve()}"]
    if _git(*compare, "ls-files", "--others", "--exclude-standard", *paths):
        return UNCOMMITTED
    for commit in candidates.split():
        if _git(*compare, "diff", "--quiet", commit, *paths) is not None:
            return commit
    return UNCOMMITTED


def _git(*command: str) -> str | None:
    """The output of a git command, or None if it fails or there is no git."""
    try:
        # Comparing another folder must not write its timestamps to the index.
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _commit_time(path: Path) -> str:
    """When a committed file was last changed, which is the only time that a clone preserves."""
    found = _git("git", "-C", str(path.parent), "log", "-1", "--format=%ct", "--", path.name)
    return _iso(float(found) if found else path.stat().st_mtime)


def _iso(timestamp: float | None = None) -> str:
    moment = datetime.now(UTC) if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    return moment.isoformat(timespec="seconds")


def _entry(name: str, path: Path, commit: str) -> Entry:
    return Entry(name, sha256_of(path), path.stat().st_size, commit)


def _write(target: Path, sources: Mapping[str, Path], old: Manifest, new: Manifest, *, adopting: bool = False) -> None:
    """Write the files, the crate that describes them and, last, the manifest of all of them."""
    before = {entry.path: entry.sha256 for entry in old.files if entry.path != CRATE}
    if {entry.path: entry.sha256 for entry in new.files} == before:  # nothing changed: the date and the commits stay
        new = Manifest(old.date, old.runs, tuple(entry for entry in old.files if entry.path != CRATE))
    crate = crate_text(new, sources)
    digest = hashlib.sha256(crate.encode()).hexdigest()
    if not adopting:
        recorded = tuple(entry for entry in old.files if entry.path == CRATE)
        check_unmodified(target, Manifest(files=recorded), {CRATE: digest})
    described = Entry(CRATE, digest, len(crate.encode()), new.runs[0].commit)
    manifest = Manifest(new.date, new.runs, (*new.files, described))

    def generate(folder: Path) -> None:
        write_text(folder / CRATE, crate)
        write_text(folder / MANIFEST, manifest.dump())

    write_folder(target, sources, set(old.by_path) - set(manifest.by_path), generate)


def headline(published: Path) -> str:
    """The generated part of the README: the findings, the main table next to the paper's, one figure, the verdicts."""
    claims = json.loads((published / "claims.json").read_text(encoding="utf-8"))
    counted = ", ".join(count_verdicts(claims["counts"]))
    sentences = [f"{i}. {sentence.text}" for i, sentence in enumerate(findings(published), start=1)]
    folder = published.as_posix()
    parts = ["\n".join(sentences), compact_table(published)]
    figure = published / "figures" / "forest_compact.png"
    if figure.is_file():
        caption = json.loads(figure.with_suffix(".json").read_text(encoding="utf-8"))["alt"]
        parts.append(f"![{caption}]({figure.as_posix()})")
    parts.append(
        f"The paper's {claim_count(claims['claims'])}, tested: {counted}. Read the [PDF]({folder}/paper.pdf), the "
        f"[page]({folder}/index.html), the [verdicts]({folder}/tables/claims.md) or the [findings](docs/findings.md)."
    )
    return "\n\n".join(parts)


def renew_readme(readme: Path, text: str) -> None:
    """Replace the text between the two markers of the headline with ``text``."""
    page = readme.read_text(encoding="utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise UserError(f"{readme}: expected the markers {BEGIN!r} and {END!r} once each; restore them")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    write_text(readme, f"{before}{BEGIN}\n{text}\n{END}{after}")
