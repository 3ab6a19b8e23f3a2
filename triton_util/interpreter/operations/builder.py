"""The builder behind `tl.*`: every operation of Triton's interpreter, on batches of programs.

While the engine runs, it replaces the class of triton's own builder object by `GridBuilder`.  The
names and argument orders are Triton's; trailing arguments differ between its versions, so any are
accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.faults import NotInterpreted
from triton_util.interpreter.operations import (
    arithmetic,
    atomics,
    mathematics,
    products,
    provenance,
    shapes,
)
from triton_util.interpreter.operations.atomic_builder import AtomicOperations
from triton_util.interpreter.operations.blocks import Block, Pointer, joint_shape, scalar
from triton_util.interpreter.operations.builder_tables import add_tables
from triton_util.interpreter.operations.descriptors import Box, rows_of
from triton_util.interpreter.operations.formats import (
    carrier_dtype,
    round_to_tf32,
    truncate_to_tf32,
)
from triton_util.interpreter.watchers.happens_before import Ordering

ir = stock._ir


class GridBuilder(AtomicOperations, stock.InterpreterBuilder):  # type: ignore[misc]
    """Operations on blocks of the running batch; `launching` is set by the executor."""

    # -- constants -------------------------------------------------------------------------------

    def get_int1(self, value: Any) -> Block:
        return scalar(value, tl.int1)

    def get_null_value(self, dtype: tl.dtype) -> Block:
        return scalar(0, dtype.scalar)

    def get_all_ones_value(self, dtype: tl.dtype) -> Block:
        kind = carrier_dtype(dtype)
        if kind == np.bool_:
            return scalar(True, dtype.scalar)
        return scalar(np.array(-1, np.int64).astype(kind), dtype.scalar)

    # -- programming model -----------------------------------------------------------------------

    def create_get_program_id(self, axis: int) -> Block:
        return self.launching.program_id(axis)

    def create_get_num_programs(self, axis: int) -> Block:
        return scalar(self.launching.batch.grid[axis], tl.int32)

    def create_barrier(self, *_: Any) -> None:
        """Report a barrier; the programs of a batch run in step, so none has to wait."""
        self.launching.barrier()

    def create_grid_dependency_wait(self, *_: Any) -> None:
        """Do nothing: launches run one after another, so the launch before this one has ended."""

    def create_grid_dependency_launch_dependents(self, *_: Any) -> None:
        """Do nothing: the next launch starts when this one has ended."""

    def create_print(self, prefix: str, as_hex: bool, values: Sequence[Block], *_: Any) -> None:
        self.launching.print_values(prefix, as_hex, values)

    def create_assert(self, condition: Any, message: str, *_: Any) -> None:
        self.launching.require(condition, message)

    def create_assume(self, condition: Any) -> None:
        self.launching.require(condition, "the condition of tl.assume")

    # -- memory ----------------------------------------------------------------------------------

    def create_load(self, pointer: Pointer, *_: Any, **__: Any) -> Block:
        return self.launching.memory.load(pointer, None, None)

    def create_masked_load(
        self, pointer: Pointer, mask: Block, other: Block | None, *_: Any, **__: Any
    ) -> Block:
        return self.launching.memory.load(pointer, mask, other)

    def create_store(self, pointer: Pointer, value: Block, *_: Any, **__: Any) -> None:
        self.launching.memory.store(pointer, value, None)

    def create_masked_store(
        self, pointer: Pointer, value: Block, mask: Block, *_: Any, **__: Any
    ) -> None:
        self.launching.memory.store(pointer, value, mask)

    # -- casts -----------------------------------------------------------------------------------

    def cast_impl(self, source: Block, target: tl.dtype) -> Block:
        result = arithmetic.cast(source, target)
        if self.launching.within is not None:
            arithmetic.mark_undefined(source, result)
        return result

    def create_int_cast(self, source: Block, target: tl.dtype, *_: Any) -> Block:
        return arithmetic.cast(source, target)

    def create_fp_to_fp(self, source: Block, target: tl.dtype, rounding: Any) -> Block:
        return mathematics.convert_float(source, target, rounding == ir.ROUNDING_MODE.RTZ)

    def create_bitcast(self, source: Block, target: tl.dtype) -> Block:
        if isinstance(source, Pointer):
            return arithmetic.recast_pointer(source, target.scalar)
        return arithmetic.reinterpret(source, target)

    def create_int_to_ptr(self, source: Block, target: tl.dtype) -> Pointer:
        terms = (source.data.astype(np.int64),)
        return provenance.found(
            Pointer(None, terms, target.scalar, source.shape), self.launching.batch
        )

    def create_ptr_to_int(self, source: Pointer, target: tl.dtype) -> Block:
        values = source.data.astype(carrier_dtype(target))
        return Block(values, target.scalar, source.shape)

    # -- arithmetic ------------------------------------------------------------------------------

    def binary_op(self, left: Block, right: Block, operation: Any) -> Block:
        result = arithmetic.elementwise(left, right, operation)
        self.launching.count("arithmetic", result)
        return result

    def unary_op(self, block: Block, operation: Any) -> Block:
        return mathematics.unary(self.launching, block, operation)

    def ternary_op(self, first: Block, second: Block, third: Block, operation: Any) -> Block:
        values = operation(first.data, second.data, third.data)
        shape = joint_shape(first, second, third)
        return Block(
            values.astype(carrier_dtype(third.dtype), copy=False), third.dtype.scalar, shape
        )

    def create_add(self, left: Block, right: Block) -> Block:
        return arithmetic.add(left, right)

    def create_sub(self, left: Block, right: Block) -> Block:
        return arithmetic.subtract(left, right)

    def create_mul(self, left: Block, right: Block) -> Block:
        return arithmetic.multiply(left, right)

    def create_idiv(self, left: Block, right: Block) -> Block:
        return arithmetic.divide(left, right)

    def create_srem(self, left: Block, right: Block) -> Block:
        return arithmetic.remainder(left, right)

    create_urem = create_srem

    def create_and(self, left: Block, right: Block) -> Block:
        return arithmetic.both(left, right)

    def create_shl(self, left: Block, right: Block) -> Block:
        return arithmetic.shift_left(left, right)

    def create_lshr(self, left: Block, right: Block) -> Block:
        return arithmetic.shift_right(left, right, arithmetic=False)

    def create_ashr(self, left: Block, right: Block) -> Block:
        return arithmetic.shift_right(left, right, arithmetic=True)

    def create_umulhi(self, left: Block, right: Block) -> Block:
        return arithmetic.high_product(left, right)

    def create_select(self, condition: Block, left: Block, right: Block) -> Block:
        if isinstance(left, Pointer) and isinstance(right, Pointer):
            return arithmetic.choose_pointer(condition, left, right)
        return arithmetic.choose(condition, left, right)

    def create_minnumf(self, left: Block, right: Block) -> Block:
        return self.binary_op(left, right, np.fmin)

    def create_maxnumf(self, left: Block, right: Block) -> Block:
        return self.binary_op(left, right, np.fmax)

    def create_clampf(self, block: Block, low: Block, high: Block, propagate: Any) -> Block:
        return mathematics.clamp(block, low, high, propagate == ir.PROPAGATE_NAN.ALL)

    def create_fma(self, x: Block, y: Block, z: Block) -> Block:
        return mathematics.fused_multiply_add(self.launching, x, y, z)

    def create_fabs(self, block: Block) -> Block:
        return self.unary_op(block, np.abs)

    def create_fneg(self, block: Block) -> Block:
        return self.unary_op(block, np.negative)

    def create_erf(self, block: Block) -> Block:
        return self.unary_op(block, mathematics.erf)

    def create_rsqrt(self, block: Block) -> Block:
        return self.unary_op(block, mathematics.rsqrt)

    def create_dot(self, a: Block, b: Block, accumulator: Block, precision: Any, *_: Any) -> Block:
        self.launching.barrier()  # when compiled, its operands go through shared memory
        allowed = str(precision).endswith(".TF32")
        rounded = truncate_to_tf32 if self.launching.batch.options.tf32 and allowed else None
        if rounded is not None and a.dtype.scalar.name == "fp32":
            self.launching.tf32 = True
        return products.dot(self.launching, a, b, accumulator, rounded)

    def create_dot_scaled(
        self, a: Block, a_scale: Any, _a: Any, b: Block, b_scale: Any, _b: Any, *rest: Any
    ) -> Block:
        _fast_math, a_along_k, b_along_k, accumulator = rest
        scales, along_k = (a_scale, b_scale), (a_along_k, b_along_k)
        return products.dot_scaled(self.launching, (a, b), scales, along_k, accumulator)

    def create_make_range(self, _: Any, start: int, stop: int) -> Block:
        line = np.arange(start, stop, dtype=np.int64)[None]
        return Block(None, tl.int32, (stop - start,), terms=(line,))

    def create_histogram(self, block: Block, bins: int, mask: Block | None) -> Block:
        return shapes.histogram(block, bins, mask)

    def create_inline_asm(self, *_: Any) -> Any:
        raise NotInterpreted("inline assembly runs on a GPU only, not in the interpreter")

    def create_extern_elementwise(self, library: str, _: str, symbol: str, *__: Any) -> Any:
        raise NotInterpreted(f"{symbol} of {library} runs on a GPU only, not in the interpreter")

    # -- shapes ----------------------------------------------------------------------------------

    def create_addptr(self, pointer: Pointer, offset: Block) -> Pointer:
        return arithmetic.offset_pointer(pointer, offset)

    def create_splat(self, block_type: Any, block: Block) -> Block:
        return shapes.splat(block, tuple(block_type.shape))

    def create_unsplat(self, block: Block) -> Block:
        return shapes.unsplat(block)

    def create_expand_dims(self, block: Block, axis: int) -> Block:
        return shapes.expand(block, axis)

    def create_broadcast(self, block: Block, shape: Sequence[int]) -> Block:
        return shapes.broadcast(block, tuple(shape))

    def create_reshape(self, block: Block, shape: Sequence[int], *_: Any) -> Block:
        return shapes.reshape(block, tuple(shape))

    def create_trans(self, block: Block, order: Sequence[int]) -> Block:
        return shapes.permute(block, list(order))

    def create_cat(self, left: Block, right: Block) -> Block:
        return shapes.concatenate(left, right)

    def create_join(self, left: Block, right: Block) -> Block:
        return shapes.join(left, right)

    def create_split(self, block: Block) -> tuple[Block, Block]:
        return shapes.split(block)

    def create_gather(self, source: Block, index: Block, axis: int) -> Block:
        self.launching.barrier()
        self._check_gather(source, index, axis)
        return shapes.gather(source, index, axis)

    def _check_gather(self, source: Block, index: Block, axis: int) -> None:
        """Raise a fault if a lane's index is outside the block; a mask cannot disable a lane."""
        length = source.shape[axis]
        outside = (index.data < 0) | (index.data >= length)
        if self.launching.batch.active is not None and outside.any():
            alive = self.launching.batch.active.reshape((-1,) + (1,) * len(index.shape))
            outside = outside & alive
        if outside.any():
            raise self.launching.reporter.gather(index, outside, length, self.launching.batch)

    # -- descriptors and block pointers ----------------------------------------------------------

    _padding: ClassVar[dict[Any, str]] = {
        ir.PADDING_OPTION.PAD_ZERO: "zero",
        ir.PADDING_OPTION.PAD_NAN: "nan",
    }

    def create_make_tensor_descriptor(
        self,
        base: Pointer,
        shape: Sequence[Block],
        strides: Sequence[Block],
        block_shape: Sequence[int],
        _signed: bool,
        padding: Any = "zero",
    ) -> Box:
        box = Box(base, shape, strides, block_shape, self._padding.get(padding, "zero"))
        box.validate(self.launching.batch.active)
        return box

    def create_descriptor_load(self, box: Box, offsets: Sequence[Block], *_: Any) -> Block:
        pointer, mask = box.lanes(offsets)
        found = self.launching.memory.load(pointer, mask, box.other())
        if box.round_f32_to_tf32 and found.dtype.scalar.name == "fp32":
            return Block(round_to_tf32(found.data), found.dtype, found.shape)
        return found

    def create_descriptor_store(self, box: Box, value: Block, offsets: Sequence[Block]) -> None:
        pointer, mask = box.lanes(offsets)
        self.launching.memory.store(pointer, value, mask)

    def create_descriptor_gather(self, box: Box, rows: Block, column: Block, _: Any) -> Block:
        pointer, mask = rows_of(box, rows, column)
        zero = Block(
            scalar(0, box.base.get_element_ty()).data.reshape(1, 1, 1),
            box.base.get_element_ty(),
            pointer.shape,
        )
        return self.launching.memory.load(pointer, mask, zero)

    def create_descriptor_scatter(self, box: Box, value: Block, rows: Block, column: Block) -> None:
        pointer, mask = rows_of(box, rows, column)
        self.launching.memory.store(pointer, value, mask)

    def create_descriptor_reduce(
        self, kind: Any, box: Box, value: Block, offsets: Sequence[Block]
    ) -> None:
        pointer, mask = box.lanes(offsets)
        name = str(kind).rsplit(".", 1)[-1].split(":")[0].strip("<> ")
        relaxed = Ordering(acquires=False, releases=False)
        memory = self.launching.memory
        atomics.read_modify_write(memory, name, pointer, value, mask, relaxed)

    def create_make_block_ptr(
        self,
        base: Pointer,
        shape: Sequence[Block],
        strides: Sequence[Block],
        offsets: Sequence[Block],
        block_shape: Sequence[int],
        _order: Any,
    ) -> Box:
        return Box(base, shape, strides, block_shape, None, offsets)

    def create_advance(self, box: Box, offsets: Sequence[Block]) -> Box:
        return box.advanced(offsets)

    def create_tensor_pointer_load(
        self, box: Box, boundary_check: Sequence[int], padding: Any, *_: Any
    ) -> Block:
        pointer, mask = box.lanes(box.offsets, tuple(boundary_check))
        padded = Box(box.base, box.shape, box.strides, box.block_shape, self._padding.get(padding))
        return self.launching.memory.load(pointer, mask, padded.other())

    def create_tensor_pointer_store(
        self, box: Box, value: Block, boundary_check: Sequence[int], *_: Any
    ) -> None:
        pointer, mask = box.lanes(box.offsets, tuple(boundary_check))
        self.launching.memory.store(pointer, value, mask)


add_tables(GridBuilder)
