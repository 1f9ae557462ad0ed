"""docs/findings.md from its template in paper/: every number in it is looked up in the committed result files."""

import json
from pathlib import Path

import pandas as pd

from cgnn.analysis.measured import load_profiles
from cgnn.analysis.rows import OK, finished, load_rows
from cgnn.errors import UserError
from cgnn.files import write_text
from cgnn.paper.reported import load_reported

REPORTED, TEMPLATE, PAGE = Path("paper/reported.yaml"), Path("paper/findings.md.jinja"), Path("docs/findings.md")


class Numbers:
    """What the template may ask for; a number that the results do not hold is an error that names it."""

    def __init__(self, published: Path) -> None:
        self.folder = published
        self.reported = load_reported(REPORTED)
        self.claims = {
            claim["id"]: claim
            for claim in json.loads((published / "claims.json").read_text(encoding="utf-8"))["claims"]
        }
        self._frames: dict[str, pd.DataFrame] = {}

    def run(
        self,
        dataset: str,
        model: str,
        split: str = "fixed",
        preset: str = "released",
        source: str = "published",
        variant: str = "",
    ) -> str:
        """A cell of Tables 2 and 3, or with a variant of the residual GCN's."""
        wanted = {
            "dataset": dataset,
            "model": model,
            "split_kind": split,
            "preset": preset,
            "hyperparameter_source": source,
            "variant": variant,
        }
        return self._mean("runs", wanted, "test_accuracy")

    def switch(self, dataset: str, variant: str, column: str = "test_accuracy") -> str:
        """A cell of the fidelity table; ``column`` is another selection rule."""
        return self._mean("fidelity", {"dataset": dataset, "variant": variant}, column)

    def sweep(self, dataset: str, model: str, variant: str) -> str:
        """A point of the depth and time figure."""
        return self._mean("sweeps", {"dataset": dataset, "model": model, "variant": variant}, "test_accuracy")

    def paper(self, dataset: str, model: str, split: str = "fixed") -> str:
        """What the paper prints."""
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
        """The most memory that a profile of the method saw."""
        rows = load_profiles(self.folder / "profiles.csv")
        rows = rows[(rows["dataset"] == dataset) & (rows["method"] == method) & (rows["status"] == OK)]
        if rows.empty:
            raise UserError(f"findings: {self.folder}/profiles.csv holds no {method} on {dataset}")
        return f"{rows['peak_bytes'].max() / 2**20:,.0f} MiB"

    def dense_features(self, dataset: str) -> str:
        """What the features would take if their zeros were stored, four bytes each."""
        sizes = pd.read_csv(self.folder / "tables" / "datasets.csv").set_index("dataset").loc[dataset]
        return f"{4 * sizes['nodes'] * sizes['features'] / 1e9:.1f} GB"

    def verdict(self, claim: str) -> str:
        return self.claims[claim]["verdict"]

    def evidence(self, claim: str) -> str:
        return self.claims[claim]["evidence"]

    def _mean(self, name: str, wanted: dict[str, str], column: str) -> str:
        if name not in self._frames:
            self._frames[name] = finished(load_rows(self.folder / f"{name}.csv"))
        rows = self._frames[name]
        for key, value in wanted.items():
            rows = rows[rows[key] == value]
        if len(rows) < 2:
            asked = ", ".join(f"{key} {value}" for key, value in wanted.items() if value)
            raise UserError(f"findings: {self.folder / name}.csv holds no {asked}; mend the template, or run it")
        return _text(rows[column].mean(), rows[column].std(ddof=1))


def _text(mean: float, std: float) -> str:
    return f"{mean:.1f} ± {std:.1f}"


def render_findings(published: Path) -> str:
    """The page; NELL's part of it is there if its results lie beside ``published``."""
    import jinja2

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    nell = published.with_name(f"{published.name}_nell_partial")
    return page.render(n=Numbers(published), nell=Numbers(nell) if nell.is_dir() else None).rstrip("\n") + "\n"


def renew_findings(published: Path) -> None:
    write_text(PAGE, render_findings(published))
