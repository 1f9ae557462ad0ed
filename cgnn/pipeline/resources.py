"""What a job asks of a machine or a cluster. None of it is part of a rule's params: it decides no result."""

from collections.abc import Mapping
from typing import Any

#: Of a job on this dataset, at its first attempt; a job that is killed for memory or time is retried with more.
MEMORY_MB = {"nell": 12000, "nell_partial": 12000, "pubmed": 3000}
RUNTIME_MINUTES = {"nell": 240, "nell_partial": 240, "pubmed": 90}
CUDA_MB = 3000  # of the host's memory, for CUDA's libraries and context


def gpu_request(jobs: Mapping[str, Any], gpus: int) -> str:
    """`jobs.gpu_request` with `auto` decided: a GPU if the device may be one and this machine has any."""
    if jobs["gpu_request"] != "auto":
        return jobs["gpu_request"]
    return "gpu" if jobs["device"].startswith("cuda") or (jobs["device"] == "auto" and gpus) else "none"


def gpu_resources(jobs: Mapping[str, Any]) -> dict[str, Any]:
    """How a job asks for a GPU: locally Snakemake counts them, Slurm knows two ways."""
    ways: dict[str, dict[str, Any]] = {"none": {}, "gpu": {"gpu": 1}, "gres": {"gres": "gpu:1"}}
    asked = ways[jobs["gpu_request"]]
    return asked | ({"slurm_partition": jobs["gpu_partition"]} if asked and jobs["gpu_partition"] else {})


def memory_mb(dataset: str, attempt: int, gpu: bool) -> int:
    return (MEMORY_MB.get(dataset, 2000) + (CUDA_MB if gpu else 0)) * attempt


def runtime_minutes(dataset: str, attempt: int) -> int:
    return RUNTIME_MINUTES.get(dataset, 30) * attempt
