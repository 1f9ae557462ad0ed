"""The profiles as files: what a user edits, and that Snakemake and the config schema accept them.

The tests in tests/slurm check on a real Slurm which resources they request.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "workflow" / "profiles"


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["slurm", "gpu"])
def test_a_dry_run_accepts_the_profile(profile, tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(yaml.safe_dump({"results": str(tmp_path / "results")}))
    command = [sys.executable, "-m", "snakemake", "-n", "data", "--profile", str(PROFILES / profile)]
    done = subprocess.run(
        [*command, "--configfile", str(overlay)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_a_user_of_slurm_edits_three_lines():
    text = (PROFILES / "slurm" / "config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"EDIT (\d):", text) == ["1", "2", "3"]
    assert yaml.safe_load(text)["config"] == ["jobs={gpu_request: gpu, gpu_partition: gpu}"]


def test_the_slurm_profile_avoids_options_that_are_known_to_lose_results():
    """sacct's "CANCELLED by 0" hangs the run; if an array task or group member fails, finished outputs are deleted."""
    profile = yaml.safe_load((PROFILES / "slurm" / "config.yaml").read_text(encoding="utf-8"))
    assert profile["slurm-status-command"] == "squeue"
    assert not [key for key in profile if "array" in key or "group" in key]
    assert profile["retries"] >= 1
