"""What a run prints: Snakemake runs a few jobs, and one that fails, with the logger plugin."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from cgnn.pipeline.closing import closing

PLUGIN = Path(__file__).parents[2] / "workflow" / "terminal"
SNAKEFILE = """
onsuccess:
    from snakemake.logging import logger
    logger.info("the closing lines", extra={"closing": True})
rule all:
    input: expand("{i}.txt", i=range(3)), "table.md", ["bad.txt"] if config.get("bad") else []
rule train:
    output: "{i,[0-9]+}.txt"
    log: "{i}.log"
    message: "train {wildcards.i}"
    shell: "echo warning > {log}; echo 'test {wildcards.i}.5' >> {log}; touch {output}"
rule build_table:
    output: "table.md"
    log: "table.log"
    message: "build the table"
    shell: "echo {output} > {log}; touch {output}"
rule bad:
    output: "bad.txt"
    log: "bad.log"
    shell: "seq 100 130 > {log}; false"
"""


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--logger", "cgnn", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(PLUGIN)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return snakemake(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    return snakemake(tmp_path_factory.mktemp("failed"), "--keep-going", "--config", "bad=1")


def test_each_finished_job_prints_one_line_with_a_counter_and_its_result(run):
    assert run.returncode == 0, run.stderr
    lines = [line for line in run.stderr.splitlines() if line.startswith("[")]
    assert [line[:5] for line in lines] == ["[1/5]", "[2/5]", "[3/5]", "[4/5]", "[5/5]"]
    for text in ("test 0.5", "test 1.5", "test 2.5", "build the table"):
        assert sum(text in line for line in lines) == 1
    assert all(re.search(r"\d+ (s|min|h) left", line) for line in lines[:-1])
    assert "left" not in lines[-1]


def test_the_time_left_is_a_lower_bound_until_most_jobs_are_of_rules_that_were_timed():
    sys.path.insert(0, str(PLUGIN))
    try:
        from snakemake_logger_plugin_cgnn import Estimate
    finally:
        sys.path.remove(str(PLUGIN))
    estimate = Estimate(Counter({"search": 3, "train": 10, "all": 1}), started=0.0)
    assert estimate.left(0.0) == ""
    estimate.add("search", 600.0)
    assert estimate.left(600.0) == "at least 20 min left"  # two searches; nothing is known of ten trainings
    estimate.add("train", 60.0)
    # 2 × 600 s, 9 × 60 s, and one job of an unknown rule at the mean of 330 s
    assert estimate.left(660.0) == "34 min left"


def test_few_other_lines_are_printed_and_the_closing_lines_follow_the_last_job(run):
    lines = run.stderr.splitlines()
    assert len(lines) <= 9
    assert lines.index("the closing lines") > max(i for i, line in enumerate(lines) if line.startswith("["))
    assert "full log  .snakemake/log/" in run.stderr


def test_a_failure_shows_the_end_of_its_log_and_its_command(failed):
    assert failed.returncode != 0
    assert "FAILED  bad: bad.txt" in failed.stderr
    assert "    130" in failed.stderr and "    111" in failed.stderr and "    110\n" not in failed.stderr
    assert "  shell:\n    seq 100 130 > bad.log; false" in failed.stderr
    assert "test 2.5" in failed.stderr  # jobs that do not depend on it continued
    assert "the closing lines" not in failed.stderr


def test_the_closing_lines_contain_verdicts_time_and_the_page_to_open(tmp_path):
    (tmp_path / "claims.json").write_text(json.dumps({"counts": {"reproduced": 5, "partly": 0}}))
    (tmp_path / "index.html").touch()
    text = closing(str(tmp_path), None, 3725)
    assert "claims: 5 reproduced\nfinished in 1 h 2 min\n" in text
    assert f"{tmp_path}/index.html" in text and "paper.pdf" not in text


def test_a_small_budget_is_a_preview_without_verdicts(tmp_path):
    (tmp_path / "claims.json").write_text(json.dumps({"counts": {"reproduced": 5}}))
    text = closing(str(tmp_path), "preview: 40 epochs, 3 seeds", 200)
    assert text.startswith("preview: 40 epochs, 3 seeds") and "reproduced" not in text
    assert "finished in 3 min 20 s" in text
