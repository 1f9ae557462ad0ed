"""Figures: formats, reproducible bytes, legibility, distinction without colour, and separate fingerprints."""

import json
import shutil
from dataclasses import replace
from importlib import import_module
from itertools import pairwise

import matplotlib.pyplot as plt
import matplotlib.text
import numpy as np
import pandas as pd
import pytest
import synthetic_results as synthetic
import yaml

from cgnn.__main__ import main
from cgnn.paper.fidelity import preset
from cgnn.pipeline.fingerprint import PACKAGE, code_fingerprint, import_closure
from cgnn.render.catalogue import FIGURE_FORMATS, FIGURES, INPUTS, TABLES
from cgnn.render.figures import (
    accuracy_depth_time,
    accuracy_epoch,
    alpha_degree,
    convergence,
    forest,
    memory_depth_time,
    search,
    speed_accuracy,
)
from cgnn.render.plots import RECORDED, _apart, label_ends
from cgnn.render.products import load_figures
from cgnn.render.style import PAGE, look, use_style, write_figure
from cgnn.results.recorded import write_recorded

SMALLEST = 7.0  # points


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_written_in_all_formats_with_title_and_caption(finished, name):
    for suffix in FIGURE_FORMATS:
        assert (finished / "figures" / f"{name}.{suffix}").stat().st_size > 0
    words = json.loads((finished / "figures" / f"{name}.json").read_text())
    assert words["title"] and words["alt"] and words["caption"].endswith(".")


@pytest.mark.parametrize("name", ["architecture", "convergence", "speed_accuracy"])
def test_drawing_twice_gives_the_same_bytes(finished, tmp_path, name):
    common = ["--results", str(finished), "--bench", str(finished / "bench.json")]
    assert main(["figure", name, *common, "--out", str(tmp_path / name)]) in (0, None)
    for suffix in FIGURE_FORMATS:
        first = (finished / "figures" / f"{name}.{suffix}").read_bytes()
        assert (tmp_path / f"{name}.{suffix}").read_bytes() == first, suffix


@pytest.mark.parametrize("name", FIGURES)
def test_text_is_legible_at_column_width(results, name, monkeypatch):
    drawn = _draw(results, name)
    assert drawn.figure.get_figwidth() == PAGE
    sizes = {text.get_fontsize() for text in drawn.figure.findobj(matplotlib.text.Text) if text.get_text().strip()}
    assert min(sizes) >= SMALLEST


@pytest.mark.parametrize("name", FIGURES)
def test_legends_stay_inside_the_figure(results, name):
    drawn = _draw(results, name)
    drawn.figure.canvas.draw()
    frame = drawn.figure.bbox
    for legend in drawn.figure.legends:
        box = legend.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0


def test_a_single_panel_with_many_curves_fits_into_the_figure(results, tmp_path):
    """The legend must not displace the panel, and the panel's label must stay inside the figure."""
    models = ("gcn", "gat", "cgnn", "cgnn_weight")
    write_recorded(tmp_path / "recorded.npz", synthetic.recorded(models, ["cora"]))
    with use_style():
        figure = accuracy_epoch.draw(tmp_path / "recorded.npz").figure
        figure.canvas.draw()
    (panel,) = figure.axes
    label, frame = panel.yaxis.label.get_window_extent(), figure.bbox
    assert panel.get_window_extent().height > frame.height / 2
    assert frame.y0 <= label.y0 and label.y1 <= frame.y1


def _draw(results, name):
    entry = FIGURES[name]
    inputs = {}
    for key in entry.inputs:
        pattern = INPUTS[key]
        inputs[key] = sorted(results.glob(pattern)) if "*" in pattern else results / pattern
    with use_style():
        return import_module(entry.module).draw(**inputs)


def test_models_differ_in_markers_and_solvers_in_dashes():
    models = ("gcn", "gat", "gcn_residual", "cgnn_discrete", "cgnn", "cgnn_weight", "cgnn_no_h0")
    assert len({look(name).marker for name in models}) == len(models)
    assert {look(name).dashes for name in models} == {"-"}
    solvers = ("exact", "exact_recompute", "dopri5", "adjoint", "rk4")
    assert len({str(look(f"cgnn_{solver}").dashes) for solver in solvers}) == len(solvers)
    for solver in solvers:
        assert look(f"cgnn_{solver}").color == look("cgnn").color
        assert look(f"cgnn_{solver}").dashes == look(f"cgnn_weight_{solver}").dashes


def test_an_svg_figure_has_one_text_color_and_no_background(finished):
    """The page replaces this color in the dark theme."""
    text = (finished / "figures" / "forest.svg").read_text()
    assert "#333333" in text and "#000000" not in text
    assert 'id="patch_1"' not in text or "fill: #ffffff" not in text.split('id="patch_2"')[0]


def test_the_caption_mentions_runs_out_of_memory(results):
    with use_style():
        assert "ran out of memory" in memory_depth_time.draw(results / "profiles.csv").caption


def test_the_selected_epoch_is_the_first_with_the_best_validation_accuracy():
    validation = pd.DataFrame({0: [70, 80, 80, 79]}, index=[1, 2, 3, 4])
    test = pd.DataFrame({0: [10, 20, 30, 40]}, index=[1, 2, 3, 4])
    assert accuracy_epoch.selected(validation, test).to_dict() == {2: 20}


def test_the_caption_of_convergence_states_the_measured_rate(tmp_path):
    synthetic.convergence().to_csv(tmp_path / "c.csv", index=False)
    with use_style():
        assert "0.0500 (predicted 0.0500)" in convergence.draw(tmp_path / "c.csv").caption


def test_a_figure_can_be_drawn_from_an_empty_sweep(tmp_path):
    synthetic.sweeps().iloc[:0].to_csv(tmp_path / "sweeps.csv", index=False)
    options = ["--sweeps", str(tmp_path / "sweeps.csv"), "--out", str(tmp_path / "f")]
    assert main(["figure", "accuracy_depth_time", *options]) in (0, None)


def test_a_figure_without_data_is_written_but_left_out_of_the_pdf_and_the_page(results, tmp_path):
    """A tree with only a dataset that the paper has no numbers for, and without profiles of it."""
    summary = pd.read_csv(results / "summary.csv").assign(difference=float("nan"))
    summary.to_csv(tmp_path / "summary.csv", index=False)
    synthetic.sweeps().iloc[:0].to_csv(tmp_path / "sweeps.csv", index=False)
    synthetic.profiles().iloc[:0].to_csv(tmp_path / "profiles.csv", index=False)
    shutil.copy(results / "runs.csv", tmp_path / "runs.csv")
    names = ("architecture", "forest", "forest_compact", "accuracy_depth_time", "memory_depth_time", "speed_accuracy")
    for name in names:
        assert main(["figure", name, "--results", str(tmp_path), "--out", str(tmp_path / "figures" / name)]) in (
            0,
            None,
        )
        assert (tmp_path / "figures" / f"{name}.svg").is_file()
    assert set(load_figures(tmp_path)) == {"architecture"}


def test_a_figure_shows_times_of_either_the_profiles_or_the_benchmark(results, tmp_path):
    runs, profiles, bench = results / "runs.csv", results / "profiles.csv", results / "bench.json"
    with use_style():
        profiled = speed_accuracy.draw(runs, profiles)
        benched = speed_accuracy.draw(runs, profiles, bench)
    assert "from the profiles" in profiled.caption and "CGNN, released recipe" not in _texts(profiled)
    assert "from the benchmark" in benched.caption and "CGNN, released recipe" in _texts(benched)


def test_the_markers_of_the_forest_do_not_touch(results):
    with use_style():
        figure = forest.draw(results / "summary.csv").figure
        figure.canvas.draw()
        for axes in figure.axes:
            dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
            heights = sorted(axes.transData.transform((0, line.get_ydata()[0]))[1] for line in dots)
            assert len(heights) > 5
            gap = min(b - a for a, b in pairwise(heights)) * 72 / figure.dpi
            assert gap > max(line.get_markersize() for line in dots)


def _texts(drawing):
    return {text.get_text() for text in drawing.figure.findobj(matplotlib.text.Text)}


def test_the_forest_caption_says_what_is_cut_only_if_something_is(results, tmp_path):
    summary = pd.read_csv(results / "summary.csv")
    columns = ["difference", "difference_low", "difference_high"]
    captions = []
    for largest, high in ((0.0, 0.0), (7.0, 9.0), (9.0, 10.0)):
        changed = summary.assign(**summary[columns].clip(-5, 5))
        first = changed.index[changed["difference"].notna() & (changed["model"] == "cgnn") & changed["variant"].isna()][
            0
        ]
        changed.loc[first, columns] = largest, 0.0, high
        changed.to_csv(tmp_path / "summary.csv", index=False)
        with use_style():
            captions.append(forest.draw(tmp_path / "summary.csv").caption)
    whole, interval, cell = captions
    assert "cut" not in whole and "arrows" not in whole
    assert interval.endswith(" Intervals are cut at 8 points.")
    assert cell.endswith(" Intervals are cut at 8 points; arrows with a number are cells beyond 8 points.")


def test_the_search_caption_says_how_many_trials_failed(tmp_path):
    trials = synthetic.trials(("cora",))
    captions = []
    for status in ("completed", "diverged"):
        trials.assign(status=["completed"] * (len(trials) - 1) + [status]).to_csv(tmp_path / "trials.csv", index=False)
        kept = pd.read_csv(tmp_path / "trials.csv")
        kept[kept["split_kind"] == "random"].to_csv(tmp_path / "trials.csv", index=False)
        with use_style():
            captions.append(search.draw(tmp_path / "trials.csv").caption)
    assert "150 trials in 3 searches; no trial failed." in captions[0]
    assert "150 trials in 3 searches, 1 of them failed." in captions[1]


def test_the_memory_caption_separates_the_adjoint_method_with_and_without_augmentation(tmp_path):
    profiles = synthetic.profiles(("cora",))
    plain = profiles[(profiles["method"] == "cgnn_adjoint") & (profiles["value"] < 50)]
    plain = plain.assign(method="cgnn_adjoint_no_augmentation", peak_bytes=38 * 2**20)
    captions = []
    for rows in (profiles, pd.concat([profiles, plain])):
        rows.to_csv(tmp_path / "profiles.csv", index=False)
        with use_style():
            captions.append(memory_depth_time.draw(tmp_path / "profiles.csv").caption)
    # 24, 38 and 19 MiB; the value of 38 is larger than with augmentation only to be distinct.
    ratio = (
        "with augmentation, which doubles the state, needs 1.26 times (Cora) the memory of the recomputing exact solver"
    )
    assert f"{ratio}." in captions[0]
    assert f"{ratio}, and without augmentation 2 times (Cora)." in captions[1]


def test_the_memory_figure_distinguishes_the_solvers_of_cgnn_by_shade(results):
    with use_style():
        figure = memory_depth_time.draw(results / "profiles.csv").figure
    right = figure.axes[1]
    lines = [line for line in right.lines if line.get_linestyle() != "None" and line.get_marker() not in ("x", "")]
    assert len(lines) > 2 and len({line.get_color() for line in lines}) == len(lines)


def test_profiles_at_a_single_depth_have_their_own_caption_and_no_inset(tmp_path):
    profiles = synthetic.profiles(("cora",))
    profiles = profiles[profiles["method"].isin(["gcn", "gat", "cgnn_exact"]) & profiles["value"].isin([2, 12])]
    profiles = profiles[(profiles["axis"] == "t1") == (profiles["value"] == 12)].assign(peak_bytes=2 * 2**20)
    profiles.to_csv(tmp_path / "profiles.csv", index=False)
    with use_style():
        drawing = memory_depth_time.draw(tmp_path / "profiles.csv")
    expected = (
        "On Cora, one training step needs 2 MiB with “GCN” and 2 MiB with “GAT” (2 layers), and 2 MiB with "
        "“CGNN, exact” (t₁ = 12)."
    )
    assert drawing.caption.startswith(expected) and "slowest solver" not in drawing.caption
    assert "without GAT" not in _texts(drawing)


def test_the_memory_caption_names_methods_with_fewer_points(tmp_path):
    profiles = synthetic.profiles(("cora",))
    last = profiles["value"][profiles["method"] == "cgnn_exact"].max()
    kept = profiles[(profiles["method"] != "cgnn_exact") | (profiles["value"] == last)]
    kept.to_csv(tmp_path / "profiles.csv", index=False)
    with use_style():
        caption = memory_depth_time.draw(tmp_path / "profiles.csv").caption
    assert f" “CGNN, exact” was measured only at t₁ = {last:g}; an epoch takes up to " in caption


def test_the_speed_caption_states_threads_and_explains_the_baselines(results, tmp_path):
    bench = synthetic.bench()
    bench["rows"].append({**bench["rows"][1], "recipe": "fused", "ms_per_epoch": 4.0})
    (tmp_path / "bench.json").write_text(json.dumps(bench))
    with use_style():
        profiled = speed_accuracy.draw(results / "runs.csv", results / "profiles.csv").caption
        benched = speed_accuracy.draw(results / "runs.csv", results / "profiles.csv", tmp_path / "bench.json").caption
    assert "from the profiles with 1 thread." in profiled and "our encoder" not in profiled
    assert "It takes 2.0 (Cora) and 1.6 (Citeseer) times as long as an epoch of the fastest GCN." in benched
    assert "from the benchmark with 2 threads. For GCN and GAT, “ours” has" in benched and "our encoder" in benched
    assert "preset released, hyperparameters of our search" in benched


def test_the_captions_of_recordings_state_how_the_models_were_trained(results):
    with use_style():
        for module in (alpha_degree, accuracy_epoch):
            assert RECORDED in module.draw(results / "recorded.npz").caption


@pytest.mark.parametrize(
    "file", ["config.yaml", "config/quick.yaml", "config/nell_partial.yaml", "config/own_graph.yaml"]
)
def test_every_config_records_models_with_the_preset_of_the_captions(file):
    both = [yaml.safe_load((synthetic.ROOT / name).read_text())["curves"] for name in ("config.yaml", file)]
    assert f"preset {(both[0] | both[1])['preset']} " in RECORDED


def test_the_limits_of_alpha_follow_the_bulk_of_the_nodes():
    value = np.concatenate([np.full(990, 0.5), np.linspace(0.46, 0.54, 1000), [0.2, 0.7]])
    assert alpha_degree.limits(value) == pytest.approx((0.45, 0.55))
    assert alpha_degree.limits(np.linspace(0.71, 0.89, 100)) == pytest.approx((0.45, 0.9))


@pytest.mark.parametrize("low", [0.05, 0.3, 0.4, 0.45])
@pytest.mark.parametrize("high", [0.55, 0.6, 0.7, 0.75, 0.95])
def test_the_histogram_of_alpha_has_bins_on_its_whole_axis(low, high):
    """Otherwise nodes near the upper limit would be neither drawn nor counted as left out."""
    edges = alpha_degree._bins(low, high)
    assert edges[0] <= low and edges[-1] >= high
    centres = (edges[1:] + edges[:-1]) / 2
    assert np.abs(centres - 0.5).min() == pytest.approx(0)


def test_the_caption_gives_a_reason_if_most_nodes_are_near_one_half_whatever_the_middle_is(monkeypatch):
    """The share that counts as most nodes is not the α that they start from."""
    monkeypatch.setattr(alpha_degree, "MIDDLE", 0.3)
    assert "weight decay" not in alpha_degree._finding({"cora": 0.4}, False)
    assert "weight decay" in alpha_degree._finding({"cora": 0.6}, False)


@pytest.mark.parametrize(("far", "many"), [("high", True), ("low", False), ("any", False), ("none", False)])
def test_the_caption_of_alpha_mentions_many_neighbours_only_if_the_degrees_show_it(tmp_path, far, many):
    """A tenth of the nodes, chosen by degree, is far from one half; the degrees of the nodes are 1, 2, 3 and so on."""
    (item,) = synthetic.recorded(("cgnn",), ["cora"])
    nodes = np.arange(len(item.degree))
    count = len(nodes)
    outside = {"high": nodes >= 0.9 * count, "low": nodes < 0.1 * count, "any": nodes % 10 == 5, "none": nodes < 0}[far]
    alpha = np.tile(np.where(outside, 0.6, 0.5), (5, 1))
    write_recorded(tmp_path / "recorded.npz", [replace(item, degree=nodes + 1, alpha=alpha)])
    with use_style():
        caption = alpha_degree.draw(tmp_path / "recorded.npz").caption
    assert "only few nodes" in caption
    assert ("only few nodes, more often those with many neighbours, receive" in caption) == many


def _memory_caption(tmp_path, rows):
    rows.to_csv(tmp_path / "profiles.csv", index=False)
    with use_style():
        return memory_depth_time.draw(tmp_path / "profiles.csv").caption


def test_the_memory_caption_without_layered_methods_is_a_sentence(tmp_path):
    profiles = synthetic.profiles(("cora",))
    solvers = profiles[profiles["method"].isin(["cgnn_adjoint", "cgnn_exact"])]
    beginning = "From the shortest to the longest ending time, memory"
    expected = f"{beginning} does not grow with the adjoint method and grows by at most 1"
    assert _memory_caption(tmp_path, solvers).startswith(expected)
    assert _memory_caption(tmp_path, solvers[solvers["method"] == "cgnn_exact"]).startswith(f"{beginning} grows by")
    at_one_time = profiles[profiles["method"].isin(["cgnn_adjoint", "cgnn_exact_recompute"]) & (profiles["value"] == 5)]
    assert _memory_caption(tmp_path, at_one_time).startswith("The adjoint method with augmentation, which doubles")


def test_the_memory_caption_of_profiles_without_a_result_does_not_say_that_none_was_run(tmp_path):
    profiles = synthetic.profiles(("cora",))
    one = (profiles["method"] == "cgnn_exact") & (profiles["value"] > 5)
    lost = profiles[~one].assign(status="out_of_memory", seconds_per_epoch=None, peak_bytes=None)
    caption = _memory_caption(tmp_path, lost)
    assert caption.startswith("No point was measured successfully. Peak memory of one training step, counted by ")
    assert caption.endswith(" Crosses at the upper edge mark points that ran out of memory.")
    assert "–" not in caption and "slowest" not in caption
    assert _memory_caption(tmp_path, profiles.iloc[:0]).startswith("No profile was run.")


def _depth_caption(tmp_path, rows):
    rows.to_csv(tmp_path / "sweeps.csv", index=False)
    with use_style():
        return accuracy_depth_time.draw(tmp_path / "sweeps.csv").caption


def test_the_depth_caption_starts_with_a_capital_whichever_models_were_swept(tmp_path):
    sweeps = synthetic.sweeps(("cora",))
    cgnn, without = sweeps["model"] == "cgnn", sweeps["model"] == "cgnn_no_h0"
    assert _depth_caption(tmp_path, sweeps[cgnn]).startswith("For t > 10, the accuracy of CGNN varies by ")
    early = sweeps[(cgnn | without) & (sweeps["t1"] <= 10)]
    assert _depth_caption(tmp_path, early).startswith("Without H(0), the accuracy of CGNN is lower by ")


def test_the_depth_caption_separates_nothing_to_state_from_nothing_run(tmp_path):
    sweeps = synthetic.sweeps(("cora",))
    discrete = sweeps[sweeps["model"] == "cgnn_discrete"]
    assert _depth_caption(tmp_path, discrete).startswith("Dots are runs (5 seeds per point)")
    failed = discrete.assign(status="diverged", test_accuracy=None)
    assert _depth_caption(tmp_path, failed).startswith("No run of the sweeps finished.")
    assert _depth_caption(tmp_path, sweeps.iloc[:0]).startswith("No sweep was run.")


def test_captions_state_the_finding(results):
    with use_style():
        depth = accuracy_depth_time.draw(results / "sweeps.csv").caption
        memory = memory_depth_time.draw(results / "profiles.csv").caption
    # In the synthetic rows GCN loses 1.9 · 13^1.1 points from 3 to 16 layers, memory of the adjoint is constant, and
    # memory of GCN grows linearly.
    assert "GCN loses 32 points on Cora" in depth or "GCN loses 31 points on Cora" in depth
    assert "grows linearly with the layers of GCN, GAT and CGNN discrete" in memory
    assert "does not grow with the adjoint method" in memory


def test_equations_without_h0_have_separate_lines(tmp_path):
    """Runs of different equations at one ending time must not be averaged."""
    released = synthetic.sweeps(("cora",))
    times = (15.0, 30.0)
    other = [
        synthetic.rows("cora", "cgnn_no_h0", [20.0, 21.0], t1=t, variant=f"t1-{t:g}-{form}", fidelity=switches)
        for form, switches in {
            "printed": preset("released", no_h0="printed"),
            "paper": preset("paper"),
        }.items()
        for t in times
    ]
    pd.concat([released, *other]).to_csv(tmp_path / "sweeps.csv", index=False)
    with use_style():
        drawing = accuracy_depth_time.draw(tmp_path / "sweeps.csv")
    without = released[(released["model"] == "cgnn_no_h0") & (released["t1"] == 30.0)]["test_accuracy"].mean()
    means = [line.get_ydata() for line in drawing.figure.axes[1].lines if line.get_linestyle() != "None"]
    assert any(line[list(synthetic_times(released)).index(30.0)] == pytest.approx(without) for line in means)
    assert sum(list(line) == pytest.approx([20.5, 20.5]) for line in means if len(line) == 2) == 2
    assert {"CGNN w/o H(0), a", "CGNN w/o H(0), b", "CGNN w/o H(0), c"} <= _texts(drawing)
    color = look("cgnn_no_h0").color
    lines = [line for line in drawing.figure.axes[1].lines if line.get_color() == color and line.get_marker() != "."]
    assert len({line.get_linestyle() for line in lines}) == len({line.get_marker() for line in lines}) == 3
    assert "(2 to 5 seeds per point)" in drawing.caption


def test_the_main_line_is_that_of_the_released_equation_although_another_has_more_points(tmp_path):
    """As in config/quick.yaml, which sweeps the released equation over fewer ending times."""
    parts = [synthetic.rows("cora", "cgnn", [80.0, 81.0], t1=t) for t in (1.0, 10.0)]
    parts += [
        synthetic.rows("cora", "cgnn", [70.0, 71.0], t1=t, preset_name="paper", variant=f"t1-{t:g}-paper")
        for t in (5.0, 15.0, 20.0)
    ]
    pd.concat(parts).to_csv(tmp_path / "sweeps.csv", index=False)
    with use_style():
        drawing = accuracy_depth_time.draw(tmp_path / "sweeps.csv")
    lines = [list(line.get_ydata()) for line in drawing.figure.axes[1].lines if line.get_linestyle() != "None"]
    assert lines == [[80.5] * 2, [70.5] * 3]
    assert {"CGNN", "CGNN, printed"} <= _texts(drawing)


def test_the_caption_compares_each_equation_without_h0_with_cgnn_of_its_derivative(tmp_path):
    """Constant accuracies, so that every difference is known."""
    levels = {("released", "discussion"): 78.0, ("released", "printed"): 45.0, ("paper", "printed"): 30.0}
    parts = []
    for t in (10.0, 15.0, 30.0):
        for name, mean in (("released", 80.0 if t > 10 else 60.0), ("paper", 70.0)):
            parts.append(synthetic.rows("cora", "cgnn", [mean] * 2, t1=t, preset_name=name, variant=f"{name}-{t:g}"))
        for (name, form), mean in levels.items():
            options = {"preset_name": name, "fidelity": preset(name, no_h0=form), "variant": f"{name}-{form}-{t:g}"}
            parts.append(synthetic.rows("cora", "cgnn_no_h0", [mean] * 2, t1=t, **options))
    pd.concat(parts).to_csv(tmp_path / "sweeps.csv", index=False)
    with use_style():
        caption = accuracy_depth_time.draw(tmp_path / "sweeps.csv").caption
    assert caption.startswith("For t > 10, the accuracy of CGNN varies by 0.0 on Cora; without H(0) it is lower by ")
    assert "it is lower by 2.0 on Cora (t = 30) with reading a and by 35 to 40 points with readings b and d" in caption


def synthetic_times(rows):
    return sorted(rows[rows["model"] == "cgnn_no_h0"]["t1"].unique())


def test_the_line_to_a_moved_label_ends_at_its_left_edge():
    """A line that ends below a label would seem to belong to the next one."""
    with use_style():
        _, axes = plt.subplots()
        label_ends(axes, [(1.0, 0.5, "CGNN with weight", "red"), (1.0, 0.5, "CGNN", "blue")])
        assert [text.arrowprops["relpos"] for text in axes.texts] == [(0, 0.5)] * 2
        axes.figure.canvas.draw()
        for text in axes.texts:
            line = text.arrow_patch.get_window_extent()
            assert line.x1 <= matplotlib.text.Text.get_window_extent(text).x0


def test_labels_at_the_ends_of_lines_do_not_overlap():
    places = _apart([0.1, 0.11, 0.12, 0.9], 0.1)
    assert places == pytest.approx([0.01, 0.11, 0.21, 0.9])
    assert _apart([0.0, 0.5, 1.0], 0.1) == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize("products", [FIGURES, TABLES])
def test_the_code_of_a_product_includes_no_other_product_and_no_training(products):
    for name, product in products.items():
        closure = import_closure(product.module)
        assert not closure & {other.module for key, other in products.items() if key != name}
        assert not [module for module in closure if module.startswith(("cgnn.training", "cgnn.dynamics"))]
        assert ("cgnn.render.style" in closure) == (products is FIGURES)


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("summarise", "analysis.summary"),
        ("claims", "analysis.verdicts"),
        ("convergence", "analysis.convergence"),
        ("paper", "render.paper"),
        ("scorecard", "render.scorecard"),
    ],
)
def test_the_code_of_a_command_is_found_from_its_module_alone(command, module):
    """The closure follows imports inside functions, so no list of further modules is needed."""
    assert f"cgnn.{module}" in import_closure(f"cgnn.cli.{command}")


def test_editing_a_figure_changes_one_fingerprint_and_editing_the_style_changes_all(tmp_path):
    copy = tmp_path / "cgnn"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def fingerprints():
        return {name: code_fingerprint(FIGURES[name].module, package=copy) for name in FIGURES}

    before = fingerprints()
    figure = copy / "render" / "figures" / "search.py"
    figure.write_text(figure.read_text() + "\nEDITED = 1\n")
    after = fingerprints()
    assert [name for name in FIGURES if before[name] != after[name]] == ["search"]
    style = copy / "render" / "style.py"
    style.write_text("# a comment\n" + style.read_text())
    assert fingerprints() == after
    style.write_text(style.read_text().replace("PAGE = 6.75", "PAGE = 6.5"))
    assert not set(fingerprints().values()) & set(after.values())


def test_figure_files_contain_no_date(finished, tmp_path):
    drawn = _draw(finished, "architecture")
    with use_style():
        write_figure(drawn, tmp_path / "a")
    assert b"CreationDate" not in (tmp_path / "a.pdf").read_bytes()
    assert "<dc:date>" not in (tmp_path / "a.svg").read_text()
