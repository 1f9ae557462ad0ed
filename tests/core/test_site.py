"""The documentation site builds without a warning and contains every page and every public name."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]


def pages(nav) -> set[str]:
    if isinstance(nav, str):
        return {nav}
    return set().union(*(pages(entry) for entry in (nav.values() if isinstance(nav, dict) else nav)))


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    for name in re.findall(r"^::: (\S+)$", (PROJECT / "docs" / "reference.md").read_text(), flags=re.MULTILINE):
        assert f'id="{name}"' in reference, name


def test_every_relative_link_of_a_page_points_to_a_file():
    for page in (*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md")):
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link and not link.startswith("mailto:"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_page_is_reachable_and_every_public_name_is_in_the_reference():
    import cgnn

    site = yaml.safe_load((PROJECT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert pages(site["nav"]) == {
        path.relative_to(PROJECT / "docs").as_posix() for path in PROJECT.glob("docs/**/*.md")
    }
    reference = (PROJECT / "docs" / "reference.md").read_text(encoding="utf-8")
    for name in set(cgnn.__all__) - {"__version__"}:
        assert re.search(rf"^::: \S+\.{name}$", reference, flags=re.MULTILINE), name


def test_the_glossary_is_in_alphabetical_order():
    lines = (PROJECT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    terms = [above for above, below in pairwise(lines) if below.startswith(":   ")]
    assert len(terms) > 20 and terms == sorted(terms, key=str.lower)
