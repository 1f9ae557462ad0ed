"""Describe a published folder as a Workflow Run RO-Crate: the workflow, config, code and data that produced it.

Repositories such as WorkflowHub and Zenodo read ``ro-crate-metadata.json``. The profiles are Workflow Run Crate 0.5 and
those that it extends; each run of the manifest is one ``CreateAction``.
"""

import csv
import json
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cgnn.pipeline.manifest import Entry, Manifest

CRATE = "ro-crate-metadata.json"
WORKFLOW = "code/Snakefile"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
LICENSE = "https://spdx.org/licenses/MIT"
PAPER = "https://arxiv.org/abs/1912.00967"
ENCODINGS = {".smk": "text/x-python", ".yaml": "application/yaml", ".md": "text/markdown"}
#: The context of the Workflow Run RO-Crate group, because RO-Crate 1.1's context does not define sha256.
CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"


def crate_text(manifest: Manifest, sources: Mapping[str, Path]) -> str:
    """The crate's JSON for the files of ``manifest``; ``sources`` are the paths of the files before publishing."""
    from rocrate.model import ContextEntity  # type: ignore[import-untyped]
    from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

    crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(CONTEXT)
    crate.name = "Continuous Graph Neural Networks, reproduced: results"
    crate.description = "Every number, table, figure and verdict of one run of the workflow that reproduces the paper."
    crate.datePublished = manifest.date

    def entity(address: str, kind: str, name: str, **properties: str) -> Any:
        return crate.add(ContextEntity(crate, address, properties={"@type": kind, "name": name, **properties}))

    crate.license = entity(LICENSE, "CreativeWork", "MIT License")
    crate.root_dataset["citation"] = entity(PAPER, "ScholarlyArticle", "Continuous Graph Neural Networks")
    crate.root_dataset["conformsTo"] = [
        entity(address, "CreativeWork", name, version=version) for address, (name, version) in PROFILES.items()
    ]
    agent = entity("#authors", "Organization", "The cgnn-paper authors")
    crate.root_dataset["author"] = agent
    files = {
        entry.path: crate.add_file(None, entry.path, properties=_properties(entry))
        for entry in manifest.files
        if entry.path not in (WORKFLOW, CRATE)
    }
    workflow = crate.add_workflow(
        str(sources[WORKFLOW]),
        WORKFLOW,
        main=True,
        lang="snakemake",
        properties={**_properties(manifest.by_path[WORKFLOW]), "name": "cgnn-paper", "license": {"@id": LICENSE}},
    )
    workflow["hasPart"] = [file for name, file in files.items() if name.endswith(".smk")]
    data = [
        crate.add_file(address, properties={"@type": "File", "name": name, "sha256": digest})
        for name, address, digest in raw_data(_datasets(sources["runs.csv"]))
    ]
    configs = [file for name, file in files.items() if name.startswith("code/") and not name.endswith(".smk")]
    for number, run in enumerate(manifest.runs):
        made = [
            files[entry.path]
            for entry in manifest.files
            if entry.commit == run.commit and entry.path in files and not entry.path.startswith("code/")
        ]
        properties = {
            "name": f"Run of the workflow at commit {run.commit}",
            "description": f"Made by the code of commit {run.commit}.",
            "endTime": run.ended,
            **({"startTime": run.started} if run.started else {}),
            "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        }
        action = crate.add_action(
            workflow, f"#run-{number}", object=[*configs, *data], result=made, properties=properties
        )
        action["agent"] = agent
        crate.root_dataset.append_to("mentions", action)
    if manifest.runs:
        workflow["version"] = manifest.runs[0].commit
    return json.dumps(crate.metadata.generate(), indent=1, sort_keys=False) + "\n"


def raw_data(datasets: Iterable[str]) -> list[tuple[str, str, str]]:
    """(name, URL, sha256) of the raw files of these datasets, for files that have a URL."""
    from cgnn.datasets.cache import expected_sums
    from cgnn.datasets.registry import DATASETS
    from cgnn.datasets.sources import PLANETOID_HOME

    sums = expected_sums()
    sets = [DATASETS[name].file_sets[:1] for name in sorted(datasets) if name in DATASETS]
    files = sorted({file for file_set in sets for one in file_set for file in one.files})
    return [
        (file, f"{PLANETOID_HOME}/{file.removeprefix('planetoid/')}", sums[file])
        for file in files
        if file.startswith("planetoid/")
    ]


def _properties(entry: Entry) -> dict[str, str]:
    suffix = Path(entry.path).suffix
    kind = ENCODINGS.get(suffix) or mimetypes.guess_type(entry.path)[0] or "application/octet-stream"
    return {"name": entry.path, "contentSize": str(entry.size), "sha256": entry.sha256, "encodingFormat": kind}


def _datasets(path: Path) -> set[str]:
    with open(path, encoding="utf-8", newline="") as stream:
        return {row["dataset"] for row in csv.DictReader(stream)}
