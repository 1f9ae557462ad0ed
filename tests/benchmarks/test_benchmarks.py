"""The comparison is of like with like, and the harness measures, judges and renders what it says."""

import json
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from benchmarks.__main__ import main
from benchmarks.growth import exponent
from benchmarks.ours import Floor
from benchmarks.problem import synthetic_problem
from benchmarks.pyg_baselines import PygEpoch
from benchmarks.released_recipe import ReleasedCGNN, ReleasedEpoch
from benchmarks.render import BLOCKS, fill, markdown
from benchmarks.requirements import check
from benchmarks.timing import Plan, take_turns
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
    ours = CGNN(
        data.num_features,
        settings.hidden,
        data.num_classes,
        data.num_nodes,
        t1=settings.t1,
        alpha=settings.alpha,
        gamma=settings.gamma,
        weight=weight,
        fidelity=preset("released"),
        input_dropout=0.0,
    ).double()
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


def test_the_floor_counts_three_passes_of_the_series(problem):
    short, long = (
        Floor(problem, override(published("cora", "fixed", "cgnn"), t1=t1)).propagations for t1 in (1.0, 100.0)
    )
    assert short % 3 == 0
    assert short < long < 100 * short  # the degree grows like the root of t1


def test_contestants_take_turns():
    order = []
    turns = take_turns(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")}, Plan(rounds=2, turn_seconds=0.0)
    )
    assert "".join(order[-4:]) == "abab"
    assert [len(seconds) for seconds in turns.values()] == [2, 2]


def test_a_slow_contestant_leaves_after_its_least_rounds():
    plan = Plan(rounds=9, least_rounds=3, turn_seconds=0.0, seconds_each=-1.0)
    assert len(take_turns({"slow": lambda: None}, plan)["slow"]) == 3


def test_the_first_of_a_long_contestants_calls_counts():
    plan = Plan(rounds=9, least_rounds=3, turn_seconds=0.0, seconds_each=-1.0, long_call=-1.0)
    calls = []
    assert len(take_turns({"long": lambda: calls.append(1)}, plan)["long"]) == len(calls) == 3


def test_the_exponent_of_linear_growth_is_one():
    rows = [{"nodes": n, "ms_per_epoch": 3e-4 * n} for n in (10, 100, 1000)]
    assert exponent(rows, "ms_per_epoch") == pytest.approx(1.0)


def test_requirements_are_judged_on_the_rows_at_hand():
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
    assert [row["nodes"] for row in content["growth"]] == [3000, 10000]
    assert all(row["last_loss"] < row["first_loss"] for row in content["growth"])
    assert "| 10,000 |" in (tmp_path / "bench.md").read_text()
    assert "growth" in capsys.readouterr().out


def test_a_documents_blocks_are_written_anew_and_the_rest_is_left_alone():
    content = {"requirements": [{"what": "x", "relation": "≥", "limit": 100, "measured": 123.4, "met": True}]}
    filled = fill("before\n<!-- bench requirements -->\nold\n<!-- end -->\nafter", content)
    assert "| x | ≥ 100 | 123 | yes |" in filled
    assert filled.startswith("before") and filled.endswith("after") and "old" not in filled


def test_the_numbers_in_the_speed_page_are_those_of_its_json():
    content = json.loads((DOCS / "speed.json").read_text(encoding="utf-8"))
    page = (DOCS / "speed.md").read_text(encoding="utf-8")
    assert fill(page, content) == page
    assert all(f"<!-- bench {name} -->" in page for name in BLOCKS)
    assert markdown(content)
