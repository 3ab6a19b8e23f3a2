"""The builder's part for `tl.atomic_*`: the ordering of each, and when programs must wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from triton_util.interpreter.faults import NotInterpreted
from triton_util.interpreter.launch import Launching
from triton_util.interpreter.operations import atomics
from triton_util.interpreter.operations.blocks import Block, Pointer, scalar
from triton_util.interpreter.state import NeedsSerial
from triton_util.interpreter.watchers.happens_before import Ordering


class AtomicOperations:
    """Atomic operations on blocks of the running batch; `launching` is set by the executor."""

    launching: Launching

    def create_atomic_rmw(
        self,
        operation: Any,
        pointer: Pointer,
        value: Block,
        mask: Block,
        semantics: Any = "acq_rel",
        scope: Any = "gpu",
        *_: Any,
    ) -> Block:
        name = str(operation).rsplit(".", 1)[-1].split(":")[0].strip("<> ")
        if name == "XCHG" and self.launching.batch.programs > 1:
            raise NeedsSerial("tl.atomic_xchg makes programs wait for one another")
        ordering = Ordering.named(str(semantics)).within(str(scope))
        ordering = replace(ordering, reads=name != "XCHG")
        memory = self.launching.memory
        return atomics.read_modify_write(memory, name, pointer, value, mask, ordering)

    def create_atomic_cas(
        self,
        pointer: Pointer,
        expected: Block,
        value: Block,
        semantics: Any = "acq_rel",
        scope: Any = "gpu",
        *_: Any,
    ) -> Block:
        if self.launching.batch.programs > 1:
            raise NeedsSerial("tl.atomic_cas makes programs wait for one another")
        ordering = Ordering.named(str(semantics)).within(str(scope))
        memory = self.launching.memory
        return atomics.compare_and_swap(memory, pointer, expected, value, ordering)

    def create_atomic_load(
        self, pointer: Pointer, mask: Block, semantics: Any, scope: Any, *_: Any
    ) -> Block:
        zero = scalar(0, pointer.get_element_ty())
        ordering = Ordering.named(str(semantics)).within(str(scope))
        reading = replace(ordering, releases=False, writes=False)
        memory = self.launching.memory
        return atomics.read_modify_write(memory, "LOAD", pointer, zero, mask, reading)

    def create_atomic_store(
        self, pointer: Pointer, value: Block, mask: Block, semantics: Any, scope: Any, *_: Any
    ) -> None:
        ordering = Ordering.named(str(semantics)).within(str(scope))
        replacing = replace(ordering, acquires=False, replaces=True, reads=False)
        atomics.read_modify_write(self.launching.memory, "XCHG", pointer, value, mask, replacing)

    def create_atomic_poll(self, *_: Any) -> Block:
        raise NotInterpreted("tl.atomic_poll waits for programs that do not run yet here")
