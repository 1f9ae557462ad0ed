"""Which tables and figures there are, what each reads, and which code draws it.

A light module: the workflow reads it to write its rules, and a product's code is named by a string,
so that its fingerprint holds the code of that product alone (editing one figure redraws one figure;
editing ``cgnn/render/style.py`` redraws them all).
"""

from dataclasses import dataclass

from cgnn.errors import UserError

#: Every input by name: where it lies in a results tree. `*` stands for several files.
INPUTS = {
    "runs": "runs.csv",
    "summary": "summary.csv",
    "sweeps": "sweeps.csv",
    "fidelity": "fidelity.csv",
    "profiles": "profiles.csv",
    "trials": "trials.csv",
    "convergence": "convergence.csv",
    "claims": "claims.json",
    "bench": "bench.json",
    "alpha": "alpha/*.npz",
    "curves": "curves/*/*.csv",
}
#: Inputs that lie outside the results tree; the workflow copies what `make bench` wrote to bench.json in the tree.
ELSEWHERE = {"reported": "paper/reported.yaml", "bench": "benchmarks/out/bench.json"}

TABLE_FORMATS = ("csv", "md", "tex", "json")
FIGURE_FORMATS = ("pdf", "svg", "png", "json")


@dataclass(frozen=True)
class Entry:
    """One product: the module with its ``build`` or ``draw``, what it must read and what it may read."""

    module: str
    label: str
    inputs: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


TABLES = {
    "fixed_splits": Entry("cgnn.render.tables.fixed_splits", "Table 2: fixed splits", ("runs", "reported")),
    "random_splits": Entry("cgnn.render.tables.random_splits", "Table 3: random splits", ("runs", "reported")),
    "hyperparameters": Entry(
        "cgnn.render.tables.hyperparameters", "Hyperparameters", ("runs", "reported"), ("trials",)
    ),
    "running_time": Entry("cgnn.render.tables.running_time", "Running time", ("profiles", "reported"), ("bench",)),
    "gcn_residual": Entry("cgnn.render.tables.gcn_residual", "Residual GCN", ("runs", "reported"), ("sweeps",)),
    "fidelity": Entry("cgnn.render.tables.fidelity", "Fidelity", ("fidelity", "reported")),
    "speed": Entry("cgnn.render.tables.speed", "Speed", (), ("bench",)),
    "claims": Entry("cgnn.render.tables.claims", "Claims", ("claims",)),
}

FIGURES = {
    "architecture": Entry("cgnn.render.figures.architecture", "Figure 1: architecture"),
    "accuracy_depth_time": Entry(
        "cgnn.render.figures.accuracy_depth_time", "Figure 2: accuracy against depth or time", ("sweeps",)
    ),
    "memory_depth_time": Entry(
        "cgnn.render.figures.memory_depth_time", "Figure 3: memory against depth or time", ("profiles",)
    ),
    "alpha_degree": Entry("cgnn.render.figures.alpha_degree", "Learned α over node degree", ("alpha",)),
    "convergence": Entry("cgnn.render.figures.convergence", "Convergence to the fixed point", ("convergence",)),
    "accuracy_epoch": Entry("cgnn.render.figures.accuracy_epoch", "Accuracy by epoch", ("curves",)),
    "search": Entry("cgnn.render.figures.search", "Hyperparameter search", ("trials",)),
    "speed_accuracy": Entry(
        "cgnn.render.figures.speed_accuracy", "Speed against accuracy", ("runs", "profiles"), ("bench",)
    ),
}

#: What ``python -m cgnn claims`` reads: any of them may be missing, its claims are then not testable.
CLAIMS_INPUTS = ("runs", "sweeps", "fidelity", "profiles", "convergence", "bench")

#: The code behind the verbs that make one product each.
VERB_MODULES = {
    "summarise": ("cgnn.analysis.summary",),
    "claims": ("cgnn.analysis.verdicts",),
    "convergence": ("cgnn.analysis.convergence",),
    "paper": ("cgnn.render.paper",),
    "scorecard": ("cgnn.render.scorecard",),
}

#: What the scorecard is written with, beside code.
PAGE_FILES = tuple(f"cgnn/render/page/page.{suffix}" for suffix in ("html.jinja", "css", "js"))


def entry(kind: str, name: str) -> Entry:
    """The catalogue's entry of a ``table`` or a ``figure``, or an error that lists what there is."""
    shelf = {"table": TABLES, "figure": FIGURES}[kind]
    if name not in shelf:
        raise UserError(f"{kind} {name!r} does not exist; there are {', '.join(shelf)}")
    return shelf[name]


def modules_of_table(name: str) -> tuple[str, ...]:
    """The modules whose code makes the table, for its fingerprint."""
    return (entry("table", name).module,)


def modules_of_figure(name: str) -> tuple[str, ...]:
    """The modules whose code draws the figure, for its fingerprint."""
    return (entry("figure", name).module,)
