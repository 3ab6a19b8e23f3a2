"""The process that times one's own code, with a stopwatch and a GPU that the test makes up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.judge import discovery
from graders.judge.records import GraderError, TensorSpec, Workload
from graders.judge.speed import measuring
from tests.support.speed_comparisons import h200
from triton_util.bench import GpuState, Measurement
from triton_util.bench.speed_comparison import (
    MINE,
    MODEL,
    TORCH,
    SpeedComparison,
    keep_gpu,
    kept_gpu,
)

RIGHT = "import torch\ndef relu2d(x):\n    return torch.relu(x)\n"
DEVICE = "NVIDIA H200"


class SteadyClock:
    """Every call takes one millisecond."""

    def time(self, call: Callable[[], Any]) -> Measurement:
        return Measurement(call(), 1.0, 1.05)

    def state(self) -> GpuState:
        return GpuState(1980, 46)


@pytest.fixture(autouse=True)
def made_up_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Workload("64×64, fp32", (TensorSpec((64, 64)),), 64.0**2, torch.relu)
    monkeypatch.setattr(discovery, "workload", lambda name: work if name == "relu2d" else None)
    monkeypatch.setattr(discovery, "model_path", lambda exercise: None)
    monkeypatch.setattr(measuring, "DEVICE", "cpu")
    monkeypatch.setattr(measuring, "CudaClock", SteadyClock)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *_: DEVICE)


def asked(folder: Path, source: str | None = RIGHT, **more: Any) -> dict[str, Any]:
    request = {
        "exercise": "relu2d",
        "source": source,
        "name": "<mine>",
        "seconds": 5.0,
        "compiled": False,
        "folder": str(folder),
        **more,
    }
    answer: dict[str, Any] = json.loads(json.dumps(measuring.answer(request)))
    return answer


def speeds(folder: Path, source: str | None = RIGHT) -> SpeedComparison:
    return SpeedComparison.from_json(asked(folder, source)["comparison"])


def test_a_right_launcher_stands_beside_torch(tmp_path: Path) -> None:
    found = speeds(tmp_path)
    assert [runner.label for runner in found.runners] == [MINE, TORCH]
    assert all(runner.believed and runner.ms == 1.0 for runner in found.runners)
    assert (found.n_bytes, found.gpu, found.measured) == (2 * 4 * 64**2, h200(), False)
    assert found.clocks == "1,980 to 1,980 MHz, at most 46 °C"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (("torch.relu(x)", "torch.relu(x) + 1"), "4,096 of 4,096 elements are wrong"),
        (("torch.relu(x)", "torch.relu(x)[:3]"), "no tensor of the right shape"),
        (("torch.relu(x)", "None"), "no tensor of the right shape"),
        (("torch.relu(x)", "x.nothing"), "AttributeError"),
    ],
)
def test_what_is_wrong_has_no_time(tmp_path: Path, change: tuple[str, str], word: str) -> None:
    found = speeds(tmp_path, RIGHT.replace(*change))
    assert found.runner(MINE) is None
    assert any(word in problem for problem in found.runners[0].problems)
    assert found.runner(TORCH) is not None


def test_the_model_solution_stands_alone_without_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory_vs_compute.py"
    path.write_text(RIGHT)
    monkeypatch.setattr(discovery, "model_path", lambda exercise: path)
    assert [runner.label for runner in speeds(tmp_path, None).runners] == [MODEL, TORCH]
    both = speeds(tmp_path, RIGHT)
    assert [runner.label for runner in both.runners] == [MINE, MODEL, TORCH]


def test_what_was_measured_is_the_limit_of_later_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower = h200().__class__(**{**vars(h200()), "gbytes_per_second": 4200.0})
    monkeypatch.setattr(measuring, "measure_mine", lambda clock, plan: slower)
    told = asked(tmp_path, measure=True)
    assert (told["device"], told["gpu"]["gbytes_per_second"]) == (DEVICE, 4200.0)
    assert kept_gpu(tmp_path, DEVICE) == slower
    found = speeds(tmp_path)
    assert (found.gpu, found.measured) == (slower, True)


def test_a_gpu_that_no_table_knows_is_measured_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *_: "Somebody's GPU")
    monkeypatch.setattr(measuring, "measure_mine", lambda clock, plan: h200())
    assert speeds(tmp_path).measured
    keep_gpu(tmp_path, "Another", h200())
    assert kept_gpu(tmp_path, "Somebody's GPU") == h200()


def test_inputs_differ_from_round_to_round_and_keep_their_layout() -> None:
    spec = TensorSpec((8, 6), view="sliced")
    (first,), (again,), (other,) = (measuring.device_inputs((spec,), n) for n in (1, 1, 2))
    assert first.stride() == (12, 1)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_an_exercise_without_a_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="too small a thing"):
        asked(tmp_path, exercise="copy")
