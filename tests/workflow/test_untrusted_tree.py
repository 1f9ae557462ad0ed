"""A results folder from somebody else."""

import pytest


@pytest.mark.slow
def test_a_rerun_with_nothing_to_do_never_opens_a_store(finished):
    """Opening any of these stores would fail, because they are not pickles."""
    stores = list(finished.path.rglob("orion.pkl"))
    assert stores
    for store in stores:
        store.write_bytes(b"not a pickle")
    done = finished.snakemake()
    assert done.returncode == 0, done.stdout
    assert "Nothing to be done" in done.stdout
