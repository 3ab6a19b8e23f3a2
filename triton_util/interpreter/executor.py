"""Running one launch: arguments, grid, batches, and the retry of a batch that cannot continue."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.random  # numpy imports it lazily, but a jailed process can no longer import
import torch
import triton.language as tl

from triton_util.interpreter import arguments as args
from triton_util.interpreter.blame import acts_for_the_kernel
from triton_util.interpreter.control.sources import line_of_return
from triton_util.interpreter.faults import KernelFault
from triton_util.interpreter.launch import Launching
from triton_util.interpreter.messages.reports import Reporter
from triton_util.interpreter.messages.translation import fault_from
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.state import Batch, Divergence, NeedsSerial, OverBudget

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running

# The largest number of lanes in a batch for which numpy's data stays in the caches.
LANES = 1 << 19
# Rough number of bytes per lane of all blocks that a kernel keeps alive at once.
BYTES_PER_LANE = 256
# More programs would run for weeks, even on a GPU.
MOST_PROGRAMS = 2**40
# With up to this many different values of a branch, each value gets a batch of its own.
MOST_PATHS = 16


class Execution:
    """Runs the programs of one launch in the order of the schedule."""

    def __init__(self, run: Running, kernel: tuple[Any, Any], function: Callable[..., Any]) -> None:
        self.run = run
        self.kernel = kernel
        self.function = function
        self.mode = "grid" if run.options.schedule == "grid" else "serial"
        self.reason = ""

    def launch(self, grid: tuple[int, int, int], bound: dict[str, Any]) -> Launching:
        """Run every program of `grid` with these arguments (already converted)."""
        run = self.run
        batch = Batch(run.options, grid)
        batch.known_memory = run.known_memory
        reporter = Reporter(self.function.__name__, run.lines, run.faults)
        launching = Launching(batch, reporter, run.watchers, run.counter is not None)
        launching.within = run.within
        run.builder.launching = launching
        values = args.Converter(batch).convert_all(bound)
        with np.errstate(all="ignore"):
            for watcher in run.watchers:
                watcher.launch_started(batch, reporter)
            self._run_batches(launching, values)
            for watcher in run.watchers:
                watcher.launch_ended()
        return launching

    def _run_batches(self, launching: Launching, values: dict[str, Any]) -> None:
        batch = launching.batch
        order = self._order(batch)
        if self.mode == "serial":
            for number in order:
                self._run_programs(launching, values, np.array([number]), False)
            return
        size = self._batch_size(batch)
        work = [order[at : at + size] for at in range(0, len(order), size)][::-1]
        while work:
            programs = work.pop()
            again = self._attempt(launching, values, programs)
            work.extend(reversed(again))

    def _attempt(
        self, launching: Launching, values: dict[str, Any], programs: Array
    ) -> list[Array]:
        """Run a batch; if it could not continue, return the smaller batches to run instead."""
        batch = launching.batch
        noted = len(self.run.faults)
        flops = launching.flops.copy()
        try:
            self._run_programs(launching, values, programs, len(programs) > 1)
        except OverBudget:
            again = _halved(programs)
        except Divergence as split:
            again = self._split(programs, split)
        except NeedsSerial as need:
            self.reason = str(need)
            again = [programs[i : i + 1] for i in range(len(programs))]
        else:
            self.run.lanes[self.kernel] = batch.lanes_seen
            return []
        batch.rewind()
        launching.reporter.forget(noted)
        launching.flops = flops
        for watcher in self.run.watchers:
            watcher.batch_undone()
        return again

    def _split(self, programs: Array, split: Divergence) -> list[Array]:
        values = np.asarray(split.values)
        if len(values) == len(programs):
            kinds, first = np.unique(values, return_index=True)
            if len(kinds) <= MOST_PATHS:
                return [programs[values == values[at]] for at in np.sort(first)]
        self.reason = "its programs take too many different paths"
        return [programs[i : i + 1] for i in range(len(programs))]

    def _run_programs(
        self, launching: Launching, values: dict[str, Any], programs: Array, undoable: bool
    ) -> None:
        if len(programs) == 1 and self.reason:
            self.mode = "serial"
        launching.batch.start(programs, undoable)
        self.run.control.begin()
        for watcher in self.run.watchers:
            watcher.batch_started()
        try:
            result = self.function(**values)
        except (KernelFault, Divergence, NeedsSerial, OverBudget):
            raise
        except Exception as error:
            if isinstance(error, MemoryError) and len(programs) > 1:
                raise OverBudget from error
            place = launching.reporter.place_of(*self.run.lines.of_traceback(error))
            raise KernelFault(fault_from(error, place)) from error
        if isinstance(result, tl.tensor):
            code = self.function.__code__
            at = (code.co_filename, line_of_return(self.kernel[0]), code.co_name)
            refusal = TypeError("a launched kernel returns a value")
            raise KernelFault(fault_from(refusal, launching.reporter.place_of(*at)))

    def _order(self, batch: Batch) -> Array:
        nx, ny, nz = batch.grid
        order = np.arange(nx * ny * nz)
        if self.run.options.schedule == "reversed":
            return order[::-1]
        if self.run.options.schedule == "shuffled":
            return np.random.default_rng(self.run.options.seed).permutation(order)
        return order

    def _batch_size(self, batch: Batch) -> int:
        bound = self.run.options.memory_bytes // BYTES_PER_LANE
        lanes = self.run.lanes.get(self.kernel) or self._guess()
        batch.lane_limit = max(1, bound)
        return max(1, min(LANES, bound) // lanes)

    def _guess(self) -> int:
        """Estimated lanes per program before the kernel has run: the two largest block sizes."""
        sizes = sorted(
            (value for value in self.run.meta.values() if type(value) is int and value > 1),
            reverse=True,
        )
        lanes = 1
        for size in sizes[:2]:
            lanes *= size
        return min(lanes, LANES)


def _halved(programs: Array) -> list[Array]:
    middle = len(programs) // 2
    return [programs[:middle], programs[middle:]]


@acts_for_the_kernel
def normalised_grid(grid: Any, bound: dict[str, Any]) -> tuple[int, int, int]:
    """The grid as three integers; a callable is called with the arguments by name."""
    if callable(grid):
        grid = grid(bound)
    if isinstance(grid, (int, np.integer)) or not isinstance(grid, Iterable):
        raise TypeError(f"grid must be a tuple of 1 to 3 integers, got {grid!r}")
    sizes = tuple(grid)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"grid must have 1 to 3 dimensions, got {len(sizes)}: {sizes!r}")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer, torch.SymInt)):
            raise TypeError(f"grid sizes must be integers, got {size!r} in {sizes!r}")
        if size < 0:
            raise ValueError(f"grid sizes must not be negative, got {sizes!r}")
    x, y, z = (*(int(size) for size in sizes), 1, 1)[:3]
    if x > 2**31 - 1 or max(y, z) > 65535:
        raise ValueError(f"grid sizes are at most 2**31 - 1, 65535 and 65535, got {sizes!r}")
    if x * y * z > MOST_PROGRAMS:
        raise ValueError(f"a grid of {x * y * z} programs would not come to its end")
    return x, y, z


# A kernel is launched many times, and reading its signature takes as long as binding to it.
_signature = functools.lru_cache(maxsize=64)(inspect.signature)


@acts_for_the_kernel
def bind(function: Callable[..., Any], args_given: Any, named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by parameter name; raises TypeError with the kernel's own names."""
    bound = _signature(function).bind(*args_given, **named)
    bound.apply_defaults()
    return dict(bound.arguments)
