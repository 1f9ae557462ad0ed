"""Load and validate the config, freeze the code, and define what all rules share."""

import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from cgnn.errors import UserError
from cgnn.paper.fidelity import preset
from cgnn.pipeline import preload, provenance, resources
from cgnn.pipeline.closing import closing, preview_of
from cgnn.pipeline.config import active_datasets, check_files, validate
from cgnn.pipeline.freeze import freeze, frozen_config, frozen_path
from cgnn.pipeline.outputs import BENCH, REPORTED, outputs_of
from cgnn.render.catalogue import FIGURE_FORMATS, FIGURES, PAGE_FILES, TABLE_FORMATS, TABLES
from cgnn.training.gpus import visible_gpus

STARTED = time.monotonic()

if not workflow.is_main_process and (CODE / "resolved_config.json").is_file():
    config.clear()
    config.update(frozen_config(CODE))
try:
    if workflow.is_main_process:
        check_files(workflow.configfiles)
    validate(config, files=workflow.is_main_process)
except UserError as error:
    raise WorkflowError(str(error))

config["results"] = config["results"].rstrip("/")
JOBS = config["jobs"]
DATASETS = active_datasets(config)
# Resolved here and frozen with the config, because a cluster node may have other GPUs than this machine.
JOBS["gpu_request"] = resources.gpu_request(JOBS, len(visible_gpus()))
GPU = resources.gpu_resources(JOBS)
MEMORY_LIMIT = f"--memory-limit {JOBS['memory_limit_mb']}" if JOBS["memory_limit_mb"] else ""
LIMITED = provenance.limit_params(JOBS["memory_limit_mb"])
workflow.global_resources.setdefault("gpu", max(1, len(visible_gpus())))
workflow.global_resources.setdefault("profiler", 1)

OUT = outputs_of(config)
R = config["results"]  # validate refuses braces, which Snakemake would read as wildcards

FROZEN = frozen_path(CODE, config["results"], config) if workflow.is_main_process else CODE
if workflow.is_main_process:
    os.environ["CGNN_CODE"] = str(FROZEN)


envvars:
    "CGNN_CODE",


# Jobs import the frozen copy, with the Python that runs Snakemake. PYTHONSAFEPATH: `python -m` would otherwise look in
# the working directory first. PYTHONUTF8: messages and files are UTF-8 in every locale.
shell.prefix(
    f"set -euo pipefail; export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH "
    f"PYTHONPATH={shlex.quote(str(FROZEN))} PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1 PYTHONUTF8=1; "
)
# The logger of `make quick` prints a job's result from its log; without that logger, jobs print one line themselves.
LOGGED = "> {log:q} 2>&1" if "CGNN_LOGGER" in os.environ else "2> {log:q} | tee -a {log:q}"


wildcard_constraints:
    dataset="[a-z][a-z0-9_]*",
    split="[a-z]+[0-9]*",
    split_kind="[a-z]+",
    model="[a-z][a-z0-9_]*",
    preset="paper|released",
    first="[0-9]+",
    last="[0-9]+",


onstart:
    try:
        freeze(CODE, FROZEN, config["results"], config)
        if "CGNN_PRELOAD" in os.environ and workflow.local_exec:
            preload.start(FROZEN)
    except UserError as error:
        raise WorkflowError(str(error))


onsuccess:
    # Nothing is imported here: the working tree may have been edited since the run started.
    lines = closing(config["results"], preview_of(config), time.monotonic() - STARTED)
    logger.info(f"\n{lines}", extra={"closing": True})


onerror:
    if Path(config["results"]).is_dir() and shutil.disk_usage(config["results"]).free < 2**20:
        # On a full disk the logs are truncated, so no job can report it.
        print(f"The disk that holds {config['results']} is full (No space left on device).", file=sys.stderr)
    print(
        "Some jobs failed; finished results are kept. Each failure above shows the end of its log and, under `shell:`, "
        "the command to repeat it by hand. Once the cause is fixed, run the same snakemake command again.",
        file=sys.stderr,
    )


def memory(wildcards, attempt):
    return resources.memory_mb(wildcards.dataset, attempt, bool(GPU))


def runtime(wildcards, attempt):
    return resources.runtime_minutes(wildcards.dataset, attempt)


def product_arguments(wildcards, input):
    """`--name FILES` for each named input."""
    return " ".join(
        f"--{name} {shlex.join([files] if isinstance(files, str) else files)}" for name, files in input.items()
    )


def search_splits(wildcards):
    """The fixed split, or separate splits for the search: one for round one and one per replica of round two."""
    count = config["search"]["replicas"] + 1
    names = ["fixed"] if wildcards.split_kind == "fixed" else [f"search{i:02d}" for i in range(count)]
    return [f"{config['results']}/splits/{wildcards.dataset}/{name}.json" for name in names]


def planned(wildcards):
    """The training whose results are in the folder."""
    return OUT.training(wildcards.folder)


def profile_epochs(wildcards):
    """Timed epochs and warm-up epochs: those of the method, else those of the section and the command's default."""
    section = config["profiles"]
    own = section["methods"][wildcards.method]
    epochs = f"--epochs {own.get('epochs', section['epochs'])}"
    return epochs + (f" --warmup {own['warmup']}" if "warmup" in own else "")
