"""Checks the config, freezes the code, and says what each verb is asked. Nothing is computed here."""

import json
import os
import shlex
import shutil
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError

from cgnn import plan
from cgnn.chunks import Chunk
from cgnn.config import active_datasets, validate
from cgnn.datasets.registry import modules_of as dataset_modules
from cgnn.errors import UserError
from cgnn.fidelity import preset
from cgnn.fingerprint import code_fingerprint
from cgnn.freeze import freeze, frozen_config, frozen_path
from cgnn.gpus import visible_gpus
from cgnn.hyperparameters import published
from cgnn.provenance import profile_fingerprint, training_fingerprint

if not workflow.is_main_process and (CODE / "resolved_config.json").is_file():
    config.clear()
    config.update(frozen_config(CODE))
try:
    validate(config)
except UserError as error:
    raise WorkflowError(str(error))

R = config["results"].rstrip("/")
JOBS = config["jobs"]
DATASETS = active_datasets(config)
CACHE = shlex.quote(config["cache"])
MIRROR = f"--mirror {shlex.quote(config['mirror'])}" if config["mirror"] else ""
# Settled here and frozen with the config: on a cluster's node other GPUs are visible than where the run was started.
if JOBS["gpu_request"] == "auto":
    wanted = JOBS["device"].startswith("cuda") or (JOBS["device"] == "auto" and visible_gpus())
    JOBS["gpu_request"] = "gpu" if wanted else "none"
FROZEN = frozen_path(CODE, R, config) if workflow.is_main_process else CODE

if workflow.is_main_process:
    os.environ["CGNN_CODE"] = str(FROZEN)


envvars:
    "CGNN_CODE",


# Jobs import the frozen copy, with the Python that runs Snakemake. PYTHONSAFEPATH: `python -m` would
# otherwise look in the working folder first.
shell.prefix(
    f"set -euo pipefail; export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH "
    f"PYTHONPATH={shlex.quote(str(FROZEN))} PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1; "
)
# One line of each job goes to the terminal, everything to its log.
LOGGED = "2> {log} | tee -a {log}"

# How a job asks for a GPU: locally Snakemake counts them, Slurm knows two ways. Never part of a rule's params.
GPU = {"none": {}, "gpu": {"gpu": 1}, "gres": {"gres": "gpu:1"}}[JOBS["gpu_request"]]
if GPU and JOBS["gpu_partition"]:
    GPU |= {"slurm_partition": JOBS["gpu_partition"]}
workflow.global_resources.setdefault("gpu", max(1, len(visible_gpus())))
workflow.global_resources.setdefault("profiler", 1)


wildcard_constraints:
    dataset="[a-z][a-z0-9_]*",
    split="fixed|random[0-9]*",
    split_kind="fixed|random",
    model="[a-z][a-z0-9_]*",
    preset="paper|released",
    source="search|published",
    variant="[a-z][a-z0-9_-]*",
    first="[0-9]+",
    last="[0-9]+",


onstart:
    try:
        freeze(CODE, FROZEN, R, config)
    except UserError as error:
        raise WorkflowError(str(error))


onerror:
    if Path(R).is_dir() and shutil.disk_usage(R).free < 2**20:  # then the logs are cut short, too
        print(f"The disk that holds {R} is full (No space left on device). Free some space first.", file=sys.stderr)
    print(
        "Some jobs failed; what finished is kept. Each failure above shows the end of its log and, under `shell:`, the "
        "command to repeat it by hand. When the cause is mended, run the same snakemake command again.",
        file=sys.stderr,
    )


@cache
def trainings(kind):
    """The trainings of a section of the config, by the folder of their results."""
    return {training.folder: training for training in getattr(plan, kind)(config)}


def chunk_files(kind):
    """The files that together hold all replicas of a section, those that exist already among them."""
    return [f for t in trainings(kind).values() for f in t.files(R, JOBS["replicas_per_job"])]


def find_training(kind, folder):
    """The training behind a wanted file."""
    found = trainings(kind).get(folder)
    if found is None:
        raise WorkflowError(f"{R}/{folder}: the config asks for no such {kind}")
    return found


def training_input(t, first, last):
    """A training reads its graph, just the splits it needs, and the outcome of the search it follows."""
    replicas = range(int(first), int(last) + 1)
    names = ["fixed"] if t.split_kind == "fixed" else [f"random{i:02d}" for i in replicas]
    files = {"graph": f"{R}/data/{t.dataset}/graph.npz", "splits": [f"{R}/splits/{t.dataset}/{n}.json" for n in names]}
    files["best"] = [f"{R}/{t.search.folder}/best.yaml"] if t.search else []
    known = find_training("runs", t.same_as).files(R, JOBS["replicas_per_job"]) if t.same_as else []
    files["same"] = [file for file in known if Chunk.of(file).overlaps(replicas)]
    return files


def training_arguments(t):
    """All that decides the numbers, as arguments of `cgnn train`. A change here reruns the training."""
    words = ["--dataset", t.dataset, "--split", t.split_kind, "--model", t.model, "--preset", t.preset]
    for name, value in t.switches:
        words += ["--switch", f"{name}={value}"]
    where = f"{R}/{t.search.folder}/best.yaml" if t.search else "published"
    words += ["--hyperparameters", where, "--hyperparameters-source", t.source]
    for name, value in t.settings:
        words += ["--set", f"{name}={value:g}"]
    words += ["--epochs", str(t.epochs)]
    if t.variant:
        words += ["--variant", t.variant]
    if JOBS["memory_limit_mb"]:
        words += ["--memory-limit", str(JOBS["memory_limit_mb"])]
    return shlex.join(words)


def training_settings(t):
    """The published values themselves: a corrected digit in paper/reported.yaml reruns what used it."""
    settings = None if t.search else published(t.dataset, t.split_kind, t.model)
    return json.dumps(asdict(settings)) if settings else "search"


def training_code(t):
    return training_fingerprint(t.model, preset(t.preset, **dict(t.switches)))


# What a job of a dataset needs, first attempt; a job killed for memory or time comes back with more.
MEMORY_MB = {"nell": 12000, "nell_partial": 12000, "pubmed": 3000}
RUNTIME_MINUTES = {"nell": 240, "nell_partial": 240, "pubmed": 90}
CUDA_MB = 3000 if GPU else 0  # of the host's memory, for CUDA's libraries and context


def memory(wildcards, attempt):
    return (MEMORY_MB.get(wildcards.dataset, 2000) + CUDA_MB) * attempt


def runtime(wildcards, attempt):
    return RUNTIME_MINUTES.get(wildcards.dataset, 30) * attempt


# With a storage plugin (docs/cloud.md) a job's files are where Snakemake put them; of an option given twice the last counts.
STORED_AT = (
    """--splits $(dirname {input.splits[0]}) $(test -z "{input.best}" || echo --hyperparameters {input.best}) """
    if workflow.storage_settings.default_storage_provider not in (None, "none")
    else ""
)
TRAIN = (
    f"python -m cgnn train {{params.arguments}} --graph {{input.graph}} --splits {R}/splits/{{wildcards.dataset}}"
    f" --device {JOBS['device']} --threads {{threads}} --expect-fingerprint {{params.code}} --out {{output.rows}}"
)
CHUNK = "--replicas {wildcards.first}:$(({wildcards.last} + 1)) --reuse {input.same}"
TRAIN_CHUNK = f"{TRAIN} {CHUNK} {STORED_AT}{LOGGED}"


def dataset_options(dataset):
    options = config["datasets"][dataset]
    return options if isinstance(options, dict) else {}


def graph_arguments(wildcards):
    options = dataset_options(wildcards.dataset)
    if "path" in options:
        return f"--path {shlex.quote(options['path'])}"
    return f"--parameters {shlex.quote(json.dumps(options))}" if options else ""


def split_arguments(wildcards):
    sizes = config["protocol"]["split_sizes"]
    sizes = {**sizes["default"], **sizes.get(wildcards.dataset, {})}
    flags = {"per_class": "--per-class", "validation": "--validation", "test": "--test"}
    return "" if wildcards.split == "fixed" else " ".join(f"{flags[key]} {value}" for key, value in sizes.items())


def raw_input(wildcards):
    """Your own graph is its file, a made-up one needs none, the others have been fetched."""
    own = dataset_options(wildcards.dataset).get("path")
    return own or ([] if wildcards.dataset == "synthetic" else f"{R}/data/{wildcards.dataset}/raw.json")


def graph_code(wildcards):
    own = dataset_options(wildcards.dataset).get("path")
    return code_fingerprint("cgnn.verbs.graph", *dataset_modules(wildcards.dataset, path=own))


def search_arguments(wildcards):
    section, model, dataset = config["search"], wildcards.model, wildcards.dataset
    words = ["--dataset", dataset, "--split", wildcards.split_kind, "--model", model, "--preset", wildcards.preset]
    epochs = section["epochs"].get(dataset, section["epochs"]["default"])
    words += ["--seed", str(section["seed"]), "--trials", str(section["trials"]), "--epochs", str(epochs)]
    for name, prior in section["spaces"][model].items():
        words += ["--prior", f"{name}~{prior}"]
    if JOBS["memory_limit_mb"]:
        words += ["--memory-limit", str(JOBS["memory_limit_mb"])]
    return shlex.join(words)


def search_settings(wildcards):
    settings = published(wildcards.dataset, wildcards.split_kind, wildcards.model)
    return json.dumps(asdict(settings)) if settings else "none"


def profile_arguments(wildcards):
    words = ["--dataset", wildcards.dataset, "--method", wildcards.method, "--value", wildcards.value]
    own = config["profiles"]["methods"][wildcards.method]
    words += ["--preset", config["profiles"]["preset"], "--epochs", str(own.get("epochs", config["profiles"]["epochs"]))]
    if "warmup" in own:
        words += ["--warmup", str(own["warmup"])]
    if JOBS["memory_limit_mb"]:
        words += ["--memory-limit", str(JOBS["memory_limit_mb"])]
    return shlex.join(words)


def made_here(shelf):
    """The products whose inputs this config makes."""
    return [name for name, entry in shelf.items() if set(entry.inputs) <= {*PRODUCTS, "summary"}]


def product_input(entry):
    """What the product reads, by name; optional inputs only where they are made."""
    wanted = [*entry.inputs, *(name for name in entry.optional if name in PRODUCTS)]
    return {name: PRODUCTS.get(name, f"{R}/{name}.csv") for name in wanted}


def product_arguments(wildcards, input):
    return " ".join(f"--{name} {files}" for name, files in input.items())
