"""Every promise names a test, and that test exists."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/promises.md", "SECURITY.md")


@pytest.mark.parametrize("page", PAGES)
def test_each_named_test_exists(page: str):
    named = set(re.findall(r"`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8")))
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    existing = {name for source in sources for name in re.findall(r"^\s*def (test_\w+)", source, flags=re.MULTILINE)}
    assert named, f"{page} names no test"
    assert named <= existing, f"{page} names tests that do not exist: {sorted(named - existing)}"


@pytest.mark.parametrize("page", PAGES)
def test_each_row_of_a_table_names_its_test(page: str):
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    rows = [line for before, line in pairwise(lines) if line.startswith("|") and before[:1] == "|"]
    rows = [line for line in rows if not line.startswith("|---")]
    assert rows and all("`test_" in line for line in rows), [line for line in rows if "`test_" not in line]
