"""The paths of the workflow's files for a config, by the names in ``cgnn/render/catalogue.py``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cgnn.errors import UserError
from cgnn.pipeline import plan
from cgnn.pipeline.config import active_datasets
from cgnn.pipeline.data import own_path
from cgnn.render.catalogue import CLAIMS_INPUTS, FIGURE_FORMATS, FIGURES, INPUTS, TABLE_FORMATS, TABLES, Product
from cgnn.results.schema import recorded_path, seconds_path

Files = str | list[str]

REPORTED = "paper/reported.yaml"
BENCH = "docs/speed.json"


@dataclass(frozen=True)
class Outputs:
    """The files of one config. An empty experiment section produces no files, and neither do tables that need it."""

    results: str
    trainings: Mapping[str, plan.Planned]  # by folder
    searches: Mapping[str, plan.Search]
    profiles: Mapping[str, plan.Profile]  # by file
    collected: Mapping[str, list[str]]  # aggregate: the files whose rows it holds
    products: Mapping[str, Files]  # input of a table, figure or claim: its files
    tables: tuple[str, ...]
    figures: tuple[str, ...]

    def training(self, folder: str) -> plan.Planned:
        """The training that produces a requested file."""
        if folder not in self.trainings:
            raise UserError(f"{self.results}/{folder}: the config has no such training")
        return self.trainings[folder]

    @property
    def table_files(self) -> list[str]:
        return [f"{self.results}/tables/{name}.{kind}" for name in self.tables for kind in TABLE_FORMATS]

    @property
    def figure_files(self) -> list[str]:
        return [f"{self.results}/figures/{name}.{kind}" for name in self.figures for kind in FIGURE_FORMATS]

    @property
    def numbers(self) -> list[str]:
        """The aggregates, the summary and the claims."""
        names = (*self.collected, "convergence", "summary", "claims", "bench")
        return [str(self.products[name]) for name in names if name in self.products]

    @property
    def splits(self) -> list[str]:
        """The splits that something uses."""
        used = {
            (planned.training.dataset, split)
            for planned in self.trainings.values()
            for split in planned.splits(0, planned.replicas - 1)
        }
        used |= {(profile.dataset, "fixed") for profile in self.profiles.values()}
        return [f"{self.results}/splits/{dataset}/{split}.json" for dataset, split in sorted(used)]

    @property
    def targets(self) -> dict[str, list[str]]:
        """The named targets of Snakemake and their files."""
        stages = {stage: self.collected.get(stage, []) for stage in ("runs", "sweeps", "fidelity", "profiles")}
        seconds = self.collected.get("seconds", [])
        return {
            "data": [*self.graphs, *self.splits],
            "searches": [f"{self.results}/{folder}/best.yaml" for folder in self.searches],
            "trainings": [file for file in seconds if not file.endswith("trials.seconds.csv")],
            **stages,
            "numbers": self.numbers,
            "tables": self.table_files,
            "figures": self.figure_files,
            "report": [f"{self.results}/paper.pdf", f"{self.results}/index.html"],
        }

    @property
    def graphs(self) -> list[str]:
        return list(self.products["graphs"])

    def inputs(self, entry: Product) -> dict[str, Files]:
        """The inputs of a table or figure by name; optional inputs only if they are produced."""
        wanted = [*entry.inputs, *(name for name in entry.optional if name in self.products)]
        return {name: self.products[name] for name in wanted}

    @property
    def claims_inputs(self) -> dict[str, Files]:
        return {name: self.products[name] for name in (*CLAIMS_INPUTS, "reported") if name in self.products}


def outputs_of(config: Mapping[str, Any], bench: Path = Path(BENCH)) -> Outputs:
    """All files of ``config``. ``make bench`` is not part of the workflow; its file is used if it exists."""
    results = config["results"].rstrip("/")
    trainings = {planned.folder: planned for planned in plan.trainings(config)}
    searches = {search.folder: search for search in plan.searches(config)}
    profiles = {profile.file: profile for profile in plan.profiles(config)}
    collected = {
        stage: [file for planned in trainings.values() if planned.stage == stage for file in planned.files(config)]
        for stage in ("runs", "sweeps", "fidelity")
    }
    collected["profiles"] = [f"{results}/{file}" for file in profiles]
    collected["trials"] = [f"{results}/{folder}/trials.csv" for folder in searches]
    collected["recorded"] = [str(recorded_path(file)) for item in plan.recorded(config) for file in item.files(config)]
    rows = [*(file for planned in trainings.values() for file in planned.files(config)), *collected["trials"]]
    collected["seconds"] = [str(seconds_path(file)) for file in rows]
    collected = {name: files for name, files in collected.items() if files}

    products: dict[str, Files] = {name: f"{results}/{INPUTS[name]}" for name in (*collected, "convergence")}
    products["reported"] = REPORTED
    products["graphs"] = [f"{results}/data/{dataset}/graph.npz" for dataset in active_datasets(config)]
    products |= {"summary": f"{results}/summary.csv"} if "runs" in collected else {}
    if any(own_path(config, dataset) is None for dataset in active_datasets(config)):
        # With graphs of your own alone there is nothing to compare with the paper.
        products |= {"claims": f"{results}/claims.json"}
        products |= {"bench": f"{results}/bench.json"} if bench.is_file() else {}
    tables, figures = _made(TABLES, set(products)), _made(FIGURES, set(products))
    return Outputs(results, trainings, searches, profiles, collected, products, tables, figures)


def _made(catalogue: Mapping[str, Product], products: set[str]) -> tuple[str, ...]:
    """The tables or figures whose inputs are produced; one with only optional inputs needs at least one of them."""
    return tuple(
        name
        for name, entry in catalogue.items()
        if set(entry.inputs) <= products and (entry.inputs or not entry.optional or products & set(entry.optional))
    )
