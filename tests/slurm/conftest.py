"""A real one-node Slurm cluster for these tests, and copies of the project to run on it."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PREFIX = Path(os.environ.get("TMPDIR", "/tmp")) / "cgnn-slurm"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slurm_full" in (config.getoption("markexpr") or ""):
        return
    for item in items:
        if item.get_closest_marker("slurm_full"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; run it with: pytest -m slurm_full tests/slurm"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Path]:
    """The folder of a running cluster. All workers share it; the last one to end stops it."""
    if os.getuid() != 0:
        pytest.skip("starting a Slurm cluster needs root")
    if not Path("/etc/debian_version").is_file():
        pytest.skip("the test cluster needs Debian's packages, and this system is not Debian")
    missing = [name for name in ("munged", "slurmctld", "slurmd", "slurmdbd", "mariadbd") if not shutil.which(name)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; sudo tests/slurm/up.sh installs them")
    environment = {**os.environ, "PREFIX": str(PREFIX)}
    PREFIX.mkdir(exist_ok=True)
    with open(PREFIX / "starting", "w") as starting, open(PREFIX / "used", "w") as used:
        fcntl.flock(starting, fcntl.LOCK_EX)
        by_hand = (PREFIX / "pid" / "slurmctld").is_file() and not (PREFIX / "by-tests").is_file()
        fcntl.flock(used, fcntl.LOCK_SH)
        up = subprocess.run([HERE / "up.sh"], env=environment, capture_output=True, text=True)
        if up.returncode != 0:
            subprocess.run([HERE / "down.sh"], env=environment)
            pytest.fail(f"the cluster does not start:\n{up.stdout}{up.stderr}")
        if not by_hand:
            (PREFIX / "by-tests").touch()
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield PREFIX
        try:
            fcntl.flock(used, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not by_hand:
            subprocess.run([HERE / "down.sh", "--purge"], env=environment, check=True)


@dataclass(frozen=True)
class Project:
    """A copy of the project with a separate config, so that a test may edit its code."""

    folder: Path
    started: list[subprocess.Popen] = field(default_factory=list)

    def snakemake(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments, "--configfile", "test.yaml"]

    def on_slurm(self, *arguments: str) -> list[str]:
        # Check the status after 2 s instead of the default, which is longer to spare a busy controller.
        quick = "--slurm-init-seconds-before-status-checks", "2"
        return self.snakemake(*arguments, "--profile", "workflow/profiles/slurm", *quick)

    def run(self, command: list[str], timeout: float = 540) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=_environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=timeout, start_new_session=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-8000:]
        return done.stdout

    def start(self, command: list[str]) -> subprocess.Popen:
        with open(self.folder / "output.log", "w") as log:
            # A separate session, because snakemake may signal its whole process group, which includes pytest.
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=_environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Tests that run in the background ignore SIGINT, and child processes inherit that.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.started.append(process)
        return process

    def finish(self, process: subprocess.Popen, timeout: float = 500) -> str:
        """Wait for a snakemake that was started, and return its output."""
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        output = (self.folder / "output.log").read_text()
        assert code == 0, output[-8000:]
        return output

    def results(self) -> dict[str, str]:
        """The content of every file of rows that a job wrote, without the times."""
        top = self.folder / "results" / "test"
        files = [
            path for kind in ("runs", "search") for path in (top / kind).rglob("*") if path.suffix in (".csv", ".yaml")
        ]
        return {
            str(path.relative_to(top)): path.read_text() for path in files if not path.name.endswith(".seconds.csv")
        }

    def trainings(self) -> list[dict[str, str]]:
        """The environments of the `cgnn train` processes of this project that run on the cluster now."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().split(b"\0")
                if b"train" not in command or (process / "cwd").resolve() != self.folder:
                    continue
                words = (process / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # the process has ended
            environment = dict(word.split("=", 1) for word in words if "=" in word)
            if "SLURM_JOB_ID" in environment:
                found.append(environment)
        return found

    def wait_for_training(self, process: subprocess.Popen, seconds: float = 300) -> dict[str, str]:
        """The environment of the first training that runs."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None:
            if running := self.trainings():
                return running[0]
            time.sleep(0.1)
        raise AssertionError("no training was started:\n" + (self.folder / "output.log").read_text()[-8000:])


def _environment() -> dict[str, str]:
    # The test must not depend on the threads and paths of the test runner.
    return {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="session")
def copy_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[dict], Project]]:
    """``copy_project(config)`` is a fresh copy of the project, with that config as an overlay."""

    copies: list[Project] = []

    def copy(config: dict) -> Project:
        folder = tmp_path_factory.mktemp("project").resolve()
        for name in ("cgnn", "paper", "workflow", "config"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Snakefile", "config.yaml", "environment.yml", "requirements.lock", "CITATION.cff"):
            shutil.copy(ROOT / name, folder)
        (folder / "profiles").symlink_to("workflow/profiles")
        (folder / "test.yaml").write_text(yaml.safe_dump(config))
        copies.append(Project(folder))
        return copies[-1]

    yield copy
    for process in (process for project in copies for process in project.started):
        if process.poll() is None:  # its test failed; SIGINT makes snakemake cancel its jobs
            process.send_signal(signal.SIGINT)
            process.wait(60)


@pytest.fixture(scope="session")
def local_results(copy_project: Callable[[dict], Project]) -> Callable[[dict, str], dict[str, str]]:
    """The results of an uninterrupted run of that config and target on this machine, without Slurm."""
    known: dict[str, dict[str, str]] = {}

    def get(config: dict, *targets: str) -> dict[str, str]:
        key = yaml.safe_dump([config, targets])
        if key not in known:
            project = copy_project(config)
            project.run(project.snakemake(*targets, "--cores", "1"))
            known[key] = project.results()
        return known[key]

    return get
