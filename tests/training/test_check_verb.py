"""``python -m cgnn check`` passes on a working machine and otherwise reports what is wrong."""

import sys
import types

import pytest
import torch
from torch import nn

from cgnn.__main__ import main
from cgnn.models import registry
from cgnn.models.records import ModelRecord
from cgnn.training import check
from cgnn.training.check import ModelCheck, check_memory

CPU = torch.device("cpu")


class Plain(nn.Module):
    def __init__(self, data):
        super().__init__()
        self.layer = nn.Linear(data.num_features, data.num_classes)

    def forward(self, x, edge_index):
        return self.layer(x.to_dense())


class WrongInFloat32(Plain):
    def forward(self, x, edge_index):
        return super().forward(x, edge_index) * (1.01 if self.layer.weight.dtype == torch.float32 else 1.0)


class Unrepeatable(Plain):
    calls = 0

    def forward(self, x, edge_index):
        type(self).calls += 1
        return super().forward(x, edge_index) * (1.0 + 1e-6 * type(self).calls * self.training)


class Crashing(Plain):
    def forward(self, x, edge_index):
        raise RuntimeError("expected all tensors to be on the same device")


@pytest.fixture
def only(monkeypatch):
    """Replace the registry by one with only the given models."""

    def use(*models):
        entries = {}
        for model in models:
            if isinstance(model, str):
                entries[model] = registry.MODELS[model]
                continue
            module = types.ModuleType(f"check_{model.__name__.lower()}")
            module.build = lambda data, hyperparameters, fidelity, model=model, **options: model(data)
            monkeypatch.setitem(sys.modules, module.__name__, module)
            entries[model.__name__.lower()] = ModelRecord(module.__name__, model.__name__, "discrete")
        monkeypatch.setattr(registry, "MODELS", entries)
        monkeypatch.setattr(registry, "RECORDS", entries)

    return use


def test_the_check_passes_on_this_machine_and_prints_one_row_per_model(only, capsys):
    only("gcn", "cgnn_weight")
    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert "all checks passed on cpu" in out and "8.0 MiB counted, 8.0 MiB allocated: ok" in out
    for model in ("gcn", "cgnn_weight"):
        assert any(line.startswith(f"{model} ") and line.endswith("ok") for line in out.splitlines())


@pytest.mark.slow
def test_the_check_covers_every_model_of_the_registry():
    results = check.check_models(CPU)
    assert [result.model for result in results] == list(registry.MODELS)
    assert not [result for result in results if result.failures]


@pytest.mark.parametrize(
    "model, failed",
    [(Plain, []), (WrongInFloat32, ["scores", "gradients"]), (Unrepeatable, ["repeated"]), (Crashing, ["error"])],
)
def test_the_check_names_a_model_that_fails(only, capsys, model, failed):
    only(model)
    assert main(["check"]) == int(bool(failed))
    out = capsys.readouterr().out
    assert ("FAILED" in out) == bool(failed)
    for name in failed:
        assert f"{model.__name__.lower()}: {name}" in out and check.WHAT_TO_DO[name] in out
    assert "expected all tensors to be on the same device" in out or model is not Crashing


def test_a_nan_is_a_failure():
    assert ModelCheck("m", scores=float("nan"), gradients=0.0).failures == ["scores"]


def test_the_memory_counter_is_checked_against_a_known_size(monkeypatch, only, capsys):
    only(Plain)
    assert check_memory(CPU).good
    monkeypatch.setattr(check, "check_memory", lambda device: check.MemoryCheck(expected=100, counted=50))
    assert main(["check"]) == 1
    assert "do not use the memory figures" in capsys.readouterr().out


def test_a_missing_gpu_is_a_user_error(capsys):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert main(["check", "--device", "cuda"]) == 2
    assert "torch finds 0 CUDA devices" in capsys.readouterr().err
