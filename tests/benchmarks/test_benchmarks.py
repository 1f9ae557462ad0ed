"""The benchmarks compare equivalent computations, and the harness measures, judges and renders correctly."""

import csv
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.sparse import coo_array, csgraph
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks import timing
from benchmarks.__main__ import BENCHMARKS, earlier_results, harness_fingerprints, main
from benchmarks.cost_model import PASSES, Size, bytes_held, products, terms_of
from benchmarks.growth import Point, measure_growth
from benchmarks.order import measure_order
from benchmarks.ours import Floor, OurEpoch
from benchmarks.problem import community_graph, synthetic_problem
from benchmarks.pyg_baselines import PygEpoch
from benchmarks.released_recipe import ReleasedCGNN, ReleasedEpoch
from benchmarks.render import BLOCKS, fill, markdown
from benchmarks.requirements import check
from benchmarks.timing import QUICK, Plan, take_turns
from cgnn.errors import UserError
from cgnn.models.cgnn import CGNN
from cgnn.paper.fidelity import preset
from cgnn.paper.hyperparameters import override, published

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def problem():
    return synthetic_problem(2000)


@pytest.mark.parametrize("model", ["cgnn", "cgnn_weight"])
def test_the_released_recipe_and_the_exact_solver_give_the_same_scores_and_gradients(problem, model):
    settings = override(published("cora", "fixed", model), t1=6.0, input_dropout=0.0)
    weight = model == "cgnn_weight"
    theirs = ReleasedCGNN(problem, settings, weight, dtype=torch.float64)
    data = problem.data
    sizes = (data.num_features, settings.hidden, data.num_classes, data.num_nodes)
    options = {"t1": settings.t1, "alpha": settings.alpha, "gamma": settings.gamma, "weight": weight}
    ours = CGNN(*sizes, **options, fidelity=preset("released"), input_dropout=0.0).double()
    torch.manual_seed(1)
    with torch.no_grad():
        theirs.derivative.theta.add_(torch.randn_like(theirs.derivative.theta))
        ours.conv.theta.copy_(theirs.derivative.theta)
        for mine, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
            mine.weight.copy_(other.weight.t())
            mine.bias.copy_(other.bias)
        if weight:
            theirs.derivative.m.mul_(torch.rand_like(theirs.derivative.m))
            theirs.derivative.u.copy_(torch.linalg.qr(torch.randn_like(theirs.derivative.u)).Q)
            ours.conv.weight.M.copy_(theirs.derivative.m)
            ours.conv.weight.U.copy_(theirs.derivative.u)
    x = data.x.to(torch.float64)
    scores, released = ours(x, data.edge_index), theirs(x.to_dense())
    torch.testing.assert_close(scores, released, rtol=1e-5, atol=1e-6)
    for result in (scores, released):
        functional.cross_entropy(result[problem.train], data.labels[problem.train]).backward()
    pairs = [
        (ours.encoder.weight.grad.t(), theirs.encoder.weight.grad),
        (ours.decoder.weight.grad.t(), theirs.decoder.weight.grad),
        (ours.conv.theta.grad, theirs.derivative.theta.grad),
    ]
    if weight:
        pairs += [
            (ours.conv.weight.U.grad, theirs.derivative.u.grad),
            (ours.conv.weight.M.grad, theirs.derivative.m.grad),
        ]
    for mine, other in pairs:
        assert (mine - other).norm() <= 1e-4 * other.norm()


def test_an_epoch_of_every_baseline_runs_and_learns(problem):
    for epoch in (PygEpoch(problem, "gcn", sparse=False), PygEpoch(problem, "gcn", sparse=True)):
        accuracies = [epoch()[1] for _ in range(15)]
        assert accuracies[-1] > 1.5 / problem.data.num_classes
    assert all(0 <= value <= 1 for value in PygEpoch(problem, "gat", sparse=True)())
    released = ReleasedEpoch(problem, override(published("cora", "fixed", "cgnn"), t1=1.0), weight=False)
    released()
    assert released.evaluations_of_last_epoch > 3 * 6  # a step and two evaluations, several dopri5 stages each


class CountedProducts(TorchDispatchMode):
    """Counts the products that torch computes with a sparse square matrix."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        sparse = [a for a in args if isinstance(a, torch.Tensor) and a.layout == torch.sparse_csr]
        self.count += "mm" in str(function) and any(a.shape[0] == a.shape[1] for a in sparse)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("solver", ["exact", "exact_recompute"])
@pytest.mark.parametrize("t1", [1.0, 12.1])
def test_the_cost_model_counts_the_products_of_an_epoch_and_of_the_floor(problem, solver, t1):
    settings = override(published("cora", "fixed", "cgnn"), t1=t1)
    counts = []
    for run in (OurEpoch(problem, "cgnn", settings, solver), Floor(problem, settings, solver)):
        run()
        with CountedProducts() as counted:
            run()
        counts.append(counted.count)
    assert counts == [products(terms_of(settings), solver)] * 2


class CountedPasses(TorchDispatchMode):
    """Counts how often torch's operations read or write a dense matrix of a given shape."""

    def __init__(self, shape):
        super().__init__()
        self.shape, self.count = shape, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function not in (torch.ops.aten.detach.default, torch.ops.aten.view.default):  # these touch no memory
            tensors = [a for a in (*args, result) if isinstance(a, torch.Tensor) and a.layout == torch.strided]
            self.count += sum(a.shape == self.shape for a in tensors)
        # Out of place, torch copies the summand to the result before it adds the product.
        self.count += 2 * (function is torch.ops.aten.addmm.default and args[1].layout == torch.sparse_csr)
        return result


@pytest.mark.parametrize("solver", ["exact", "exact_recompute"])
def test_the_cost_model_counts_the_passes_over_the_state(problem, solver):
    counts, terms = [], []
    for t1 in (1.0, 5.0):  # with these, all series of an epoch have equally many terms
        settings = override(published("cora", "fixed", "cgnn"), t1=t1)
        run = OurEpoch(problem, "cgnn", settings, solver)
        run()
        with CountedPasses((problem.data.num_nodes, settings.hidden)) as counted:
            run()
        counts.append(counted.count)
        terms.append(terms_of(settings))
    assert counts[1] - counts[0] == PASSES[solver] * (terms[1] - terms[0])


def test_the_number_of_terms_grows_like_the_square_root_of_the_end_time():
    settings = published("cora", "fixed", "cgnn")
    few, many = (terms_of(override(settings, t1=t1)) for t1 in (10.0, 1000.0))
    assert few < many < 2 * 10 * few


@pytest.mark.parametrize("solver", ["exact", "exact_recompute"])
@pytest.mark.parametrize("graph", ["random", "community"])
def test_the_cost_model_predicts_the_memory_of_an_epoch(graph, solver):
    row = measure_growth(Point(graph, 8000, solver), 1)
    assert row.get("failed") is None
    assert row["peak_bytes"] == pytest.approx(bytes_held(Size.of(row), solver), rel=0.02)
    assert row["last_loss"] < row["first_loss"]


def test_a_size_whose_process_fails_is_reported_in_its_row():
    row = measure_growth(Point("no such graph", 100), 1)
    assert "KeyError" in row["failed"]
    assert "failed: KeyError" in markdown({"growth": [row], "requirements": check({"growth": [row]})})


def test_resident_memory_does_not_include_that_of_the_process_that_measures():
    """ru_maxrss of a child is at least its parent's memory; a row of 1,000 nodes needs less than 1 GiB."""
    held = np.ones(2**27)  # 1 GiB
    row = measure_growth(Point("random", 1000), threads=1)
    assert 2**26 < row["resident_bytes"] < held.nbytes == 2**30


def test_communities_have_most_edges_inside_and_are_numbered_at_random():
    graph = community_graph(7000)
    adjacency = coo_array((np.ones(graph.num_edges), tuple(graph.edges)), shape=(7000, 7000))
    order = csgraph.reverse_cuthill_mckee((adjacency + adjacency.T).tocsr(), symmetric_mode=True)
    place = np.argsort(order)
    distances = [np.abs(np.diff(nodes, axis=0)).mean() for nodes in (graph.edges, place[graph.edges])]
    assert distances[0] > 7000 / 4  # independent nodes would have a third
    assert distances[1] < distances[0] / 2
    same = graph.labels[graph.edges[0]] == graph.labels[graph.edges[1]]
    assert 0.88 < same.mean() < 0.94  # 0.9 inside communities of one class, and a seventh of the rest
    assert 2 * graph.num_edges / 7000 == pytest.approx(3.9, rel=0.05)


def test_both_orders_of_nodes_give_the_same_product():
    row = measure_order(community_graph(3000), 1, QUICK)
    assert row["largest_difference"] < 1e-5
    assert row["original_ms"] > 0 and row["reordered_ms"] > 0


def test_contestants_take_turns():
    order = []
    contestants = {name: partial(order.append, name) for name in "ab"}
    turns = take_turns(contestants, Plan(rounds=2, turn_seconds=0.0))
    assert "".join(order[-4:]) == "abab"
    assert [len(seconds) for seconds in turns.values()] == [2, 2]


def test_a_slow_contestant_stops_after_the_minimum_number_of_rounds():
    plan = Plan(rounds=9, least_rounds=3, turn_seconds=0.0, seconds_each=-1.0)
    assert len(take_turns({"slow": lambda: None}, plan)["slow"]) == 3


@pytest.mark.parametrize("seconds", [[9.0, 2.0, 3.0, 4.0], [0.9, 0.1, 0.1, 0.1, 0.2, 0.3, 0.4]])
def test_the_first_call_of_a_contestant_never_counts(monkeypatch, seconds):
    """It is slower than the others: packages are imported, memory is allocated."""
    durations = iter(seconds)
    monkeypatch.setattr(timing, "timed", lambda run: next(durations))
    turns = take_turns({"slow at first": lambda: None}, Plan(rounds=3, turn_seconds=0.0))
    assert turns["slow at first"] == seconds[-3:]


def test_requirements_are_judged_on_the_available_rows():
    def row(model, recipe, ms):
        return {"dataset": "cora", "threads": 2, "model": model, "recipe": recipe, "ms_per_epoch": ms}

    rows = [row("cgnn", "released", 1000.0), row("cgnn", "exact", 5.0), row("gcn", "pyg", 4.0)]
    found = {item["what"]: item for item in check({"rows": rows})}
    assert found["Cora, 2 threads: cgnn, released recipe ÷ exact"]["met"]
    assert not found["Cora, 2 threads: cgnn, exact ÷ GCN on PyG"]["met"]
    assert len(found) == 2


def test_the_command_writes_json_and_markdown(tmp_path, capsys):
    assert main(["--quick", "--only", "growth", "--threads", "1", "--out", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "bench.json").read_text())
    assert [row["nodes"] for row in content["growth"]] == [3000, 10000, 10000, 10000]
    assert "| community, exact_recompute, 10,000 |" in (tmp_path / "bench.md").read_text()
    assert "growth" in capsys.readouterr().out
    assert content["harness"] == harness_fingerprints()
    assert main(["--quick", "--only", "order", "--threads", "1", "--out", str(tmp_path)]) == 0
    both = json.loads((tmp_path / "bench.json").read_text())
    assert both["growth"] == content["growth"] and len(both["order"]) == 1
    assert set(both["part_seconds"]) == {"growth", "order"} and both["harness"] == content["harness"]
    both["code"]["cgnn"] = "0123456789abcdef"
    (tmp_path / "bench.json").write_text(json.dumps(both))
    with pytest.raises(UserError, match="measured with other code"):
        main(["--quick", "--only", "order", "--threads", "1", "--out", str(tmp_path)])
    assert json.loads((tmp_path / "bench.json").read_text()) == both


def test_parts_that_another_harness_measured_are_not_kept(tmp_path):
    code, harness, path = {"cgnn": "a"}, {"adaptive solvers": "b", "benchmarks": "c"}, tmp_path / "bench.json"
    for changed in harness:
        path.write_text(json.dumps({"code": code, "harness": harness | {changed: "x"}}))
        with pytest.raises(UserError, match="measured with other code"):
            earlier_results(path, code, harness)
    path.write_text(json.dumps({"code": code, "harness": harness, "growth": []}))
    assert earlier_results(path, code, harness) == {"code": code, "harness": harness, "growth": []}


def test_results_from_before_the_harness_had_fingerprints_are_kept(tmp_path):
    content = json.loads((DOCS / "speed.json").read_text(encoding="utf-8"))
    content.pop("harness", None)
    (tmp_path / "speed.json").write_text(json.dumps(content))
    assert earlier_results(tmp_path / "speed.json", content["code"], {"benchmarks": "c"}) == content


@pytest.mark.parametrize("edited", sorted(path.name for path in BENCHMARKS.glob("*.py")))
def test_the_fingerprint_of_the_harness_covers_every_module_but_the_one_that_renders(tmp_path, edited):
    folder = shutil.copytree(BENCHMARKS, tmp_path / "benchmarks")
    before = harness_fingerprints(folder)
    with (folder / edited).open("a", encoding="utf-8") as file:
        file.write("# a comment\n")
    assert harness_fingerprints(folder) == before
    with (folder / edited).open("a", encoding="utf-8") as file:
        file.write("ADDED = 1\n")
    assert (harness_fingerprints(folder) == before) == (edited == "render.py")


def test_the_growth_table_is_judged_by_the_ratio_to_bare_products_and_by_memory():
    sizes = {"stored": 49 * 10**5, "features": 18 * 10**6, "width": 16, "terms": 12, "solver": "exact"}
    row = {"graph": "community", "nodes": 10**6, **sizes, "ms_per_epoch": 300.0, "floor_ms": 100.0}
    row |= {"resident_bytes": 2**30, "peak_bytes": bytes_held(Size.of(row), "exact")}
    found = {item["what"]: item for item in check({"growth": [row]})}
    where = "community graph, 1,000,000 nodes, exact"
    assert not found[f"{where}: epoch ÷ bare products"]["met"]
    assert found[f"{where}: bytes held, measured ÷ model, away from 1"]["met"]


def test_the_blocks_of_a_document_are_rewritten_and_the_rest_is_unchanged():
    content = {"requirements": [{"what": "x", "relation": "≥", "limit": 100, "measured": 123.4, "met": True}]}
    filled = fill("before\n<!-- bench requirements -->\nold\n<!-- end -->\nafter", content)
    assert "| x | ≥ 100 | 123 | yes |" in filled
    assert filled.startswith("before") and filled.endswith("after") and "old" not in filled


def test_the_numbers_in_the_pages_come_from_the_json_file():
    content = json.loads((DOCS / "speed.json").read_text(encoding="utf-8"))
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("speed.md", "scaling.md")]
    assert all(fill(page, content) == page for page in pages)
    assert all(f"<!-- bench {name} -->" in "".join(pages) for name in BLOCKS)
    assert markdown(content)


def test_the_published_benchmark_measured_the_code_that_trained_the_published_rows():
    published = DOCS.parent / "results" / "published"
    code = json.loads((published / "bench.json").read_text(encoding="utf-8"))["code"]
    with (published / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] in code and row["sw_solver"] == "exact"]
    assert {(row["model"], row["code_fingerprint"]) for row in rows} == set(code.items())
    assert json.loads((DOCS / "speed.json").read_text(encoding="utf-8"))["code"] == code
