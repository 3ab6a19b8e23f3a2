"""One launch: its batch, its memory, and what the builder asks about the running programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import triton.language as tl

from triton_util.interpreter.memory import Memory
from triton_util.interpreter.messages.reports import Reporter
from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.state import Batch, NeedsSerial


class Launching:
    """What the builder needs to know about the running launch."""

    def __init__(
        self, batch: Batch, reporter: Reporter, watchers: list[Any], counting: bool
    ) -> None:
        self.batch = batch
        self.reporter = reporter
        self.memory = Memory(batch, reporter, watchers)
        self.counting = counting
        self.flops: Counter[str] = Counter()
        self.within: Any = None  # compares the lanes of one program, or None
        self.tf32 = False  # whether a tl.dot truncated float32 to TF32

    def program_id(self, axis: int) -> Block:
        """`tl.program_id`: one number if all programs of the batch share it."""
        self.batch.shown = self.batch.grid[axis] > 1
        values = self.batch.pids[:, axis].astype(np.int64)
        if (values == values[0]).all():
            values = values[:1]
        return Block(None, tl.int32, (), terms=(values,))

    def barrier(self) -> None:
        """Tell the watcher that the lanes of each program wait for one another."""
        if self.within is not None:
            self.within.barrier()

    def count(self, kind: str, result: Block, each: int = 1) -> None:
        """Add the floating-point operations of one block operation, over all programs."""
        if not self.counting or not result.dtype.scalar.is_floating():
            return
        lanes = each
        for size in result.shape:
            lanes *= size
        active = self.batch.active
        programs = self.batch.programs if active is None else int(np.count_nonzero(active))
        self.flops[kind] += lanes * programs

    def require(self, condition: Any, message: str, hint: str = "") -> None:
        """Raise a fault unless `condition` is true in every lane of every active program.

        hint: the operation that asserts it to the compiler; empty for an assertion.
        """
        if isinstance(condition, Block):
            held = condition.full(self.batch.programs)
        else:
            held = np.broadcast_to(np.asarray(bool(condition)), (self.batch.programs,))
        failed = ~held.reshape(self.batch.programs, -1).all(axis=1)
        if self.batch.active is not None:
            failed = failed & self.batch.active
        if failed.any():
            at = self.batch.program_id(int(failed.argmax()))
            if hint:
                raise self.reporter.untrue_hint(hint, message, at)
            raise self.reporter.assertion(str(message), at)

    def print_values(self, prefix: str, as_hex: bool, values: Sequence[Block]) -> None:
        """`tl.device_print`: one line per program, so programs run one by one."""
        if self.batch.programs > 1:
            raise NeedsSerial("tl.device_print shows one program after another")
        if self.batch.active is not None and not self.batch.active.all():
            return
        where = self.batch.program_id(0)
        for block in values:
            value = block.full(1)[0]
            text = np.vectorize(_hexadecimal)(value) if as_hex else value
            print(f"{where}{' ' + prefix if prefix else ''} {text}")


def _hexadecimal(value: Any) -> str:
    if isinstance(value, np.floating):
        return float(value).hex()
    width = value.dtype.itemsize * 2
    return f"0x{int(value) & ((1 << 4 * width) - 1):0{width}x}"
