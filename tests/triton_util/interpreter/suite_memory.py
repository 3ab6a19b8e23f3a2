# ruff: noqa: PT017, PT018
"""No launch reads or writes outside the elements of its arguments; 200 of 200 are stopped."""

import random

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret

GUARD = 4096


@triton.jit
def shifted_kernel(
    x_ptr, output_ptr, n, load_shift, store_shift, load_limit, store_limit,
    BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets + load_shift, mask=offsets < load_limit, other=0)
    tl.store(output_ptr + offsets + store_shift, x, mask=offsets < store_limit)


@triton.jit
def rows_kernel(
    x_ptr, output_ptr, m, n, stride_x, stride_o, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    mask = (offs_m[:, None] < m) & (offs_n[None, :] < n)
    x = tl.load(x_ptr + offs_m[:, None] * stride_x + offs_n[None, :], mask=mask, other=0)
    tl.store(output_ptr + offs_m[:, None] * stride_o + offs_n[None, :], x, mask=mask)


@triton.jit
def atomic_kernel(output_ptr, shift, limit, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.atomic_add(output_ptr + offsets + shift, 1, mask=offsets < limit)


@triton.jit
def index_kernel(index_ptr, x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    index = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
    tl.store(output_ptr + offsets, tl.load(x_ptr + index, mask=offsets < n), mask=offsets < n)


@triton.jit
def scatter_kernel(index_ptr, x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    index = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
    tl.store(output_ptr + index, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


class Arena:
    """Tensors side by side in one guarded buffer, so that a neighbour is the next byte."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.buffer = torch.randint(
            -99, 99, (1 << 16,), generator=self.generator, dtype=torch.int32
        )
        self.next = GUARD

    def tensor(self, *shape):
        count = torch.Size(shape).numel()
        made = self.buffer[self.next : self.next + count].view(*shape)
        self.next += count
        return made

    def guards_unchanged(self, action):
        before = self.buffer.clone()
        action()
        assert torch.equal(self.buffer[:GUARD], before[:GUARD])
        assert torch.equal(self.buffer[self.next :], before[self.next :])

    def unchanged(self, action):
        before = self.buffer.clone()
        action()
        assert torch.equal(self.buffer, before)


def bad_launch(seed):
    """(arena, launch, expected code) of one of ten kinds of mistake, with random sizes."""
    choose = random.Random(seed)
    arena = Arena(seed)
    block = choose.choice([8, 16, 64, 128])
    n = choose.randrange(2, 40) * 7 + 1
    grid = (triton.cdiv(n, block),)
    x, output = arena.tensor(n), arena.tensor(n)
    rows, columns = choose.randrange(3, 20), choose.randrange(5, 30)
    wide = arena.tensor(rows, columns + choose.randrange(3, 9))
    index = arena.tensor(n)
    index.copy_(torch.randint(0, n, (n,), generator=arena.generator))
    past, over = choose.randrange(1, 50), n + choose.randrange(1, 7)
    padded = triton.next_power_of_2(columns)

    def rows_launch(source, target, stride_x, stride_o, m=rows, n=columns):
        rows_kernel[(triton.cdiv(rows, 4),)](
            source, target, m, n, stride_x, stride_o, BLOCK_M=4, BLOCK_N=padded
        )

    view, target = wide[:, :columns], arena.tensor(rows, columns)
    stride = wide.stride(0)
    kinds = {
        "load past the end": (
            "out-of-bounds-load",
            lambda: shifted_kernel[grid](x, output, n, 0, 0, over, n, BLOCK_SIZE=block),
            n % block != 0,
        ),
        "load from a neighbour": (
            "out-of-bounds-load",
            lambda: shifted_kernel[grid](x, output, n, past, 0, n, n, BLOCK_SIZE=block),
            True,
        ),
        "load before the start": (
            "out-of-bounds-load",
            lambda: shifted_kernel[grid](x, output, n, -past, 0, n, n, BLOCK_SIZE=block),
            True,
        ),
        "store past the end": (
            "out-of-bounds-store",
            lambda: shifted_kernel[grid](x, output, n, 0, 0, n, over, BLOCK_SIZE=block),
            n % block != 0,
        ),
        "store into a neighbour": (
            "out-of-bounds-store",
            lambda: shifted_kernel[grid](x, x, n, 0, past, n, n, BLOCK_SIZE=block),
            True,
        ),
        "store before the start": (
            "out-of-bounds-store",
            lambda: shifted_kernel[grid](x, output, n, 0, -past, n, n, BLOCK_SIZE=block),
            True,
        ),
        "atomic outside": (
            "out-of-bounds-atomic",
            lambda: atomic_kernel[grid](output, choose.choice([past, -past]), n, BLOCK_SIZE=block),
            True,
        ),
        "store into the gap of a view": (
            "gap-store",
            lambda: rows_launch(target, view, columns, stride - 1),
            rows > 2,
        ),
        "indices outside": (
            "out-of-bounds-load",
            lambda: index_kernel[grid](index, x, output, n, BLOCK_SIZE=block),
            True,
        ),
        "scatter outside": (
            "out-of-bounds-store",
            lambda: scatter_kernel[grid](index, x, output, n, BLOCK_SIZE=block),
            True,
        ),
    }
    kind = list(kinds)[seed % len(kinds)]
    if kind in ("indices outside", "scatter outside"):
        index[choose.randrange(n)] = choose.choice([n, n + past, -1, -past, 1_000_000_000])
    code, launch, is_bad = kinds[kind]
    return arena, code, launch, is_bad


def test_200_of_200_bad_launches_are_stopped_before_any_write():
    stopped = tried = 0
    seed = 0
    while tried < 200:
        arena, code, launch, is_bad = bad_launch(seed)
        seed += 1
        if not is_bad:
            continue
        tried += 1
        whole_grid = tried % 2 == 0
        with interpret(EngineOptions(schedule="grid" if whole_grid else "serial")):

            def attempt(code=code, launch=launch):
                nonlocal stopped
                try:
                    launch()
                except KernelFault as fault:
                    assert fault.fault.code in (code, code.replace("gap", "out-of-bounds"))
                    assert fault.fault.line > 0 and "tl." in fault.fault.source
                    stopped += 1

            if whole_grid:
                arena.unchanged(attempt)
            else:
                # One by one: programs before the bad one have stored, inside their own tensors.
                arena.guards_unchanged(attempt)
    assert stopped == 200


def test_the_message_says_everything():
    x, output = torch.zeros(100), torch.zeros(100)
    with interpret() as run, pytest.raises(KernelFault) as caught:
        shifted_kernel[(2,)](x, output, 100, 0, 0, 100, 128, BLOCK_SIZE=64)
    fault = caught.value.fault
    assert fault.code == "out-of-bounds-store"
    assert fault.operation == "tl.store"
    assert fault.source.startswith("tl.store(output_ptr + offsets + store_shift")
    assert fault.kernel == "shifted_kernel"
    assert fault.filename == __file__
    assert fault.program_id == (1, 0, 0)
    assert (fault.lanes_outside, fault.lanes_active) == (28, 64)
    assert (fault.argument, fault.shape, fault.strides) == ("output_ptr", (100,), (1,))
    assert (fault.first_offset, fault.offset_range) == (100, (100, 127))
    assert "mask" in fault.cause
    assert len(run.launches) == 1


def test_a_read_of_the_gap_of_a_view_is_a_finding_and_the_run_goes_on():
    wide = torch.arange(40.0).reshape(4, 10)
    view, output = wide[:, :6], torch.zeros(4, 6)
    with interpret() as run:
        rows_kernel[(1,)](view, output, 4, 6, 6, 6, BLOCK_M=4, BLOCK_N=8)
    assert [fault.code for fault in run.faults] == ["gap-read"]
    assert run.faults[0].strides == (10, 1)
    assert "stride" in run.faults[0].cause
    assert torch.equal(output.flatten(), wide.flatten()[:24])


def test_a_transposed_and_an_expanded_view_are_not_gaps():
    output = torch.zeros(6, 4)
    with interpret() as run:
        rows_kernel[(2,)](torch.zeros(1, 4).expand(6, 4), output, 6, 4, 0, 4, BLOCK_M=4, BLOCK_N=4)
    assert run.faults == []


def test_views_far_apart_in_a_sparse_storage_are_never_scanned(tmp_path):
    rows, stride = 3, 2**31 + 11
    storage = torch.from_file(
        str(tmp_path / "sparse"), shared=True, size=2 * stride + 64, dtype=torch.int8
    )
    view, output = (
        storage.as_strided((rows, 16), (stride, 1)),
        torch.zeros(rows, 16, dtype=torch.int8),
    )
    view.copy_(torch.arange(48, dtype=torch.int8).reshape(3, 16))
    with interpret() as run:
        rows_kernel[(1,)](view, output, rows, 16, stride, 16, BLOCK_M=4, BLOCK_N=16)
    assert torch.equal(output, view)
    assert run.faults == []
    with interpret() as run:
        rows_kernel[(1,)](output, view, rows, 16, 16, stride, BLOCK_M=4, BLOCK_N=16)
        assert not run.never_stored(view).any()
        with pytest.raises(KernelFault) as caught:
            rows_kernel[(1,)](output, view, rows, 16, 16, stride - 1, BLOCK_M=4, BLOCK_N=16)
    assert caught.value.fault.code == "gap-store"


@triton.jit
def int32_rows_kernel(x_ptr, output_ptr, m, stride, BLOCK_M: tl.constexpr, WIDE: tl.constexpr):
    offs_m = tl.arange(0, BLOCK_M)
    rows = offs_m.to(tl.int64) if WIDE else offs_m
    tl.store(
        output_ptr + offs_m,
        tl.load(x_ptr + rows * stride, mask=offs_m < m, other=0),
        mask=offs_m < m,
    )


def test_int32_offsets_past_2_to_the_31_are_found_only_where_they_are_used(tmp_path):
    stride = 2**30
    storage = torch.from_file(
        str(tmp_path / "sparse"), shared=True, size=2 * stride + 1, dtype=torch.int8
    )
    output = torch.zeros(4, dtype=torch.int8)
    two = storage.as_strided((2,), (stride,))
    three = storage.as_strided((3,), (stride,))
    three.copy_(torch.tensor([5, 6, 7], dtype=torch.int8))
    with interpret() as run:
        int32_rows_kernel[(1,)](two, output, 2, stride, BLOCK_M=4, WIDE=False)
        int32_rows_kernel[(1,)](three, output, 3, stride, BLOCK_M=4, WIDE=True)
        assert run.faults == []
        assert output.tolist() == [5, 6, 7, 0]
        with pytest.raises(KernelFault) as caught:
            int32_rows_kernel[(1,)](three, output, 3, stride, BLOCK_M=4, WIDE=False)
    assert caught.value.fault.code == "offset-overflow"
    assert "int64" in caught.value.fault.cause


@triton.jit
def pointer_table_kernel(table_ptr, output_ptr, shift, BLOCK_SIZE: tl.constexpr):
    address = tl.load(table_ptr + tl.program_id(0))
    x_ptr = address.to(tl.pointer_type(tl.float32))
    x = tl.load(x_ptr + tl.arange(0, BLOCK_SIZE) + shift)
    tl.store(output_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE), x)


@triton.jit
def keep_alive_kernel(table_ptr, x_ptr, y_ptr, output_ptr, shift, BLOCK_SIZE: tl.constexpr):
    address = tl.load(table_ptr + tl.program_id(0))
    x = tl.load(address.to(tl.pointer_type(tl.float32)) + tl.arange(0, BLOCK_SIZE) + shift)
    tl.store(output_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE), x)


def test_pointers_made_from_integers_must_point_into_an_argument():
    x, y, output = torch.arange(16.0), torch.arange(16.0) * 2, torch.zeros(2, 16)
    table = torch.tensor([x.data_ptr(), y.data_ptr()])
    with interpret():
        keep_alive_kernel[(2,)](table, x, y, output, 0, BLOCK_SIZE=16)
        assert torch.equal(output, torch.stack([x, y]))
        with pytest.raises(KernelFault) as caught:
            pointer_table_kernel[(2,)](table, output, 0, BLOCK_SIZE=16)
        assert caught.value.fault.code == "out-of-bounds-load"
        with pytest.raises(KernelFault):
            keep_alive_kernel[(2,)](table, x, y, output, 1 << 20, BLOCK_SIZE=16)


def test_empty_tensors_and_empty_grids():
    empty = torch.empty(0)
    with interpret() as run:
        shifted_kernel[(0,)](empty, empty, 0, 0, 0, 0, 0, BLOCK_SIZE=16)
        shifted_kernel[(1,)](empty, empty, 0, 0, 0, 0, 0, BLOCK_SIZE=16)
        assert run.never_stored(empty).shape == (0,)
        with pytest.raises(KernelFault) as caught:
            shifted_kernel[(1,)](empty, empty, 0, 0, 0, 0, 1, BLOCK_SIZE=16)
    assert "empty" in caught.value.fault.cause


def test_without_checks_the_process_still_survives():
    x, output = torch.zeros(100), torch.zeros(100)
    with interpret(EngineOptions(check_memory=False)), pytest.raises(KernelFault):
        shifted_kernel[(2,)](x, output, 100, 0, 1 << 30, 100, 128, BLOCK_SIZE=64)
