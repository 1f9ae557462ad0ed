"""python -m cgnn: verbs, exit codes, errors for people."""

import subprocess
import sys

import pytest

import cgnn
from cgnn.__main__ import VERBS, main


def test_every_verb_has_a_line_of_help(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(verb in shown for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_shows_its_own_help(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert f"cgnn {verb}" in capsys.readouterr().out


def test_an_unknown_verb_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fecth"])
    assert ended.value.code == 2
    assert "fetch" in capsys.readouterr().err


def test_what_a_user_can_mend_is_told_without_a_traceback(tmp_path):
    command = [sys.executable, "-m", "cgnn", "split", "--graph", "absent.npz", "--name", "fixed", "--out", "s.json"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr.startswith("cgnn split: absent.npz: there is no such file")
    assert "Traceback" not in finished.stderr


def test_help_and_light_verbs_load_nothing_heavy():
    code = (
        "import sys\nfrom cgnn.__main__ import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'torch', 'pandas', 'orion', 'matplotlib', 'snakemake'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_the_library_names_are_there_and_others_are_not():
    assert cgnn.Graph.__name__ == "Graph"
    with pytest.raises(AttributeError, match="no attribute 'Grph'"):
        cgnn.Grph  # noqa: B018
