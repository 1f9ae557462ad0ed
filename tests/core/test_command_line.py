"""``python -m cgnn``: its commands, exit codes and error messages."""

import subprocess
import sys

import pytest

import cgnn
from cgnn.__main__ import COMMANDS, GROUPS, RULES, main


def test_every_command_has_a_line_of_help_in_one_group(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    titles = [*GROUPS, RULES]
    assert [title for title in titles if f"\n{title}:\n" in shown] == titles
    starts = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and not line.startswith("   ")]
    assert sorted(word for word in starts if not word.startswith("-")) == COMMANDS
    assert max(map(len, shown.splitlines())) <= 100


def test_without_a_command_the_overview_is_shown(capsys):
    assert main([]) == 2
    assert f"\n{RULES}:\n" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_shows_its_own_help(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"cgnn {command}" in capsys.readouterr().out


def test_help_shows_the_default_of_an_option(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "auto, cpu, cuda or cuda:INDEX (default: auto)" in shown
    assert "column `variant` (default" not in shown  # an empty default is not shown
    assert "(default: None)" not in shown and "(default: [])" not in shown


def test_an_unknown_command_is_refused_with_a_list_of_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fecth"])
    assert ended.value.code == 2
    assert "fetch" in capsys.readouterr().err


def test_a_user_error_is_one_line_without_a_traceback(tmp_path):
    command = [sys.executable, "-m", "cgnn", "split", "--graph", "absent.npz", "--name", "fixed", "--out", "s.json"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr.startswith("cgnn split: absent.npz: there is no such file")
    assert "Traceback" not in finished.stderr


def test_help_imports_no_heavy_package(modules_after):
    imported = modules_after("from cgnn.__main__ import main; main(['--help'])")
    assert not imported & {"torch", "pandas", "orion", "matplotlib", "snakemake"}


def test_the_library_exports_its_names_and_no_others():
    assert cgnn.Graph.__name__ == "Graph"
    with pytest.raises(AttributeError, match="no attribute 'Grph'"):
        cgnn.Grph  # noqa: B018
