"""Run something in the engine and keep every access of its kernels."""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from triton_util.interpreter import EngineOptions, Run, interpret
from triton_util.tracing.record import Argument, Offsets, Record, Touch

# Active lanes whose offsets are kept: 8 bytes each. What comes later is counted only.
MOST_LANES = 4_000_000


def watch(run_it: Callable[[], Any]) -> Record:
    """Call `run_it` with the engine in place; the record of the last launch.

    Raises ValueError when nothing was launched, and whatever the launch raises.
    """
    options = EngineOptions(schedule="serial", track=False, traffic=True)
    with interpret(options) as run:
        watcher = _Watcher(run)
        run.watchers.append(watcher)
        result = run_it()
    if not run.launches:
        raise ValueError("nothing was traced: no kernel was launched")
    launch, seen = run.launches[-1], watcher.launch
    assert launch.traffic is not None  # asked for above
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
    """What one launch has done so far."""

    arguments: dict[str, Argument] = field(default_factory=dict)
    programs: defaultdict[int, list[Touch]] = field(default_factory=lambda: defaultdict(list))
    not_kept: set[int] = field(default_factory=set)
    kept: int = 0


class _Watcher:
    """Listens to the engine's memory operations; programs run one by one."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._batch: Any = None
        self.launch = _Seen()

    def launch_started(self, batch: Any, _reporter: Any) -> None:
        self._batch = batch
        self.launch = _Seen()
        for region in batch.regions:
            self._meet(region)

    def loaded(self, region: Any, plan: Any, _pointer: Any) -> None:
        self._keep("load", region, _offsets(plan), int(np.prod(plan.shape)))

    def stored(self, region: Any, plan: Any, _parts: Any) -> None:
        self._keep("store", region, _offsets(plan), int(np.prod(plan.shape)))

    def atomic(self, region: Any, offsets: Any, _programs: Any, pointer: Any) -> None:
        lanes = int(np.prod(pointer.shape)) if len(pointer.shape) else 1
        self._keep("atomic", region, np.asarray(offsets, np.int64).ravel(), lanes)

    def __getattr__(self, event: str) -> Callable[..., None]:
        """The engine's other events say nothing that is kept here."""
        if event.startswith("__"):
            raise AttributeError(event)
        return lambda *_: None

    def _meet(self, region: Any) -> None:
        seen = self.launch
        if region.name not in seen.arguments:
            shape, strides = tuple(region.shape), tuple(region.strides)
            seen.arguments[region.name] = Argument(region.name, shape, strides, region.item_bytes)

    def _keep(self, operation: str, region: Any, offsets: Offsets, lanes: int) -> None:
        self._meet(region)
        seen = self.launch
        program = int(self._batch.linear[0])
        if seen.kept + offsets.size > MOST_LANES:
            seen.not_kept.add(program)
            return
        seen.kept += offsets.size
        filename, line, _ = self._run.lines.current()
        code = linecache.getline(filename, line).strip()
        seen.programs[program].append(Touch(operation, region.name, offsets, lanes, line, code))


def _offsets(plan: Any) -> Offsets:
    """The active offsets of an access, in the order of its pieces."""
    parts = [np.asarray(piece.offsets(), np.int64).ravel() for piece in plan.pieces]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
