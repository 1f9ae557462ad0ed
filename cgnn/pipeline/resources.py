"""The resources of a job on a machine or a cluster. They are not params of a rule, because they affect no result."""

from collections.abc import Mapping
from typing import Any

#: For the first attempt of a job on this dataset; a job that exceeds its memory or time is retried with more.
MEMORY_MB = {"nell": 12000, "nell_partial": 12000, "pubmed": 3000}
RUNTIME_MINUTES = {"nell": 240, "nell_partial": 240, "pubmed": 90}
CUDA_MB = 3000  # host memory for CUDA's libraries and context


def gpu_request(jobs: Mapping[str, Any], gpus: int) -> str:
    """`jobs.gpu_request`; `auto` requests a GPU if the device may be one and this machine has any."""
    if jobs["gpu_request"] != "auto":
        return jobs["gpu_request"]
    return "gpu" if jobs["device"].startswith("cuda") or (jobs["device"] == "auto" and gpus) else "none"


def gpu_resources(jobs: Mapping[str, Any]) -> dict[str, Any]:
    """How a job requests a GPU: locally Snakemake counts them, and Slurm has two ways."""
    ways: dict[str, dict[str, Any]] = {"none": {}, "gpu": {"gpu": 1}, "gres": {"gres": "gpu:1"}}
    requested = ways[jobs["gpu_request"]]
    return requested | ({"slurm_partition": jobs["gpu_partition"]} if requested and jobs["gpu_partition"] else {})


def memory_mb(dataset: str, attempt: int, gpu: bool) -> int:
    return (MEMORY_MB.get(dataset, 2000) + (CUDA_MB if gpu else 0)) * attempt


def runtime_minutes(dataset: str, attempt: int) -> int:
    return RUNTIME_MINUTES.get(dataset, 30) * attempt
