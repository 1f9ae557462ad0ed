"""Write docs/findings.md from its template in paper/, with every number looked up in the committed result files."""

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from cgnn.analysis.claims.base import digits_of, signed
from cgnn.analysis.claims.memory import crossover, curve
from cgnn.analysis.measured import load_profiles
from cgnn.analysis.rows import Protocol, cell, compare, finished, load_rows
from cgnn.analysis.summary import load_summary
from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.models import names
from cgnn.paper.reported import load_reported
from cgnn.render.figures.alpha_degree import NEAR, share_near_half
from cgnn.render.headline import headline
from cgnn.render.plots import list_words
from cgnn.render.protocols import by_protocol
from cgnn.render.tables.propagation import CONTINUOUS, like_for_like
from cgnn.results.recorded import read_recorded

REPORTED, TEMPLATE, PAGE = Path("paper/reported.yaml"), Path("paper/findings.md.jinja"), Path("docs/findings.md")


class Numbers:
    """The lookups that the template may use; a number that the results lack is an error."""

    def __init__(self, published: Path) -> None:
        self.folder = published
        self.reported = load_reported(REPORTED)
        claims = json.loads((published / "claims.json").read_text(encoding="utf-8"))["claims"]
        self.claims = {claim["id"]: claim for claim in claims}
        self._frames: dict[str, pd.DataFrame] = {}

    def run(
        self,
        dataset: str,
        model: str,
        split: str = "fixed",
        preset: str = "released",
        source: str = "published",
        variant: str = "",
        column: str = "test_accuracy",
    ) -> str:
        """A cell of Tables 2 and 3 or, with a variant, of the residual GCN; ``column`` is the selection rule."""
        wanted = {"dataset": dataset, "model": model, "split_kind": split}
        wanted |= {"preset": preset, "hyperparameter_source": source, "variant": variant}
        return self._mean("runs", wanted, column)

    def switch(self, dataset: str, variant: str) -> str:
        """A cell of the fidelity table that is not one of Table 2."""
        return self._mean("fidelity", {"dataset": dataset, "variant": variant}, "test_accuracy")

    def budget(self, dataset: str) -> str:
        """Seeds and epochs of the runs on the fixed split of a dataset: ``5 seeds and 400 epochs``."""
        rows = cell(self._rows("runs"), dataset=dataset, split_kind="fixed")
        if rows.empty:
            raise UserError(f"findings: {self.folder / 'runs'}.csv holds no run on {dataset}, fixed split")
        return f"{rows['replica'].nunique()} seeds and {int(rows['epochs'].max())} epochs"

    def epochs(self, name: str) -> str:
        """The epochs of the replicas in ``runs.csv`` or ``sweeps.csv``."""
        return list_words([f"{value:g}" for value in sorted(self._rows(name)["epochs"].unique())])

    def search_epochs(self) -> str:
        """The epochs of a trial: ``200 (100 on Pubmed)``; empty outside a workflow, where the config is unknown."""
        # The config is beside published results, and beside the copy of the code that a job runs.
        places = [folder / "resolved_config.json" for folder in (self.folder / "code", Path(__file__).parents[2])]
        found = next((path for path in places if path.is_file()), None)
        if found is None:
            return ""
        config = json.loads(found.read_text(encoding="utf-8"))
        epochs, used = config["search"]["epochs"], [name for name, chosen in config["datasets"].items() if chosen]
        others = [f"{epochs[name]} on {names.dataset(name)}" for name in used if name in epochs]
        return f"{epochs['default']}" + (f" ({list_words(others)})" if others else "")

    def sweep(self, dataset: str, model: str, variant: str) -> str:
        """A point of the depth and time figure."""
        return self._mean("sweeps", {"dataset": dataset, "model": model, "variant": variant}, "test_accuracy")

    def paper(self, dataset: str, model: str, split: str = "fixed") -> str:
        """The number in the paper."""
        found = self.reported.accuracy(dataset, split, model)
        if found is None:
            raise UserError(f"findings: the paper prints no accuracy of {model} on {dataset}, {split} split")
        return _text(found.mean, found.std)

    def residual_paper(self, dataset: str, layers: int, split: str = "fixed") -> str:
        found = self.reported.residual(dataset, split, layers)
        if found is None:
            raise UserError(f"findings: the paper prints no residual GCN of {layers} layers on {dataset}")
        return _text(found.mean, found.std)

    def peak(self, dataset: str, method: str) -> str:
        """The highest peak memory in the profiles of the method."""
        rows = curve(load_profiles(self.folder / "profiles.csv"), dataset, method)
        if rows.empty:
            raise UserError(f"findings: {self.folder}/profiles.csv has no {method} on {dataset}")
        return f"{rows['peak_bytes'].max() / 2**20:,.0f} MiB"

    def alpha_at_half(self, dataset: str) -> str:
        """The share of the nodes whose α ends near one half, as in the figure of α, and how near that is."""
        found = [item for item in read_recorded(self.folder / "recorded.npz") if item.model == "cgnn"]
        item = next((item for item in found if item.dataset == dataset), None)
        if item is None:
            raise UserError(f"findings: {self.folder}/recorded.npz has no α of CGNN on {dataset}")
        return f"{share_near_half(item):.0%} of the nodes end within {NEAR}".replace("%", " %")

    def dense_features(self, dataset: str) -> str:
        """The size of the features if they were stored densely, with four bytes per value."""
        sizes = self.reported.statistics(dataset)
        return f"{4 * sizes['nodes'] * sizes['features'] / 1e9:.1f} GB"

    def verdict(self, claim: str) -> str:
        return self._claim(claim)["verdict"]

    def evidence(self, claim: str) -> str:
        return self._claim(claim)["evidence"]

    def adjoint_depth(self, dataset: str, rival: str, method: str) -> str:
        """The number of layers with which a model needs as much memory as CGNN with the adjoint method."""
        profiles = load_profiles(self.folder / "profiles.csv")
        solved, deep = curve(profiles, dataset, method), curve(profiles, dataset, rival)
        if solved.empty or len(deep) < 2:
            raise UserError(f"findings: {self.folder}/profiles.csv lacks {method} or {rival} on {dataset}")
        found = crossover(dataset, rival, deep, float(solved["peak_bytes"].max()))
        return f"{found.estimate:.0f}" if found.estimate >= 10 else f"{found.estimate:.1f}"

    def from_paper(self, dataset: str, model: str, split: str = "fixed", source: str = "published") -> str:
        """The difference of a cell of Tables 2 and 3 from the paper's, and its interval."""
        summary = Protocol(source, "released").of(load_summary(self.folder / "summary.csv"))
        found = cell(summary.assign(replica=0), dataset=dataset, model=model, split_kind=split, variant="")
        if found.empty:
            raise UserError(f"findings: {self.folder}/summary.csv has no {model} on {dataset}, {split} split")
        made = found.iloc[0]
        return _difference_text(made["difference"], made["difference_low"], made["difference_high"])

    def protocols(self, claim: str, verdict: str) -> str:
        """The protocols under which a claim has the verdict, in words."""
        found = by_protocol(self._claim(claim))
        if verdict not in found:
            raise UserError(f"findings: {claim} is {verdict!r} under no protocol; correct the template")
        return "; ".join(found[verdict])

    def passed(self, claim: str, kind: str) -> str:
        """How many comparisons of one kind pass: ``3 of 8``."""
        found = [item["passed"] for item in self._claim(claim)["comparisons"] if item["kind"] == kind]
        return f"{sum(found)} of {len(found)}"

    def difference(self, claim: str, comparison: str) -> str:
        """A comparison with its interval: ``−0.44 [−0.85, −0.03]``."""
        made = self._comparison(claim, comparison)
        return _difference_text(made["estimate"], made["low"], made["high"])

    def gap(self, dataset: str, first: str, second: str, split: str = "fixed") -> str:
        """The difference of two models with published hyperparameters, released equations, and its interval."""
        rows = Protocol("published", "released").of(self._rows("runs"))
        rows = cell(rows, dataset=dataset, split_kind=split, variant="")
        found = compare(cell(rows, model=first), cell(rows, model=second))
        return _difference_text(found.estimate, found.low, found.high)

    def propagation(self, dataset: str, model: str, gradient: str, split: str = "fixed") -> str:
        """The difference from the continuous model with the same hyperparameters, as in the table `propagation`."""
        rows = Protocol("published", "released").of(self._rows("runs"))
        rows = like_for_like(cell(rows, dataset=dataset, split_kind=split), gradient)
        if not (rows["model"] == model).any():
            raise UserError(f"findings: {self.folder / 'runs'}.csv has no like-for-like run of {model} on {dataset}")
        found = compare(cell(rows, model=model), cell(rows, model=CONTINUOUS))
        return _difference_text(found.estimate, found.low, found.high)

    def headline(self) -> list[str]:
        """The sentences of the README's headline."""
        return [sentence.text for sentence in headline(self.folder)]

    def _claim(self, claim: str) -> dict[str, Any]:
        if claim not in self.claims:
            raise UserError(f"findings: {self.folder}/claims.json has no {claim}")
        return self.claims[claim]

    def _comparison(self, claim: str, comparison: str) -> dict[str, Any]:
        found = {made["label"]: made for made in self._claim(claim)["comparisons"]}
        if comparison not in found:
            raise UserError(f"findings: {claim} has no comparison {comparison!r}; it has {', '.join(found)}")
        return found[comparison]

    def _rows(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            self._frames[name] = finished(load_rows(self.folder / f"{name}.csv"))
        return self._frames[name]

    def _mean(self, name: str, wanted: dict[str, str], column: str) -> str:
        rows = cell(self._rows(name), **wanted)
        if len(rows) < 2:
            requested = ", ".join(f"{key} {value}" for key, value in wanted.items() if value)
            raise UserError(f"findings: {self.folder / name}.csv has no {requested}; correct the template, or run it")
        return _text(rows[column].mean(), rows[column].std(ddof=1))


def _difference_text(estimate: float, low: float, high: float) -> str:
    if not all(map(math.isfinite, (estimate, low, high))):
        raise UserError("findings: a difference has too few runs for an interval; run what it compares")
    digits = digits_of(estimate, low, high)
    return f"{signed(estimate, digits)} [{signed(low, digits)}, {signed(high, digits)}]"


def _text(mean: float, std: float) -> str:
    return f"{mean:.1f} ± {std:.1f}"


def render_findings(published: Path) -> str:
    """The page; it has a section on NELL if the folder of those results is next to ``published``."""
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    nell = published.with_name(f"{published.name}_nell_partial")
    return page.render(n=Numbers(published), nell=Numbers(nell) if nell.is_dir() else None).rstrip("\n") + "\n"


def renew_findings(published: Path) -> None:
    write_text(PAGE, render_findings(published))
