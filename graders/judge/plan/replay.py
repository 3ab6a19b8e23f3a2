"""Run the steps of a launch plan on the tensors of a job.

Of the submission, only its kernels are executed. A step that fails does so at its line of the
submission, so that the engine and the report find the correct line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import CodeType, SimpleNamespace
from typing import Any

import torch
import triton

from graders.judge.plan.kernels import Kernels, dtype_named
from graders.judge.plan.steps import (
    Allocate,
    Constant,
    Copy,
    Fill,
    Launch,
    Step,
    TensorRef,
    Trial,
    Tune,
)

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")


class Replay:
    """Memory and kernels of one plan in one process, case after case.

    New memory is on `device`; `most_bytes` limits one allocation; if `timed`, autotuners choose by
    the time on the GPU, as they do outside the judge.
    """

    def __init__(
        self, kernels: Kernels, filename: str, device: str, most_bytes: int, timed: bool = False
    ) -> None:
        self.timed = timed
        self.kernels, self.filename, self.device = kernels, filename, device
        self.most_bytes = most_bytes
        self.storages: dict[int, torch.Tensor] = {}  # each as a 1D tensor
        self.choices: dict[tuple[int, str], int] = {}
        self.turns: dict[int, int] = {}
        self.tuners: dict[int, Any] = {}
        self.run: Any = None
        self.ran: dict[str, set[int]] = {}  # the arms that ran, by the meaning of a launch
        self.sides: set[int] = set()  # of decisions, see `plan.decisions`
        self._copied: dict[int, torch.Tensor] = {}  # per byte: did a copy find it unstored?

    def begin(self, run: Any, inputs: Mapping[int, torch.Tensor], keep: Sequence[int]) -> None:
        """Begin a new case, with its arguments' storages and those kept of earlier cases."""
        self.run, self.ran, self.sides = run, {}, set()
        self.release(keep)
        self.storages |= inputs

    def release(self, keep: Sequence[int]) -> None:
        """Free all storages but these, so that the next case has room for its own."""
        self.storages = {
            number: self.storages[number] for number in keep if number in self.storages
        }
        self._copied = {n: mask for n, mask in self._copied.items() if n in self.storages}

    def prepare(self, steps: Sequence[Step], needed: Collection[int]) -> None:
        """Make older memory that the case needs, unless it already exists."""
        missing = set(needed) - self.storages.keys()
        for step in steps if missing else ():
            storage = step.target.storage if isinstance(step, Fill | Copy) else _made(step)
            if storage in missing:
                self.perform(step)

    def steps(self, steps: Sequence[Step]) -> None:
        """Perform one step after another."""
        for step in steps:
            self.perform(step)

    def perform(self, step: Step) -> None:
        """Perform one step."""
        if isinstance(step, Launch):
            self._at(step.line, lambda: self._launch(step))
        elif isinstance(step, Tune):
            self._tune(step)
        elif isinstance(step, Allocate):
            self._at(step.line, lambda: self._allocate(step))
        elif isinstance(step, Copy):
            self._at(step.line, lambda: self._copy(step))
        elif isinstance(step, Fill):
            self._fill(step)
        elif isinstance(step, Constant):
            dtype = dtype_named(step.dtype)
            self.storages[step.storage] = torch.tensor(step.values, dtype=dtype, device=self.device)

    # -- memory ----------------------------------------------------------------------------------

    def tensor(self, ref: TensorRef) -> torch.Tensor:
        """The tensor for a view of the plan."""
        base, dtype = self.storages[ref.storage], dtype_named(ref.dtype)
        if base.dtype != dtype:
            base = base.view(torch.uint8).view(dtype)
        return base.as_strided(ref.shape, ref.strides, ref.offset)

    def _allocate(self, step: Allocate) -> None:
        dtype = dtype_named(step.dtype)
        if step.count * dtype.itemsize > self.most_bytes:
            raise MemoryError(f"{step.count * dtype.itemsize} bytes are asked for at once")
        self.storages[step.storage] = torch.empty(step.count, dtype=dtype, device=self.device)

    def _fill(self, step: Fill) -> None:
        target = self.tensor(step.target)
        target.fill_(step.value)
        self._written(step.target, target, None)

    def _copy(self, step: Copy) -> None:
        target, source = self.tensor(step.target), self.tensor(step.source)
        unstored = None
        if self._keeps_map:  # while a case is timed, the copy alone may cost time
            unstored = self.never_stored(step.source)
            if unstored is None:
                unstored = torch.ones(step.source.shape, dtype=torch.bool)
        target.copy_(source)
        self._written(step.target, target, unstored)

    def _written(self, ref: TensorRef, view: torch.Tensor, unstored: torch.Tensor | None) -> None:
        """Record that a fill or a copy wrote the view, not a kernel.

        Its elements then count as not stored by a kernel. After a copy they take the state of the
        copied elements: `unstored` says which of those no kernel stored.
        """
        if not self._keeps_map:
            return
        self.run.forget_stores(view)
        mask = self._copied.get(ref.storage)
        if mask is None and unstored is not None:
            count = self.storages[ref.storage].untyped_storage().nbytes()
            mask = self._copied[ref.storage] = torch.ones(count, dtype=torch.bool)
        if mask is not None:
            state = True if unstored is None else unstored.unsqueeze(-1)
            _bytes(mask, ref)[...] = state

    @property
    def _keeps_map(self) -> bool:
        """Whether stores are tracked: only on the CPU, and not while a case is timed."""
        return self.device == "cpu" and self.run is not None

    def never_stored(self, ref: TensorRef) -> torch.Tensor | None:
        """For each element of a view, whether no kernel stored it, directly or before a copy.

        None if neither a launch nor a copy ever got the memory of the view.
        """
        stored_map = self.run.never_stored(self.tensor(ref))
        mask = self._copied.get(ref.storage)
        copied = None if mask is None else _bytes(mask, ref).any(-1)
        if stored_map is None:
            return copied
        unstored = torch.as_tensor(stored_map)
        return unstored if copied is None else unstored & copied

    # -- launches --------------------------------------------------------------------------------

    def _launch(self, step: Launch) -> None:
        kernel = self.kernels.get(step.kernel)
        grid = tuple(step.grid) if isinstance(step.grid, list) else step.grid
        positional = [self.kernels.value(value, self.tensor) for value in step.positional]
        named = {n: self.kernels.value(value, self.tensor) for n, value in step.named.items()}
        if step.allocator and self.device == "cuda":
            triton.set_allocator(_workspace)
        control = getattr(self.run, "control", None)  # the interpreter's
        if control is None:
            kernel[grid](*positional, **named)
            return
        ran = self.ran.setdefault(self.kernels.meaning(step), set())
        control.arms = self.kernels.arms = ran
        control.sides = self.sides
        kernel[grid](*positional, **named)

    def _at(self, line: int | None, act: Callable[[], None]) -> None:
        """Call `act` in a frame that is at this line of the submission."""
        exec(_frame_at(self.filename, line or 1), {"__name__": "submission", "act": act})

    # -- autotuning ------------------------------------------------------------------------------

    def _tune(self, step: Tune) -> None:
        known = step.tuner, step.key
        if len(step.trials) == 1 or step.known:
            index = self.choices.get(known, 0) if step.known else 0
        elif self.device == "cpu":
            index = self.choices[known] = self._cheapest(step)
            self.steps(step.finish)
        elif self.timed:
            if known not in self.choices:
                self.choices[known] = self._fastest(step)
                self.steps(step.finish)
            index = self.choices[known]
        else:
            index = self.choices[known] = self._next_that_runs(step)
            self.steps(step.finish)
        launched = getattr(self.run, "launches", [])
        before = len(launched)
        try:
            self.steps(step.trials[min(index, len(step.trials) - 1)].chosen)
        finally:
            for record in launched[before:]:
                record.configs = step.configs

    def _cheapest(self, step: Tune) -> int:
        """Run every configuration on the engine; return the one with the least modelled cost."""
        from triton.runtime.autotuner import Autotuner

        tuner = self.tuners.setdefault(step.tuner, SimpleNamespace())
        tuner.nargs = {n: self.kernels.value(v, self.tensor) for n, v in step.arguments.items()}
        tuner.base_fn = SimpleNamespace(__name__=step.kernel)
        costs = []
        before = len(self.run.launches)
        for trial in step.trials:
            tuner.pre_hook = lambda named, trial=trial: self.steps(trial.before)
            tuner.post_hook = lambda named, exception=None, trial=trial: self.steps(trial.after)
            tuner.fn = SimpleNamespace(run=lambda trial=trial, **named: self.steps(trial.launch))
            cost, *_ = self._tried(step.line, Autotuner._bench, tuner, self._config(trial))
            costs.append(cost)
        for record in self.run.launches[before:]:
            record.configs = step.configs
        return min(range(len(costs)), key=costs.__getitem__)

    def _tried(self, line: int | None, bench: Any, tuner: Any, config: Any) -> Any:
        found: list[Any] = []
        self._at(line, lambda: found.extend(bench(tuner, config=config)))
        return found

    def _config(self, trial: Trial) -> Any:
        values = {name: self.kernels.value(value) for name, value in trial.config.items()}
        options = {name: values.pop(name) for name in _OPTIONS if name in values}
        return triton.Config(values, **options)

    def _fastest(self, step: Tune) -> int:
        """The configuration that takes the least time on the GPU, measured as Triton does."""
        from triton.testing import do_bench

        times = [float("inf")] * len(step.trials)
        for index, trial in enumerate(step.trials):

            def one(trial: Trial = trial) -> None:
                self.steps(trial.before)
                self.steps(trial.launch)
                self.steps(trial.after)

            with contextlib.suppress(*_cannot_run()):
                times[index] = float(do_bench(one, return_mode="median"))
        return min(range(len(times)), key=times.__getitem__)

    def _next_that_runs(self, step: Tune) -> int:
        """Return one configuration per new shape, in turn; skip those that cannot run.

        Timing all of them for every shape, as Triton does, would take minutes without testing
        correctness. Taking turns gives each configuration cases of its own.
        """
        first = self.turns.get(step.tuner, 0)
        self.turns[step.tuner] = first + 1
        count = len(step.trials)
        for index in [(first + place) % count for place in range(count)]:
            trial = step.trials[index]
            try:
                self.steps(trial.before)
                self.steps(trial.launch)
                self.steps(trial.after)
                torch.cuda.synchronize()
            except _cannot_run():
                self.steps(trial.after)
                continue
            return index
        return first % count


def _workspace(size: int, _alignment: int, _stream: int | None) -> torch.Tensor:
    """Memory in which a kernel makes descriptors; it replaces the submission's allocator."""
    return torch.empty(size, dtype=torch.int8, device="cuda")


def _cannot_run() -> tuple[type[Exception], ...]:
    """The exceptions for which Triton skips a configuration."""
    from triton.compiler.errors import CompileTimeAssertionFailure
    from triton.runtime.errors import OutOfResources, PTXASError

    return OutOfResources, CompileTimeAssertionFailure, PTXASError


def _made(step: Step) -> int:
    return step.storage if isinstance(step, Allocate | Constant) else -1


def _bytes(mask: torch.Tensor, ref: TensorRef) -> torch.Tensor:
    """A view's part of a storage's byte map: the view's shape, and a last axis of bytes."""
    size = dtype_named(ref.dtype).itemsize
    strides = [*(stride * size for stride in ref.strides), 1]
    return mask.as_strided((*ref.shape, size), strides, ref.offset * size)


@cache
def _frame_at(filename: str, line: int) -> CodeType:
    return compile("\n" * (line - 1) + "act()", filename, "exec")
