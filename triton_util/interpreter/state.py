"""The state of the running batch: its programs, and which of them are active."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_util.interpreter.operations.formats import Array

if TYPE_CHECKING:
    from types import CodeType

    from triton_util.interpreter.options import EngineOptions
    from triton_util.interpreter.regions import Region

# The judge launches for a learner, so its frames are between the engine and the learner's line.
_NOT_THE_LEARNERS = ("triton", "triton_util", "torch", "contextlib", "graders")


class Divergence(Exception):  # noqa: N818
    """Programs of one batch disagree where Python needs one value; `values` is per program."""

    def __init__(self, values: Array) -> None:
        super().__init__("programs take different paths here")
        self.values = values


class NeedsSerial(Exception):  # noqa: N818
    """The batch cannot continue; run its programs one by one.  The message is the reason."""


class OverBudget(Exception):  # noqa: N818
    """The batch needs more memory than allowed; run it in smaller batches."""


class Batch:
    """The programs that run together, and the log that can undo what they stored.

    pids: (P, 3) int32, (x, y, z) of each program.  linear: (P,) launch number of each program.
    active: None, or (P,) bool where control flow has split the batch.
    """

    def __init__(self, options: EngineOptions, grid: tuple[int, int, int]) -> None:
        self.options = options
        self.grid = grid
        self.pids: Array = np.zeros((1, 3), np.int32)
        self.linear: Array = np.zeros(1, np.int64)
        self.active: Array | None = None
        self.regions: list[Region] = []
        self.known_memory: Any = None  # returns tensors that integers may point to, or None
        self.undo: list[tuple[Array, Any, Array]] | None = None
        self.undo_bytes = 0
        self.poisoned = False
        self.version = 0  # of memory: the number of stores so far
        self.rounds: list[Any] = []  # of the running `while` loops, the innermost last
        self.lanes_seen = 1
        self.lane_limit = 1 << 62
        self.aims: Any = None  # the watcher of where stores were aimed at
        self.pointing: Any = None  # the watcher of every access, before it is checked
        self.shown: Any = None  # by the last operation, see `control.sides`: its mask, or a bool

    def start(self, linear: Array, undoable: bool) -> None:
        """Begin a batch of the programs with these launch numbers."""
        nx, ny, _ = self.grid
        self.linear = linear
        self.pids = np.stack([linear % nx, linear // nx % ny, linear // (nx * ny)], axis=1).astype(
            np.int32
        )
        self.active = None
        self.undo = [] if undoable else None
        self.undo_bytes = 0

    @contextlib.contextmanager
    def element_by_element(self, lanes: int) -> Iterator[None]:
        """Inside, `lanes` elements of every program count as programs of their own."""
        before = (self.linear, self.pids, self.active)
        self.linear, self.pids = self.linear.repeat(lanes), self.pids.repeat(lanes, axis=0)
        self.active = None if self.active is None else self.active.repeat(lanes)
        try:
            yield
        finally:
            self.linear, self.pids, self.active = before

    @property
    def programs(self) -> int:
        """How many programs run together."""
        return len(self.linear)

    def rewind(self) -> None:
        """Undo everything that the batch stored."""
        for flat, piece, old in reversed(self.undo or []):
            piece.write(flat, old)
        self.undo = [] if self.undo is not None else None
        self.active = None

    def remember(self, flat: Array, piece: Any) -> None:
        """Record the content of a piece of memory before a store to it."""
        if self.undo is None:
            return
        old = piece.read(flat)
        self.undo_bytes += old.nbytes + piece.lanes // 4
        if self.undo_bytes > self.options.memory_bytes // 4:
            self.rewind()
            raise OverBudget
        self.undo.append((flat, piece, old))

    def budget(self, shape: tuple[int, ...]) -> None:
        """Raise OverBudget for a block with which the batch would exceed its memory limit."""
        lanes = 1
        for size in shape:
            lanes *= size
        per_program = lanes if len(shape) < 2 else lanes // max(1, shape[0])
        self.lanes_seen = max(self.lanes_seen, per_program)
        if lanes > self.lane_limit and self.programs > 1 and self.undo is not None:
            self.rewind()
            raise OverBudget

    def program_id(self, index: int) -> tuple[int, int, int]:
        """(x, y, z) of the program at `index` of the batch."""
        x, y, z = (int(value) for value in self.pids[min(index, self.programs - 1)])
        return x, y, z


class SourceLines:
    """Finds the running line of the learner's kernel."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()

    def register(self, code: CodeType) -> None:
        """Count this code object, and those nested in it, as kernel code."""
        self._codes.add(code)
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                self.register(constant)

    def current(self) -> tuple[str, int, str]:
        """(file name, line, function) of the innermost kernel frame; ("", 0, "") outside one."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code in self._codes:
                return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back  # type: ignore[assignment]
        return "", 0, ""

    def of_launcher(self) -> tuple[str, int, str]:
        """The learner's line that launches a kernel: the innermost frame outside all libraries."""
        frame = sys._getframe(1)
        while frame is not None:
            package = str(frame.f_globals.get("__name__", "")).split(".")[0]
            if package not in _NOT_THE_LEARNERS:
                return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
            frame = frame.f_back  # type: ignore[assignment]
        return "", 0, ""

    def of_traceback(self, error: BaseException) -> tuple[str, int, str]:
        """The innermost kernel line in the traceback of an error."""
        found = ("", 0, "")
        step = error.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            if code in self._codes:
                found = (code.co_filename, step.tb_lineno, code.co_name)
            step = step.tb_next
        return found
