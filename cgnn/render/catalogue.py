"""The tables and figures, their inputs, and the modules that produce them.

The workflow reads this module for its rules, so it imports little. A product names its module by a string, so that its
fingerprint covers only its code: editing one figure redraws only that figure, and editing ``cgnn/render/style.py``
redraws them all.
"""

from dataclasses import dataclass

from cgnn.errors import UserError

#: Inputs by name: where they are in a results tree. `*` stands for several files.
INPUTS = {
    "graphs": "data/*/graph.npz",
    "runs": "runs.csv",
    "summary": "summary.csv",
    "sweeps": "sweeps.csv",
    "fidelity": "fidelity.csv",
    "profiles": "profiles.csv",
    "trials": "trials.csv",
    "convergence": "convergence.csv",
    "claims": "claims.json",
    "recorded": "recorded.npz",
    "seconds": "seconds.csv",
    "bench": "bench.json",
}
#: Inputs outside the results tree.
ELSEWHERE = {"reported": "paper/reported.yaml"}

TABLE_FORMATS = ("csv", "md", "tex", "json")
FIGURE_FORMATS = ("pdf", "svg", "png", "json")


@dataclass(frozen=True)
class Product:
    """One table or figure: the module with its ``build`` or ``draw``, and the required and optional inputs."""

    module: str
    label: str
    inputs: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def _table(name: str, label: str, *inputs: str, optional: tuple[str, ...] = ()) -> tuple[str, Product]:
    return name, Product(f"cgnn.render.tables.{name}", label, inputs, optional)


def _figure(name: str, label: str, *inputs: str, optional: tuple[str, ...] = ()) -> tuple[str, Product]:
    return name, Product(f"cgnn.render.figures.{name}", label, inputs, optional)


#: In the order of the paper. A table without rows is written, but the PDF and the page leave it out.
TABLES = dict(
    (
        _table("datasets", "Table 1: datasets", "graphs", "reported"),
        _table("fixed_splits", "Table 2: fixed splits", "summary", "reported"),
        _table("random_splits", "Table 3: random splits", "summary", "reported"),
        _table("propagation", "Continuous and discrete propagation", "runs"),
        _table("fidelity", "Fidelity", "fidelity", "runs", "reported"),
        _table("split_rules", "Rules for random splits", "summary", "reported"),
        _table("gcn_residual", "Residual GCN", "summary", "reported"),
        _table("running_time", "Running time", "profiles", "reported", optional=("bench",)),
        _table("speed", "Speed", optional=("bench",)),
        _table("hyperparameters", "Hyperparameters", "runs", "reported", optional=("trials",)),
        _table("claims", "Claims", "claims"),
    )
)

#: A figure without data is written as well and left out in the same way.
FIGURES = dict(
    (
        _figure("architecture", "Figure 1: architecture"),
        _figure("forest", "Every cell against the paper", "summary"),
        _figure("forest_compact", "The main table against the paper", "summary"),
        _figure("accuracy_depth_time", "Figure 2: accuracy against depth or time", "sweeps"),
        _figure("memory_depth_time", "Figure 3: memory against depth or time", "profiles"),
        _figure("convergence", "Convergence to the fixed point", "convergence"),
        _figure("alpha_degree", "Learned α over node degree", "recorded"),
        _figure("accuracy_epoch", "Accuracy by epoch", "recorded"),
        _figure("speed_accuracy", "Speed and accuracy", "runs", "profiles", optional=("bench",)),
        _figure("search", "Hyperparameter search", "trials"),
    )
)

#: Inputs of ``python -m cgnn claims``. Any may be missing; the claims that need it are then not testable.
CLAIMS_INPUTS = ("runs", "sweeps", "fidelity", "profiles", "convergence", "bench")

#: Files besides code that the scorecard is made from.
PAGE_FILES = tuple(f"cgnn/render/page/page.{suffix}" for suffix in ("html.jinja", "css", "js"))


def product(kind: str, name: str) -> Product:
    """The record of a ``table`` or a ``figure``, or an error that lists the known ones."""
    known = {"table": TABLES, "figure": FIGURES}[kind]
    if name not in known:
        raise UserError(f"{kind} {name!r} does not exist; expected one of {', '.join(known)}")
    return known[name]
