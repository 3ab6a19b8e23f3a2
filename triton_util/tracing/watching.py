"""Run a function in the engine and record every access of its kernels."""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triton_util.interpreter import EngineOptions, Run, interpret
from triton_util.interpreter.access import Lanes
from triton_util.interpreter.options import Schedule
from triton_util.tracing.record import Record
from triton_util.tracing.traced import Argument, Offsets, Touch

# Active lanes whose offsets are recorded, 8 bytes each. Later lanes are only counted.
MOST_LANES = 4_000_000


def watch(run_it: Callable[[], Any], schedule: Schedule = "grid") -> Record:
    """Call `run_it` in the engine, and return the record of the last launch.

    For a kernel without races, the schedule of the engine does not affect the record. Raises
    ValueError when nothing was launched, and any error that the launch raises.
    """
    options = EngineOptions(schedule, track=False, traffic=True)
    with interpret(options) as run:
        watcher = _Watcher(run)
        run.watchers.append(watcher)
        result = run_it()
    if not run.launches:
        raise ValueError("nothing was traced: no kernel was launched")
    launch, seen = run.launches[-1], watcher.launch
    assert launch.traffic is not None  # the options above request it
    return Record(
        kernel=launch.kernel,
        grid=launch.grid,
        meta=launch.meta,
        arguments=seen.arguments,
        programs=[seen.programs[number] for number in range(int(np.prod(launch.grid)))],
        traffic=launch.traffic,
        truncated=len(seen.not_kept),
        result=result,
    )


@dataclass
class _Seen:
    """The accesses of one launch so far."""

    arguments: dict[str, Argument] = field(default_factory=dict)
    programs: defaultdict[int, list[Touch]] = field(default_factory=lambda: defaultdict(list))
    not_kept: set[int] = field(default_factory=set)
    kept: int = 0


class _Watcher:
    """Receives the engine's memory operations, and sorts them by program.

    The engine runs many programs at once, but the accesses of each program arrive in order.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._batch: Any = None
        self.launch = _Seen()

    def launch_started(self, batch: Any, _reporter: Any) -> None:
        self._batch = batch
        self.launch = _Seen()
        for region in batch.regions:
            self._meet(region)

    def batch_undone(self) -> None:
        """Drop the accesses of the batch, whose programs start again."""
        for program in self._batch.linear.tolist():
            for touch in self.launch.programs.pop(program, ()):
                self.launch.kept -= touch.offsets.size
            self.launch.not_kept.discard(program)

    def loaded(self, region: Any, plan: Any, _pointer: Any) -> None:
        self._note("load", region, _by_program(plan, self._batch), _lanes(plan.shape[1:]))

    def stored(self, region: Any, plan: Any, _parts: Any) -> None:
        self._note("store", region, _by_program(plan, self._batch), _lanes(plan.shape[1:]))

    def atomic(self, region: Any, offsets: Any, programs: Any, pointer: Any, _: Any) -> None:
        flat = np.asarray(offsets, np.int64).ravel()
        numbers = np.asarray(programs).ravel()
        places = {int(number): place for place, number in enumerate(self._batch.linear)}
        parts = {places[int(number)]: flat[numbers == number] for number in np.unique(numbers)}
        self._note("atomic", region, parts, _lanes(pointer.shape))

    def __getattr__(self, event: str) -> Callable[..., None]:
        """Ignore the engine's other events."""
        if event.startswith("__"):
            raise AttributeError(event)
        return lambda *_: None

    def _meet(self, region: Any) -> None:
        seen = self.launch
        if region.name not in seen.arguments:
            shape, strides = tuple(region.shape), tuple(region.strides)
            seen.arguments[region.name] = Argument(region.name, shape, strides, region.item_bytes)

    def _note(self, operation: str, region: Any, parts: dict[int, Offsets], lanes: int) -> None:
        """Record one operation for every program that executes it, even without active lanes."""
        self._meet(region)
        filename, line, _ = self._run.lines.current()
        code = linecache.getline(filename, line).strip()
        for index in _running(self._batch):
            program = int(self._batch.linear[index])
            offsets = parts.get(index, np.zeros(0, np.int64))
            if self.launch.kept + offsets.size > MOST_LANES:
                self.launch.not_kept.add(program)
                continue
            self.launch.kept += offsets.size
            touch = Touch(operation, region.name, offsets, lanes, line, code)
            self.launch.programs[program].append(touch)


def _running(batch: Any) -> list[int]:
    """Places in the batch of the programs that control flow has left active."""
    if batch.active is None:
        return list(range(batch.programs))
    return [int(index) for index in np.flatnonzero(batch.active)]


def _lanes(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape)) if len(shape) else 1


def _by_program(plan: Any, batch: Any) -> dict[int, Offsets]:
    """The active offsets of each program, by its place in the batch."""
    found: dict[int, Offsets] = {}
    for piece in plan.pieces:
        rows = _rows(piece)
        if plan.shape[0] != batch.programs:  # the same lanes for all programs
            found |= dict.fromkeys(range(batch.programs), rows[0])
            continue
        places = np.arange(batch.programs)
        chosen = places if piece.where is Ellipsis else places[piece.where[0]]
        found |= {int(index): row for index, row in zip(chosen, rows, strict=True)}
    return found


def _rows(piece: Any) -> list[Offsets]:
    """The active offsets of a piece, one array for each program in it."""
    if isinstance(piece, Lanes):
        pairs = zip(piece.offsets_, piece.active, strict=True)
        return [np.asarray(offsets[active], np.int64) for offsets, active in pairs]
    whole = np.asarray(piece.offsets(), np.int64)
    return [row.ravel() for row in whole]
