"""The times of kernels in one run, beside the limit of the GPU. Plain data, also as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from triton_util.bench.comparing import Timing
from triton_util.bench.roofline import Limit, limit_of
from triton_util.hardware import Gpu

MINE, MODEL, TORCH, COMPILED = "yours", "model solution", "torch", "torch.compile"
KEPT = "gpus.json"


@dataclass(frozen=True)
class Runner:
    """One contender of a run; milliseconds. `ms` is None if it could not be timed.

    `low` and `high` enclose the median with 95 % confidence, `spread` is that of the middle half.
    `problems` says why the time cannot be trusted.
    """

    label: str
    ms: float | None
    low: float = 0.0
    high: float = 0.0
    spread: float = 0.0
    rounds: int = 0
    problems: tuple[str, ...] = ()

    @property
    def believed(self) -> bool:
        """Whether there is a time, and no problem with it."""
        return self.ms is not None and not self.problems


@dataclass(frozen=True)
class SpeedComparison:
    """The contenders of one run at one size, on one GPU.

    n_bytes: the least that must be moved: each input read once and the output written once.
    measured: whether the rates of `gpu` were measured (`tilewise bench --measure`) or come from
    its data sheet. remarks: facts from the compiler's output about the first runner.
    """

    exercise: str
    workload: str
    gpu: Gpu
    measured: bool
    n_bytes: float
    operations: float
    tensor_cores: bool
    runners: tuple[Runner, ...]
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    clocks: str = ""
    versions: str = ""

    @property
    def limit(self) -> Limit:
        """The least time that the GPU's rates allow, and what sets it."""
        return limit_of(self.n_bytes, self.operations, self.gpu, tensor_cores=self.tensor_cores)

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.n_bytes

    def runner(self, label: str) -> Runner | None:
        """The contender of that name, if it took part and its time can be trusted."""
        return next((r for r in self.runners if r.label == label and r.believed), None)

    def percent(self, ms: float) -> float:
        """The limit as a percentage of this time."""
        return 100 * self.limit.ms / ms

    def rate(self, ms: float) -> str:
        """A time as a rate: TFLOP/s if arithmetic is the limit, else GB/s."""
        if self.limit.bound == "compute":
            return f"{self.operations / ms / 1e9:,.1f} TFLOP/s"
        return f"{self.n_bytes / ms / 1e6:,.0f} GB/s"

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The comparison from the data of `to_json`."""
        runners = tuple(
            Runner(**{**item, "problems": tuple(item["problems"])}) for item in data["runners"]
        )
        texts = {name: tuple(data[name]) for name in ("notes", "remarks")}
        return cls(**{**data, "gpu": Gpu(**data["gpu"]), "runners": runners, **texts})


@dataclass(frozen=True)
class Modelled:
    """The least work of an exercise, for a machine on which nothing can be timed.

    moved: what is known about the bytes that a kernel really moves, in words.
    """

    exercise: str
    workload: str
    n_bytes: float
    operations: float
    tensor_cores: bool
    moved: str = ""

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.n_bytes

    def limit_on(self, gpu: Gpu) -> Limit:
        """The least time of a Triton kernel on a GPU, and what sets it."""
        cores = self.uses_tensor_cores_of(gpu)
        return limit_of(self.n_bytes, self.operations, gpu, tensor_cores=cores)

    def uses_tensor_cores_of(self, gpu: Gpu) -> bool:
        """Whether Triton does these operations on the tensor cores of that GPU."""
        return self.tensor_cores and gpu.architecture.dot_on_tensor_cores


def runner_of(timing: Timing) -> Runner:
    """A contender's timing as a `Runner`."""
    if not timing.samples:
        return Runner(timing.label, None, problems=timing.problems)
    interval = timing.interval
    return Runner(
        timing.label,
        interval.middle,
        interval.low,
        interval.high,
        timing.spread_ms,
        len(timing.samples),
        timing.problems,
    )


def clocks_of(timings: Iterable[Timing]) -> str:
    """Clock and temperature over the run, in words; "" if the driver does not report them."""
    states = next((timing.states for timing in timings if timing.states), ())
    if not states:
        return ""
    mhz = sorted(state.sm_mhz for state in states)
    hottest = max(state.celsius for state in states)
    return f"{mhz[0]:,} to {mhz[-1]:,} MHz, at most {hottest} °C"


def keep_gpu(folder: Path, device: str, gpu: Gpu) -> Path:
    """Store the measured rates of a device under its name, for later plots."""
    path = folder / KEPT
    known = _kept(path)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**known, device: asdict(gpu)}, indent=1) + "\n", encoding="utf-8")
    return path


def kept_gpu(folder: Path, device: str) -> Gpu | None:
    """The stored rates of a device; None if there are none."""
    try:
        return Gpu(**_kept(folder / KEPT)[device])
    except (KeyError, TypeError):
        return None


def _kept(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
