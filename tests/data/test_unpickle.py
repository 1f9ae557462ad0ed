"""A pickle may contain arrays and must not run code."""

import collections
import datetime
import os
import pickle

import pytest

from cgnn.datasets.unpickle import ALLOWED, read_pickle
from cgnn.errors import UserError


class RunsACommand:
    def __reduce__(self):
        return os.system, ("touch it_ran",)


def test_a_pickle_that_would_run_a_command_is_refused_and_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil").write_bytes(pickle.dumps(RunsACommand(), protocol=2))
    with pytest.raises(UserError, match=r"evil: refused to unpickle it: the name (posix|nt|os)\.system is not allowed"):
        read_pickle(tmp_path / "evil")
    assert not (tmp_path / "it_ran").exists()


@pytest.mark.parametrize("innocent", [datetime.date(2020, 1, 1), collections.OrderedDict(), len])
def test_any_other_name_is_refused_even_if_it_is_harmless(tmp_path, innocent):
    (tmp_path / "file").write_bytes(pickle.dumps(innocent, protocol=2))
    with pytest.raises(UserError, match="is not allowed"):
        read_pickle(tmp_path / "file")


def test_only_array_and_container_names_are_allowed():
    assert {module.split(".")[0] for module, _ in ALLOWED} == {"__builtin__", "collections", "numpy", "scipy"}


def test_a_defaultdict_of_lists_written_by_python_2_is_read(tmp_path):
    (tmp_path / "graph").write_bytes(b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x00]K\x01as.")
    assert read_pickle(tmp_path / "graph") == {0: [1]}
