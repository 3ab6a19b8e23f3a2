# ruff: noqa: PT018, SIM108
"""Values as on a GPU: number formats, poisoned lanes, assertions, NaNs, operators."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    1e-40,
    6e-8,
    65504.0,
    65520.0,
    3.4e38,
    float("inf"),
    float("-inf"),
    float("nan"),
]


@triton.jit
def binary_kernel(x_ptr, y_ptr, output_ptr, n, OPERATION: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    y = tl.load(y_ptr + offsets, mask=mask, other=0)
    if OPERATION == "add":
        z = x + y
    elif OPERATION == "sub":
        z = x - y
    elif OPERATION == "mul":
        z = x * y
    else:
        z = x / y
    tl.store(output_ptr + offsets, z, mask=mask)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
def test_each_operation_rounds_to_nearest_even_in_its_own_format(dtype, operation):
    generator = torch.Generator().manual_seed(3)
    x = torch.cat([torch.randn(2000, generator=generator), torch.tensor(SPECIAL)]).to(dtype)
    y = torch.cat([torch.randn(2000, generator=generator) * 3, torch.tensor(SPECIAL).flip(0)]).to(
        dtype
    )
    output = torch.empty_like(x)
    with interpret() as run:
        binary_kernel[(32,)](x, y, output, x.numel(), OPERATION=operation, BLOCK_SIZE=64)
    exact = getattr(torch, operation)(x.double(), y.double()).to(dtype)
    torch.testing.assert_close(output, exact, rtol=0, atol=0, equal_nan=True)
    assert run.faults == []


@triton.jit
def cast_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets).to(output_ptr.dtype.element_ty))


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float8_e5m2, torch.float8_e4m3fn, torch.float64]
)
def test_casts_round_as_torch_does(dtype):
    finite = torch.randn(1024, generator=torch.Generator().manual_seed(5)) * 10
    output, back = torch.empty(1024, dtype=dtype), torch.empty(1024)
    with interpret():
        cast_kernel[(1,)](finite, output, BLOCK_SIZE=1024)
        cast_kernel[(1,)](output, back, BLOCK_SIZE=1024)
    assert torch.equal(output.float(), finite.to(dtype).float())
    assert torch.equal(back, output.float())


def test_floats_become_integers_by_truncation_and_saturation():
    x = torch.tensor([1.9, -1.9, 3e9, -3e9, float("nan"), 0.5, 2**31 - 256, -0.5])
    output = torch.empty(8, dtype=torch.int32)
    with interpret():
        cast_kernel[(1,)](x, output, BLOCK_SIZE=8)
    assert output.tolist() == [1, -1, 2**31 - 1, -(2**31), 0, 0, 2**31 - 256, 0]


@triton.jit
def bf16_dot_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    cells = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    c = tl.dot(tl.load(a_ptr + cells), tl.load(b_ptr + cells))
    tl.store(c_ptr + cells, c)


def test_bf16_dot_sums_and_comparisons():
    a, b = (
        torch.randn(32, 32, generator=torch.Generator().manual_seed(s)).bfloat16() for s in (1, 2)
    )
    c = torch.empty(32, 32)
    with interpret():
        bf16_dot_kernel[(1,)](a, b, c, N=32)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-5, atol=1e-5)


@triton.jit
def bf16_reduce_kernel(x_ptr, output_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(output_ptr, tl.sum(x, axis=0).to(tl.float32))
    tl.store(output_ptr + 1, tl.max(x, axis=0).to(tl.float32))
    tl.store(output_ptr + 2, tl.sum((x > 0).to(tl.int32), axis=0).to(tl.float32))
    tl.store(output_ptr + 3, tl.sum(x.to(tl.float32), axis=0))


def test_bf16_reductions():
    x, output = (
        torch.randn(256, generator=torch.Generator().manual_seed(1)).bfloat16(),
        torch.empty(4),
    )
    with interpret():
        bf16_reduce_kernel[(1,)](x, output, N=256)
    assert output[1] == x.max().float()
    assert output[2] == (x > 0).sum()
    torch.testing.assert_close(output[3], x.float().sum())
    assert abs(output[0] - x.float().sum()) <= 0.05 * x.float().abs().sum().sqrt() + 0.2
    assert output[0] == output[0].bfloat16().float()


@pytest.mark.parametrize("tf32", [False, True])
def test_tf32_is_emulated_on_request(tf32):
    a, b = (torch.randn(32, 32, generator=torch.Generator().manual_seed(s)) for s in (1, 2))
    c = torch.empty(32, 32)
    with interpret(EngineOptions(tf32=tf32)):
        bf16_dot_kernel[(1,)](a, b, c, N=32)
    error = (c.double() - a.double() @ b.double()).abs().max()
    assert (1e-4 < error < 2e-2) if tf32 else error < 1e-4


@triton.jit
def masked_kernel(x_ptr, output_ptr, n, MODE: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if MODE == "sum":
        tl.store(output_ptr, tl.sum(x, axis=0))
    elif MODE == "max":
        tl.store(output_ptr, tl.max(x, axis=0))
    elif MODE == "exp":
        tl.store(output_ptr, tl.sum(tl.exp(x.to(tl.float32)), axis=0))
    elif MODE == "sin of log":
        tl.store(output_ptr, tl.sum(tl.sin(tl.log(tl.abs(x.to(tl.float32)) + 1)), axis=0))
    elif MODE == "dropped":
        tl.store(output_ptr, tl.sum(tl.where(offsets < n, x, 0.0), axis=0))
    else:
        tl.store(output_ptr + offsets, x, mask=offsets < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("mode", "faulty"),
    [
        ("sum", True),
        ("max", True),
        ("exp", True),
        ("sin of log", True),
        ("dropped", False),
        ("copied", False),
    ],
)
def test_values_from_lanes_that_were_not_loaded_are_found(mode, faulty, dtype):
    x, output = torch.randn(50).to(dtype), torch.zeros(64, dtype=dtype)
    with interpret() as run:
        masked_kernel[(1,)](x, output, 50, MODE=mode, BLOCK_SIZE=64)
    assert [fault.code for fault in run.faults] == (["masked-lanes-used"] if faulty else [])
    assert bool(output[0].isnan()) is faulty
    with interpret(EngineOptions(poison_masked=False)) as run:
        masked_kernel[(1,)](x, output, 50, MODE=mode, BLOCK_SIZE=64)
    assert run.faults == [] and not output[0].isnan()


@triton.jit
def extremes_kernel(x_ptr, output_ptr, index_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(output_ptr, tl.max(x, axis=0))
    tl.store(output_ptr + 1, tl.min(x, axis=0))
    tl.store(output_ptr + 2, tl.max(tl.maximum(x, -1.0), axis=0))
    tl.store(index_ptr, tl.argmax(x, axis=0))


def test_max_passes_over_nans_of_the_data_as_a_gpu_does():
    x = torch.tensor([1.0, float("nan"), 7.0, -3.0])
    output, index = torch.zeros(3), torch.zeros(1, dtype=torch.int32)
    with interpret() as run:
        extremes_kernel[(1,)](x, output, index, N=4)
    assert output.tolist() == [7.0, -3.0, 7.0]
    assert index.item() == 2
    assert run.faults == []


@triton.jit
def assert_kernel(x_ptr, limit, BLOCK_SIZE: tl.constexpr, PYTHON: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))
    if PYTHON:
        assert tl.max(x, axis=0) < limit, "too large"
    else:
        tl.device_assert(x < limit, "too large")


@pytest.mark.parametrize("schedule", ["grid", "serial"])
@pytest.mark.parametrize("python", [True, False])
def test_device_assertions_stop_the_kernel(schedule, python):
    x = torch.arange(64)
    with interpret(EngineOptions(schedule=schedule)):
        assert_kernel[(4,)](x, 64, BLOCK_SIZE=16, PYTHON=python)
        with pytest.raises(KernelFault) as caught:
            assert_kernel[(4,)](x, 40, BLOCK_SIZE=16, PYTHON=python)
    assert caught.value.fault.code == "device-assert"
    assert caught.value.fault.program_id == (2, 0, 0)
    assert "too large" in caught.value.fault.message


@triton.jit
def operators_kernel(x_ptr, output_ptr, low, high, N: tl.constexpr, CHAIN: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    if CHAIN:
        inside = low < x < high
    else:
        inside = (x > low) and (x < high)
    outside = not (low < x and x < high)
    tl.store(output_ptr + offsets, inside.to(tl.int32) + 2 * outside.to(tl.int32))
    tl.store(output_ptr + N + offsets, ((x < low) or (x > high)).to(tl.int32))


@pytest.mark.parametrize("chain", [True, False])
def test_and_or_not_and_chains_act_lane_by_lane_as_compiled(chain):
    x, output = torch.linspace(-2, 2, 16), torch.zeros(2, 16, dtype=torch.int32)
    with interpret():
        operators_kernel[(1,)](x, output, -1.0, 1.0, N=16, CHAIN=chain)
    inside = (x > -1) & (x < 1)
    assert torch.equal(output[0], torch.where(inside, 1, 2).int())
    assert torch.equal(output[1], ((x < -1) | (x > 1)).int())


@triton.jit
def hash_kernel(output_ptr, N: tl.constexpr):
    x = tl.arange(0, N) + 2147483640
    x = x * 1664525 + 1013904223
    x = x * x
    tl.store(output_ptr + tl.arange(0, N), x)
    tl.store(output_ptr + N + tl.arange(0, N), (x < 0).to(tl.int32))


def test_int32_arithmetic_wraps_without_complaint_where_it_is_no_offset():
    output = torch.zeros(2, 16, dtype=torch.int32)
    with interpret() as run:
        hash_kernel[(1,)](output, N=16)
    x = np.arange(16, dtype=np.int32)
    with np.errstate(over="ignore"):
        x = (x + np.int32(2147483640)) * np.int32(1664525) + np.int32(1013904223)
        x = x * x
    assert output[0].tolist() == x.tolist()
    assert output[1].tolist() == (x < 0).astype(int).tolist()
    assert run.faults == []


@triton.jit
def scalar_kernel(output_ptr, scale, count, flag):
    tl.store(output_ptr, scale * 3.0)
    tl.store(output_ptr + 1, count * 0.5)
    if flag:
        tl.store(output_ptr + 2, 1.0)


def test_float_arguments_are_float32_as_on_a_gpu():
    output = torch.zeros(3, dtype=torch.float64)
    with interpret():
        scalar_kernel[(1,)](output, 0.1, 3, True)
    assert output[0].item() == float(np.float32(0.1) * np.float32(3.0))
    assert output.tolist()[1:] == [1.5, 1.0]


def test_everything_is_put_back_afterwards():
    from triton.runtime import interpreter as stock

    def state():
        return (
            type(stock.interpreter_builder),
            stock.interpreter_builder.options,
            stock.ReduceOps,
            stock.ScanOps,
            stock._patch_lang_tensor,
            stock.InterpretedFunction.run,
            stock.InterpretedFunction.__call__,
            tl.load,
            tl.sum,
            tl.tensor.__bool__ if hasattr(tl.tensor, "__bool__") else None,
        )

    before = state()
    with pytest.raises(KernelFault), interpret():
        scalar_kernel[(1,)](torch.zeros(0), 0.1, 3, True)
    with interpret():
        scalar_kernel[(1,)](torch.zeros(3), 0.1, 3, True)
    assert state() == before


def test_a_run_inside_a_run_and_a_run_after_a_stock_run():
    output = torch.zeros(3)
    scalar_kernel[(1,)](output, 0.5, 3, 1)
    with interpret() as outer:
        with interpret(EngineOptions(schedule="serial")) as inner:
            scalar_kernel[(1,)](output, 0.5, 3, 1)
        scalar_kernel[(1,)](output, 0.25, 3, 1)
    assert (len(outer.launches), len(inner.launches)) == (1, 1)
    assert output.tolist() == [0.75, 1.5, 1.0]


def test_kernels_made_from_source_text_have_lines(tmp_path):
    import linecache

    source = (
        "import triton\nimport triton.language as tl\nLIMIT: tl.constexpr = tl.constexpr(4)\n"
        "@triton.jit\ndef k(x_ptr,\n      n, B: tl.constexpr):\n    offs = tl.arange(0, B)\n"
        "    if n > LIMIT:\n        tl.store(x_ptr + offs,\n                 offs * 2)\n"
    )
    name = "<submission 1>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"__name__": "submission"}
    exec(compile(source, name, "exec"), scope)
    x = torch.zeros(8, dtype=torch.int32)
    with interpret():
        scope["k"][(1,)](x, 8, B=8)
        assert x.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
        with pytest.raises(KernelFault) as caught:
            scope["k"][(1,)](x[:7], 8, B=8)
    assert caught.value.fault.line in (9, 10)
    assert caught.value.fault.source.startswith("tl.store(x_ptr")
    assert "_tw" not in scope and "partial" not in scope


@triton.jit
def crossing_masks_kernel(x_ptr, output_ptr, SIZE: tl.constexpr, LOW: tl.constexpr):
    a = tl.arange(0, SIZE)[:, None, None]
    b = tl.arange(0, SIZE)[None, :, None]
    c = tl.arange(0, SIZE)[None, None, :]
    mask = (a + b < 1) & (b + c > LOW)
    offsets = (a * SIZE + b) * SIZE + c
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(output_ptr + offsets, x, mask=mask)
    tl.store(output_ptr + offsets, x + x, mask=mask)


@pytest.mark.parametrize("low", [0, 2, 5])
def test_masks_that_leave_no_lane_together_though_each_alone_does(low):
    x, output = torch.arange(64, dtype=torch.float32) + 1, torch.zeros(64)
    with interpret() as run:
        crossing_masks_kernel[(1,)](x, output, SIZE=4, LOW=low)
    assert run.faults == []
    # only a = b = 0 passes the first mask, and c > low the second
    expected = torch.where((torch.arange(64) < 4) & (torch.arange(64) > low), 2 * x, 0.0)
    assert torch.equal(output, expected)
