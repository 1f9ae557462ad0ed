"""The tutorial in docs/data.md works, from the objects of three libraries to the table of results."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cgnn.datasets.own import read_own

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Your own graph") : PAGE.index("## The paper's datasets")]


@pytest.mark.slow
def test_the_tutorial_runs_from_the_page_to_the_table(tmp_path, monkeypatch):
    for library in ("torch_geometric", "pandas", "networkx"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    names: dict = {}
    for language, block in re.findall(r"```(python|bash)\n(.*?)```", SECTION, flags=re.DOTALL):
        if language == "python":
            exec(block, names)
        else:
            done = subprocess.run(["bash", "-euc", block], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    assert names["table"]["count"].to_dict() == {"cgnn": 3, "gcn": 3}
    assert read_own("team", "team.npz").labels.tolist() == [0, 1, 0, -1]
    karate = read_own("karate", "karate.npz")
    assert (karate.num_nodes, karate.num_edges, karate.num_classes) == (34, 78, 2)


def test_the_table_of_arrays_lists_exactly_the_arrays_of_the_format():
    from cgnn.datasets.own import CSR, DESCRIPTION, KNOWN

    listed = set(
        re.findall(r"`([a-z_]+)`", SECTION[SECTION.index("| array |") : SECTION.index("A mistake in the file")])
    )
    assert listed == set(KNOWN) - set(DESCRIPTION) - {"features_mode"}
    assert set(CSR) <= listed
