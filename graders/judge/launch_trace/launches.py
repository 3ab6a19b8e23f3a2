"""Record launches instead of running them: kernels, autotuners, benchmark functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import triton.testing
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from graders.judge.launch_trace.names import SeenKernels, bound_arguments
from graders.judge.launch_trace.recording import Recorder
from graders.judge.launch_trace.tensors import ValuelessTensor
from graders.judge.plan.steps import Launch, Step, Trial, Tune, Value

PRETENDED_MS = 1.0  # what every benchmark function returns


class Compiled:
    """The result of a launch: a compiled kernel with only the usual figures."""

    n_regs, n_spills, n_max_threads = 32, 0, 1024

    def __init__(self) -> None:
        self.metadata = _Metadata()
        self.asm: dict[str, str] = dict.fromkeys(("ttir", "ttgir", "llir", "ptx", "cubin"), "")

    def _init_handles(self) -> None:
        """Do nothing; Triton loads the kernel here."""


class _Metadata:
    shared, num_warps, num_ctas, num_stages = 0, 4, 1, 3


class Launches:
    """Permanently replaces `JITFunction.run` and `Autotuner.run` in this process.

    `warps` replaces the number of warps of every configuration of an autotuner, unless None.
    """

    def __init__(self, recorder: Recorder, kernels: SeenKernels, warps: int | None = None) -> None:
        self.recorder, self.kernels, self.warps = recorder, kernels, warps
        self._tuners: dict[int, int] = {}
        self._alive: list[Any] = []  # tuners, so that no number is used twice
        self._pruned: dict[tuple[int, str], Sequence[Any]] = {}
        self._compiling: set[int] = set()  # tuners whose pruning asked for compiled kernels
        self._compiled = 0
        self._allocator = False

    def install(self) -> None:
        """Patch Triton."""
        launches = self

        def run(self: Any, *args: Any, grid: Any = None, warmup: bool = False, **kw: Any) -> Any:
            if warmup:
                launches._compiled += 1
            else:
                launches.launch(self, args, grid, kw)
            return Compiled()

        def run_tuned(self: Any, *args: Any, **kw: Any) -> Any:
            return launches.tune(self, args, kw)

        JITFunction.run = run
        Autotuner.run = run_tuned
        triton.testing.do_bench = _do_bench
        triton.testing.do_bench_cudagraph = _do_bench
        triton.set_allocator = self._set_allocator

    def _set_allocator(self, allocator: Any) -> None:
        self._allocator = True

    def launch(
        self, kernel: JITFunction[Any], args: Any, grid: Any, named: Mapping[str, Any]
    ) -> None:
        """Record one launch of a kernel."""
        for hook in getattr(kernel, "pre_run_hooks", ()):
            hook(*args, **named)
        if callable(grid):
            bound = bound_arguments(kernel, args, named)
            grid = (1,) if bound is None else grid(bound)
        if any(getattr(value, "on_host", False) for value in (*args, *named.values())):
            self.recorder.tell("tensor-on-cpu", "")
        number = self.kernels.number(kernel)
        positional = tuple(self.kernels.value(value) for value in args)
        values = {name: self.kernels.value(value) for name, value in named.items()}
        line = self.recorder.line()
        launch = Launch(number, _grid(grid), positional, values, line, self._allocator)
        self.recorder.add(launch)

    # -- autotuning ------------------------------------------------------------------------------

    def tune(self, tuner: Any, args: Any, named: dict[str, Any]) -> Any:
        """Record a launch through an autotuner: every configuration that survives its pruning."""
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        key = self._key(tuner, named)
        known = (self._tuner(tuner), key)
        tuned = known in self._pruned
        if not tuned:
            self._pruned[known] = self._survivors(tuner, named)
        configs = self._pruned[known]
        tuner.best_config = configs[0]
        trials = [self._trial(tuner, args, named, config, tuned) for config in configs]
        self.recorder.add(
            Tune(
                tuner=known[0],
                key=key,
                configs=len(tuner.configs),
                known=tuned or len(configs) == 1,
                kernel=str(getattr(tuner.base_fn, "__name__", ""))[:200],
                arguments=self._tensors(tuner, named, configs[0]),
                trials=tuple(trials),
                finish=self._finish(tuner, named, configs),
                line=self.recorder.line(),
                prunes=self._pruner(tuner),
            )
        )
        return Compiled()

    def _pruner(self, tuner: Any) -> str:
        """The name of the function that rules configurations out by its own figures, or ""."""
        pruner = tuner.early_config_prune
        if pruner is None or self._tuner(tuner) in self._compiling:
            return ""
        name = str(getattr(pruner, "__name__", ""))[:200]
        return name if name.isidentifier() else "unnamed"

    def _survivors(self, tuner: Any, named: dict[str, Any]) -> Sequence[Any]:
        """The configurations that are left after pruning."""
        if len(tuner.configs) < 2:
            configs: Sequence[Any] = tuner.configs
            return configs
        before = self._compiled
        for config in tuner.configs if self.warps else ():
            config.num_warps = self.warps
        configs = list(tuner.prune_configs(named))
        if self._compiled > before:  # a kernel compiled here has no figures to decide by
            self._compiling.add(self._tuner(tuner))
        return configs

    def _trial(
        self, tuner: Any, args: Any, named: dict[str, Any], config: Any, tuned: bool
    ) -> Trial:
        current = {**named, **config.all_kwargs()}
        everything = {**tuner.nargs, **current}
        before: tuple[Step, ...] = ()
        launch = after = before
        if not tuned:
            conflicts = named.keys() & config.kwargs.keys()
            if conflicts:
                raise ValueError(
                    f"Conflicting meta-parameters: {', '.join(conflicts)}. "
                    "Make sure that you don't re-define auto-tuned symbols."
                )
            before = self._aside(lambda: self._hooks_before(tuner, config, everything))
            launch = self._aside(lambda: tuner.fn.run(*args, **current))
            after = self._aside(lambda: tuner.post_hook(everything, exception=None))

        def chosen() -> None:
            if config.pre_hook is not None:
                config.pre_hook(everything)
            tuner.fn.run(*args, **current)

        values = {name: self.kernels.value(value) for name, value in config.all_kwargs().items()}
        return Trial(values, before, launch, after, self._aside(chosen))

    def _hooks_before(self, tuner: Any, config: Any, everything: dict[str, Any]) -> None:
        if config.pre_hook is not None:
            config.pre_hook(everything)
        tuner.pre_hook(everything)

    def _finish(
        self, tuner: Any, named: dict[str, Any], configs: Sequence[Any]
    ) -> tuple[Step, ...]:
        """What a tuner does to the arguments after it has chosen."""
        if len(configs) < 2 or getattr(tuner, "user_defined_pre_hook", False):
            return ()
        everything = {**tuner.nargs, **named, **configs[0].all_kwargs()}
        return self._aside(lambda: tuner.pre_hook(everything, reset_only=True))

    def _aside(self, act: Callable[[], Any]) -> tuple[Step, ...]:
        with self.recorder.branch() as steps:
            act()
        return tuple(steps)

    def _tuner(self, tuner: Any) -> int:
        if id(tuner) not in self._tuners:
            self._tuners[id(tuner)] = len(self._tuners)
            self._alive.append(tuner)
        return self._tuners[id(tuner)]

    def _key(self, tuner: Any, named: dict[str, Any]) -> str:
        """The key of a tuner's choice: the arguments that its `key` names, and all dtypes."""
        given = {**tuner.nargs, **named}
        given = {name: value for name, value in given.items() if name in tuner.arg_names}
        key = [repr(given[name])[:200] for name in tuner.keys if name in given]
        return repr([*key, *(str(v.dtype) for v in given.values() if hasattr(v, "dtype"))])[:20_000]

    def _tensors(self, tuner: Any, named: dict[str, Any], config: Any) -> dict[str, Value]:
        given = {**tuner.nargs, **named, **config.all_kwargs()}
        return {
            name: self.recorder.ref(value).to_json()
            for name, value in given.items()
            if isinstance(value, ValuelessTensor)
        }


def _grid(grid: Any) -> Value:
    """The grid as JSON, for any kind of object."""
    if isinstance(grid, tuple | list):
        return [_grid(size) if not isinstance(size, tuple | list) else str(size) for size in grid]
    if isinstance(grid, np.integer):
        return int(grid)
    if grid is None or isinstance(grid, bool | int | float):
        return grid
    if isinstance(grid, ValuelessTensor) and grid.known is not None and grid.numel() == 1:
        return grid.known.item()
    return f"a {type(grid).__name__}"


def _do_bench(
    fn: Callable[[], Any],
    *args: Any,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
    **named: Any,
) -> Any:
    """Call the function once, and return a meaningless time."""
    fn()
    if quantiles is not None:
        return [PRETENDED_MS] * len(quantiles) if len(quantiles) > 1 else PRETENDED_MS
    return [PRETENDED_MS] if return_mode == "all" else PRETENDED_MS
