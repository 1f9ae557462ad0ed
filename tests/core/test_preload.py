"""A command in the preloaded process has the same results, streams and exit code, and leaves no process running."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cgnn.pipeline import preload

TRAIN = ["train", "--dataset", "synthetic", "--model", "gcn", "--epochs", "3"]
STARTER = (
    "import os, sys; from pathlib import Path; from cgnn.pipeline import preload; preload.start(Path(sys.argv[1])); "
    "print(os.environ[preload.VARIABLE], flush=True); sys.stdin.read()"
)


def wait_until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def server(project):
    """The environment of a job in a workflow that started a server; the server must end when the workflow is killed."""
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, project], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=project
    )
    path = Path(starter.stdout.readline().strip())
    wait_until(path.exists)
    yield {**os.environ, preload.VARIABLE: str(path)}
    starter.kill()
    wait_until(lambda: not path.parent.exists())


def without_server(environment):
    return {name: value for name, value in environment.items() if name != preload.VARIABLE}


def run(arguments, environment, folder):
    command = [sys.executable, "-m", "cgnn", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=folder)


def test_a_training_in_the_preloaded_process_writes_the_same_bytes(server, tmp_path):
    warm = run([*TRAIN, "--out", "warm.csv"], server, tmp_path)
    cold = run([*TRAIN, "--out", "cold.csv"], without_server(server), tmp_path)
    assert warm.returncode == cold.returncode == 0, warm.stderr + cold.stderr
    assert (tmp_path / "warm.csv").read_bytes() == (tmp_path / "cold.csv").read_bytes()
    assert warm.stdout.rpartition(",")[0] == cold.stdout.rpartition(",")[0]  # the rest is the run time


@pytest.mark.parametrize(
    "arguments", [["train", "--dataset", "x", "--model", "gcn", "--out", "x.csv"], ["x"], ["--help"]]
)
def test_messages_and_exit_codes_of_the_preloaded_process_are_the_same(server, tmp_path, arguments):
    warm, cold = run(arguments, server, tmp_path), run(arguments, without_server(server), tmp_path)
    assert (warm.returncode, warm.stdout, warm.stderr) == (cold.returncode, cold.stdout, cold.stderr)
    assert warm.stdout or warm.stderr


def test_a_child_ends_with_the_command_that_requested_it(server, tmp_path):
    command = [sys.executable, "-m", "cgnn", *TRAIN[:-1], "10000000", "--out", "runs.csv"]
    client = subprocess.Popen(command, env=server, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_until(lambda: client.poll() is not None or len(processes_in(tmp_path)) == 2)
    assert client.poll() is None, client.stdout.read().decode()
    client.kill()
    client.wait()
    wait_until(lambda: not processes_in(tmp_path))


def processes_in(folder):
    """The processes whose working directory is ``folder``."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found += [process.name] if (process / "cwd").resolve() == folder.resolve() else []
        except OSError:
            continue  # it has ended
    return found


def test_only_one_user_may_enter_the_folder_of_the_socket(server):
    assert Path(server[preload.VARIABLE]).parent.stat().st_mode & 0o777 == 0o700


def test_the_preloaded_process_starts_with_the_variable_that_makes_torch_use_huge_pages(server):
    """torch reads it at its first allocation, which importing torch_geometric makes before any job starts."""
    variable = b"THP_MEM_ALLOC_ENABLE=" + os.fsencode(os.environ.get("THP_MEM_ALLOC_ENABLE", "1"))
    environments = environments_of(server[preload.VARIABLE])
    assert environments and all(variable in environment.split(b"\0") for environment in environments)


def environments_of(argument):
    """The environments with which the processes started that have this argument."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(argument) in (process / "cmdline").read_bytes().split(b"\0"):
                found.append((process / "environ").read_bytes())
        except OSError:
            continue  # it has ended
    return found


def test_without_a_server_a_command_runs_in_its_own_process(tmp_path):
    environment = {**os.environ, preload.VARIABLE: str(tmp_path / "absent" / "socket")}
    assert run(["--help"], environment, tmp_path).returncode == 0
