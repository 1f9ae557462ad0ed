"""Write requirements.lock and environment.yml: every package at one version, with the hashes of all its files.

  python tools/lock.py              keep the versions of the current lock if pyproject.toml permits
  python tools/lock.py --upgrade    use the newest versions

pip resolves the requirements of pyproject.toml on this machine; pip's configured index lists the files and hashes of
each version. All files are listed, so that the lock can be installed on other platforms and Python versions, too.
torch is pinned in requirements-torch.txt without hashes, because its build differs between indexes (CPU, CUDA).
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = {"linux": "Linux", "darwin": "Darwin"}
#: Installed in a separate step; the lock is installed with --no-deps, so pip does not require it.
TORCH = "torch"
#: Dependencies of CUDA builds of torch.
OF_TORCH = ("nvidia-", "cuda-", "triton")
HEADER = """\
# Made by `make lock`: every package, direct or not, with the hashes of all files of its version.
# Install with `pip install --no-deps --require-hashes -r requirements.lock`, then with -r requirements-torch.txt.
# setuptools below 81 still has pkg_resources, which orion imports.
"""
TORCH_HEADER = """\
# Made by `make lock`. Without a hash, because the build differs between indexes. For CUDA, install the build of this
# version that you need into .venv: a local version such as +cu130 satisfies the pin.
"""
CONDA_HEADER = """\
# Made by `make lock`, for `snakemake --sdm conda` and conda users: the versions of requirements.lock. conda checks no
# hashes; `make install` does.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upgrade", action="store_true", help="do not keep the versions of the current lock")
    upgrade = parser.parse_args().upgrade
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    direct = [text for text in direct if canonicalize_name(Requirement(text).name) != project["name"]]
    present = {} if upgrade else locked_versions(ROOT / "requirements.lock", ROOT / "requirements-torch.txt")
    resolved = resolve(direct, present)
    markers = needed(direct, resolved)
    if missing := sorted(set(markers) - set(resolved)):  # needed by another Python version or platform only
        resolved |= resolve(missing, present, "--no-deps")
        markers = needed(direct, resolved)
    versions = {name: item["version"].partition("+")[0] for name, item in resolved.items()}
    with ThreadPoolExecutor(8) as pool:
        files = dict(zip(markers, pool.map(lambda name: files_of(name, versions[name]), markers), strict=True))
    source_only = sorted(name for name, found in files.items() if not any(file.endswith(".whl") for file in found))
    options = f"--only-binary=:all:\n--no-binary={','.join(source_only)}\n" if source_only else "--only-binary=:all:\n"
    blocks = []
    for name in sorted(markers):
        marker = f" ; {markers[name]}" if markers[name] else ""
        hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in sorted(set(files[name].values())))
        blocks.append(f"{name}=={versions[name]}{marker}{hashes}\n")
    (ROOT / "requirements.lock").write_text(HEADER + options + "".join(blocks), encoding="utf-8")
    torch = f"torch=={versions[TORCH]}"
    (ROOT / "requirements-torch.txt").write_text(f"{TORCH_HEADER}{torch}\n", encoding="utf-8")
    named = sorted({canonicalize_name(Requirement(text).name) for text in direct} - {TORCH})
    pins = "".join(f"      - {name}=={versions[name]}\n" for name in named)
    (ROOT / "environment.yml").write_text(
        f"{CONDA_HEADER}name: cgnn\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - git\n  - pip\n"
        f"  - pip:\n      - {torch}\n{pins}",
        encoding="utf-8",
    )
    print(f"{len(markers)} packages, {sum(map(len, files.values()))} files; from source: {', '.join(source_only)}")


def locked_versions(*paths: Path) -> dict[str, str]:
    """``name → version`` of lock files."""
    text = "".join(path.read_text(encoding="utf-8") for path in paths if path.is_file())
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))


def resolve(requirements: Iterable[str], constraints: Mapping[str, str], *options: str) -> dict[str, dict[str, Any]]:
    """pip's resolution of the requirements and their dependencies: the metadata of each package by name."""
    with tempfile.TemporaryDirectory() as folder:
        report, constraint = Path(folder, "report.json"), Path(folder, "constraints.txt")
        constraint.write_text("".join(f"{name}=={version}\n" for name, version in constraints.items()))
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "-qqq"]
        command += ["--report", str(report), "--constraint", str(constraint), *options, *requirements]
        subprocess.run(command, check=True)
        items = [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
    return {canonicalize_name(item["name"]): item for item in items}


def needed(direct: Iterable[str], resolved: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The packages that some supported Python version and platform needs, each with its marker (mostly empty)."""
    found: dict[str, set[tuple[str, str]]] = {}
    everywhere = {(python, platform) for python in PYTHONS for platform in PLATFORMS}
    for python, platform in everywhere:
        environment: dict[str, Any] = {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "sys_platform": platform,
        }
        environment = {**default_environment(), **environment, "platform_system": PLATFORMS[platform]}
        for name in reachable(direct, resolved, environment):
            found.setdefault(name, set()).add((python, platform))
    return {name: "" if places == everywhere else marker_of(places) for name, places in found.items()}


def marker_of(places: set[tuple[str, str]]) -> str:
    """The shortest marker for a set of Python versions and platforms."""
    pythons, platforms = sorted({python for python, _ in places}), sorted({name for _, name in places})
    if len(places) < len(pythons) * len(platforms):
        pairs = (f'python_version == "{python}" and sys_platform == "{name}"' for python, name in sorted(places))
        return " or ".join(pairs)
    parts = [] if len(pythons) == len(PYTHONS) else [f'python_version in "{", ".join(pythons)}"']
    parts += [] if len(platforms) == len(PLATFORMS) else [f'sys_platform == "{platforms[0]}"']
    return " and ".join(parts)


def reachable(
    direct: Iterable[str], resolved: Mapping[str, Mapping[str, Any]], environment: Mapping[str, Any]
) -> set[str]:
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in direct]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name.startswith(OF_TORCH):
            continue
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                for text in resolved.get(name, {}).get("requires_dist", ()):
                    needed = Requirement(text)
                    if needed.marker is None or needed.marker.evaluate({**environment, "extra": extra}):
                        waiting.append(needed)
    return {name for name, _ in seen} - {TORCH}


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def files_of(name: str, version: str) -> dict[str, str]:
    """``file name → sha256`` of a version's wheels; of its source archive if it has no wheel."""
    session, index = client()
    page = session.get(f"{index}/{name}/", headers={"Accept": "text/html"})
    page.raise_for_status()
    links = _Links()
    links.feed(page.text)
    found = {}
    for link in links.found:
        file, _, digest = link.rpartition("/")[2].partition("#sha256=")
        if digest and _version(file) == Version(version):
            found[file] = digest
    wheels = {file: digest for file, digest in found.items() if file.endswith(".whl")}
    if not found:
        sys.exit(f"the index lists no file of {name} {version} with a hash")
    return wheels or found


def client() -> tuple[Any, str]:
    """pip's session and index URL, so that its settings (mirror, proxy, certificates) are used here, too."""
    from pip._internal.commands import create_command

    command = create_command("download")
    options, _ = command.parse_args([])
    return command._build_session(options), options.index_url.rstrip("/")  # type: ignore[attr-defined]


def _version(file: str) -> Version | None:
    try:
        return parse_wheel_filename(file)[1] if file.endswith(".whl") else parse_sdist_filename(file)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


if __name__ == "__main__":
    main()
