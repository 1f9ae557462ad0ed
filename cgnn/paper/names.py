"""How names of files read in print, in the paper's order."""

MODELS = {
    "gat_gode": "GAT-GODE",
    "gcn_gode": "GCN-GODE",
    "gcn": "GCN",
    "gat": "GAT",
    "gcn_residual": "GCN residual",
    "cgnn_discrete": "CGNN discrete",
    "cgnn_no_h0": "CGNN w/o H(0)",
    "cgnn": "CGNN",
    "cgnn_weight": "CGNN with weight",
}
DATASETS = {
    "cora": "Cora",
    "citeseer": "Citeseer",
    "pubmed": "Pubmed",
    "nell": "NELL",
    "nell_partial": "NELL (partial labels)",
    "synthetic": "Synthetic",
}
METHODS = {
    "gcn": "GCN",
    "gat": "GAT",
    "gcn_residual": "GCN residual",
    "cgnn_discrete": "CGNN discrete",
    "cgnn_released": "CGNN, released",
    "cgnn_dopri5": "CGNN, dopri5",
    "cgnn_rk4": "CGNN, rk4",
    "cgnn_adjoint": "CGNN, adjoint",
    "cgnn_exact": "CGNN, exact",
    "cgnn_exact_recompute": "CGNN, exact, recomputing",
    "gcn_pyg_sparse": "GCN, PyG, sparse features",
    "gcn_ours": "GCN, our input path",
    "gcn_fused": "GCN, fused products",
    "gat_pyg_sparse": "GAT, PyG, sparse features",
    "gat_ours": "GAT, our input path",
    "gat_fused": "GAT, fused products",
    "cgnn_weight_exact_recompute": "CGNN weight, recomputing",
    "cgnn_weight_released": "CGNN weight, released",
    "cgnn_weight_dopri5": "CGNN weight, dopri5",
    "cgnn_weight_rk4": "CGNN weight, rk4",
    "cgnn_weight_adjoint": "CGNN weight, adjoint",
    "cgnn_weight_exact": "CGNN weight, exact",
}


def model(name: str) -> str:
    return MODELS.get(name, name.replace("_", " "))


def dataset(name: str) -> str:
    return DATASETS.get(name, name.replace("_", " "))


def method(name: str) -> str:
    return METHODS.get(name, name.replace("_", " "))
