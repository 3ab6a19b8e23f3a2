"""`@triton.autotune` and `triton.testing.do_bench` on a machine without a GPU.

Every configuration runs once, with the hooks of the tuner, and is checked like any other launch.  A
configuration whose result differs from the first one's is a finding: either it is wrong by itself,
or earlier launches have changed its inputs.  A modelled cost decides the choice; the time that the
interpreter takes says nothing about a GPU and is never used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
import triton.testing
from triton.runtime.autotuner import Autotuner

from triton_util.interpreter.blame import acts_for_the_kernel
from triton_util.interpreter.costs import ModelledMilliseconds, modelled_ms
from triton_util.interpreter.faults import Fault

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running

Tensors = dict[str, torch.Tensor]
_active: list[Running] = []


@contextlib.contextmanager
def tuning(run: Running) -> Any:
    """Replace the tuner's stopwatch by the engine."""
    bench, code = Autotuner.__dict__["_bench"], triton.testing.do_bench.__code__
    start = Autotuner.run
    Autotuner._bench, Autotuner.run = _bench_of(run), _run_of(run, start)
    triton.testing.do_bench.__code__ = _do_bench.__code__
    _active.append(run)
    try:
        yield
    finally:
        _active.pop()
        Autotuner._bench, Autotuner.run = bench, start
        triton.testing.do_bench.__code__ = code


def _do_bench(  # type: ignore[no-untyped-def]
    fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"
):
    from triton_util.interpreter import autotuning

    return autotuning.bench(fn, quantiles, return_mode)


def bench(function: Callable[[], Any], quantiles: Sequence[float] | None, mode: str) -> Any:
    """What `triton.testing.do_bench` returns: the modelled time of all launches inside, in ms.

    NaN where nothing is launched: torch's own operations are not modelled.
    """
    run = _active[-1]
    spent, launches = _modelled(run, function)
    time = spent if launches else ModelledMilliseconds("nan")
    if quantiles is not None:
        return [time for _ in quantiles] if len(quantiles) > 1 else time
    return [time] if mode == "all" else time


def _modelled(run: Running, function: Callable[[], Any]) -> tuple[ModelledMilliseconds, int]:
    """Call a function and add up the modelled times of its launches."""
    before = len(run.launches)
    with run.turn, run.counting():
        function()
    total = 0.0
    for launch in run.launches[before:]:
        x, y, z = launch.grid
        if launch.traffic is None:  # the launch was not run, so its cost is unknown
            return ModelledMilliseconds("inf"), len(run.launches) - before
        launch.modelled_ms = modelled_ms(launch.traffic, x * y * z, launch.meta)
        total += launch.modelled_ms
    return ModelledMilliseconds(total), len(run.launches) - before


def _run_of(run: Running, start: Callable[..., Any]) -> Callable[..., Any]:
    @acts_for_the_kernel
    def launch(self: Any, *positional: Any, **named: Any) -> Any:
        """Launch as triton does, and record how many configurations there were."""
        with run.turn:
            before = len(run.launches)
            run.tuned_by.append(self)
            try:
                return start(self, *positional, **named)
            finally:
                run.tuned_by.pop()
                for record in run.launches[before:]:
                    record.configs = len(self.configs)

    return launch


def _bench_of(run: Running) -> Callable[..., list[float]]:
    @acts_for_the_kernel
    def bench_config(self: Any, *positional: Any, config: Any, **meta: Any) -> list[float]:
        """Run one configuration as the tuner would, judge it, and return its modelled cost."""
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(
                f"Conflicting meta-parameters: {', '.join(conflicts)}. "
                "Make sure that you don't re-define auto-tuned symbols."
            )
        trial = _Trial(run, self, positional, config, meta)
        spent, _ = _modelled(run, trial.launch)
        trial.judge()
        return [spent] * 3

    return bench_config


class _Trial:
    """One configuration on one set of arguments."""

    def __init__(
        self, run: Running, tuner: Any, positional: Sequence[Any], config: Any, meta: dict[str, Any]
    ) -> None:
        self.run = run
        self.tuner = tuner
        self.positional = positional
        self.config = config
        self.current = {**meta, **config.all_kwargs()}
        self.named = {**tuner.nargs, **self.current}
        self.tensors: Tensors = {
            name: value for name, value in self.named.items() if isinstance(value, torch.Tensor)
        }
        key = (id(tuner), tuple(value.data_ptr() for value in self.tensors.values()))
        self.known = run.tuned.setdefault(key, _Tuning(self._copy()))
        self.result: Tensors = {}
        if self.known.result is not None:
            self._forget_results()

    def _forget_results(self) -> None:
        """Mark memory as unset that was unset before the first configuration.

        Otherwise an element that this configuration omits would still have the last one's value.
        """
        with torch.no_grad():
            for name, tensor in self.tensors.items():
                unset = _unset(self.known.fresh[name])
                if bool(unset.any()):
                    _fill(tensor, torch.where(unset, self.known.fresh[name], tensor))

    @acts_for_the_kernel
    def launch(self) -> None:
        """One launch with the tuner's hooks, as triton's own `_bench` makes it."""
        if self.config.pre_hook:
            self.config.pre_hook(self.named)
        self.tuner.pre_hook(self.named)
        try:
            self.tuner.fn.run(*self.positional, **self.current)
        except Exception as error:
            self.tuner.post_hook(self.named, exception=error)
            raise
        self.result = self._copy()
        self.tuner.post_hook(self.named, exception=None)

    def judge(self) -> None:
        """Compare with the result of the first configuration."""
        if self.known.result is None:
            self.known.result, self.known.config = self.result, self.config
            return
        differing = _first_difference(self.known.result, self.result)
        if differing is None:
            return
        after = self._copy()
        self._put(self.known.fresh)
        faults = len(self.run.faults)
        self.launch()
        alone = _first_difference(self.known.result, self.result) is not None
        del self.run.launches[-1], self.run.faults[faults:]
        self._put(after)
        self.run.faults.append(self._fault(differing, alone))

    def _fault(self, argument: str, alone: bool) -> Fault:
        kernel = getattr(self.tuner.base_fn, "__name__", "")
        if alone:
            message = (
                f"Configuration ({_told(self.config)}) computes another {argument!r} than the "
                f"first one ({_told(self.known.config)}): it is wrong by itself."
            )
            cause = "A block size must not change the result: look at grid, masks and loop bounds."
        else:
            message = (
                f"While {kernel} is tuned, its launches change {argument!r}, and the next "
                "configuration starts from what the last one left."
            )
            cause = (
                "Name tensors that the kernel adds to in reset_to_zero=[...], and those that it "
                "changes in place in restore_value=[...]."
            )
        return Fault(
            code="order-dependent",
            message=message,
            kernel=kernel,
            operation="triton.autotune",
            argument=argument,
            cause=cause,
            kind="wrong-configuration" if alone else "tuning-corrupts",
        )

    def _copy(self) -> Tensors:
        return {name: tensor.detach().clone() for name, tensor in self.tensors.items()}

    def _put(self, values: Tensors) -> None:
        with torch.no_grad():
            for name, tensor in self.tensors.items():
                if not torch.equal(tensor, values[name]):
                    _fill(tensor, values[name])


class _Tuning:
    """Findings and results of the first configuration; `fresh`: the tensors before any launch."""

    def __init__(self, fresh: Tensors) -> None:
        self.fresh = fresh
        self.result: Tensors | None = None
        self.config: Any = None


def _told(config: Any) -> str:
    """A configuration as a learner writes it, without options that are None."""
    own = {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages}
    return ", ".join(f"{name}: {value}" for name, value in own.items())


def _unset(tensor: torch.Tensor) -> torch.Tensor:
    """Which elements have the fill value of torch.empty, if memory is filled to be recognised."""
    if tensor.is_floating_point():
        return tensor.isnan()
    if tensor.dtype == torch.bool:
        return torch.zeros_like(tensor)
    return tensor == torch.iinfo(tensor.dtype).max


def _first_difference(expected: Tensors, actual: Tensors) -> str | None:
    """The first tensor that differs by more than rounding."""
    for name, wanted in expected.items():
        found = actual[name]
        if wanted.is_floating_point():
            a, b = wanted.double(), found.double()
            scale = float(a.nan_to_num(0, 0, 0).abs().max()) if a.numel() else 0.0
            if not torch.allclose(a, b, rtol=2e-2, atol=2e-2 * scale, equal_nan=True):
                return name
        elif not torch.equal(wanted, found):
            return name
    return None


def _fill(tensor: torch.Tensor, values: torch.Tensor) -> None:
    """Copy values into a tensor, whose elements may share memory if it is an expanded view."""
    firsts = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())
    tensor[firsts].copy_(values[firsts])
