"""Names of models, methods and datasets in tables, figures and claims, in the paper's order."""

from cgnn.models.records import RECORDS, SOLVER_LABELS

MODELS = {name: record.label for name, record in RECORDS.items()}
DATASETS = {
    "cora": "Cora",
    "citeseer": "Citeseer",
    "pubmed": "Pubmed",
    "nell": "NELL",
    "nell_partial": "NELL (partial labels)",
    "synthetic": "Synthetic",
}
#: What a profile or a benchmark measures: a model, a CGNN model with a solver, or an implementation of a baseline.
METHODS = {
    **MODELS,
    **{
        f"{name}_{solver}": f"{record.label}, {words}"
        for name, record in RECORDS.items()
        if record.family == "cgnn" and record.options.get("variant") != "discrete"
        for solver, words in SOLVER_LABELS.items()
    },
    "gcn_pyg_sparse": "GCN, PyG, sparse features",
    "gcn_ours": "GCN, PyG, our encoder",
    "gcn_fused": "GCN, ours",
    "gat_pyg_sparse": "GAT, PyG, sparse features",
    "gat_ours": "GAT, PyG, our encoder",
    "gat_fused": "GAT, ours",
}


def model(name: str) -> str:
    return MODELS.get(name, name.replace("_", " "))


def dataset(name: str) -> str:
    return DATASETS.get(name, name.replace("_", " "))


def method(name: str) -> str:
    return METHODS.get(name, name.replace("_", " "))
