"""The engine against a real GPU: every case of the zoo and of the honest values, there and here.

    python tests/triton_util/interpreter/compare_gpu.py gpu FILE
    TRITON_INTERPRET=1 python tests/triton_util/interpreter/compare_gpu.py engine FILE

The first writes what the GPU computes, the second compares with what the engine computes and exits
1 where they differ by more than rounding.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import torch
import triton
import triton.language as tl

from tests.triton_util.interpreter.zoo import CASES, case, randint, randn

# Differences allowed, relative to the largest element: functions, divisions and sums of 32-bit
# floats are approximate on a GPU, and contracted into fused operations.
TOLERANCE = 2e-6
LOOSE = {
    "functions": 5e-6,
    "matmul_fp16": 1e-3,
    "bf16_operations": 0.0,
    "half_operations": 0.0,
    "float8_casts": 0.0,
    "half_divisions": 0.0,
    "sums_in_bf16": 2e-2,  # the tree has another shape there
}


@triton.jit
def operations_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x, y = (
        tl.load(x_ptr + offsets, mask=mask, other=1),
        tl.load(y_ptr + offsets, mask=mask, other=1),
    )
    tl.store(output_ptr + offsets, x + y, mask=mask)
    tl.store(output_ptr + n + offsets, x - y, mask=mask)
    tl.store(output_ptr + 2 * n + offsets, x * y, mask=mask)
    tl.store(output_ptr + 3 * n + offsets, tl.maximum(x, y), mask=mask)
    tl.store(output_ptr + 4 * n + offsets, tl.where(x < y, x, -y), mask=mask)


def operations(dtype):
    special = torch.tensor([0.0, -0.0, 1e-30, 6e-8, 65504.0, 1e38, float("inf"), float("-inf")])
    x = torch.cat([randn(500), special, special]).to(dtype)
    y = torch.cat([randn(500, 1)[:, 0] * 3, special.flip(0), special]).to(dtype)
    output = torch.zeros(5, x.numel(), dtype=dtype)
    operations_kernel[(triton.cdiv(x.numel(), 64),)](x, y, output, x.numel(), BLOCK_SIZE=64)
    return (output,)


@case
def bf16_operations():
    return operations(torch.bfloat16)


@case
def half_operations():
    return operations(torch.float16)


@triton.jit
def extremes_kernel(x_ptr, output_ptr, index_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(output_ptr, tl.max(x, axis=0))
    tl.store(output_ptr + 1, tl.min(x, axis=0))
    tl.store(output_ptr + 2, tl.max(tl.maximum(x, -1.0), axis=0))
    tl.store(index_ptr, tl.argmax(tl.where(x == x, x, -9.0), axis=0))


@case
def nan_extremes():
    x = randn(64)
    x[5] = x[40] = float("nan")
    output, index = torch.zeros(3), torch.zeros(1, dtype=torch.int32)
    extremes_kernel[(1,)](x, output, index, N=64)
    return output, index


@triton.jit
def to_integers_kernel(x_ptr, output_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(output_ptr + tl.arange(0, N), x.to(tl.int32))


@case
def floats_to_integers():
    x = torch.tensor([1.9, -1.9, 3e9, -3e9, float("nan"), 0.5, 2.0**31 - 256, float("inf")])
    output = torch.zeros(8, dtype=torch.int32)
    to_integers_kernel[(1,)](x, output, N=8)
    return (output,)


@triton.jit
def float8_kernel(x_ptr, wide_ptr, narrow_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(wide_ptr + tl.arange(0, N), x.to(tl.float8e5).to(tl.float32))
    tl.store(narrow_ptr + tl.arange(0, N), x.to(tl.float8e4nv).to(tl.float32))


@case
def float8_casts():
    x = torch.cat([randn(100) * 100, randn(100) * 1e-2, torch.linspace(-600, 600, 56)])
    wide, narrow = torch.zeros(256), torch.zeros(256)
    float8_kernel[(1,)](x, wide, narrow, N=256)
    return wide, narrow


@triton.jit
def half_divisions_kernel(x_ptr, y_ptr, output_ptr, N: tl.constexpr):
    x, y = tl.load(x_ptr + tl.arange(0, N)), tl.load(y_ptr + tl.arange(0, N))
    tl.store(output_ptr + tl.arange(0, N), x / y)
    tl.store(output_ptr + N + tl.arange(0, N), tl.fma(x, y, x))


@case
def half_divisions():
    x, y, output = randn(512).half(), randn(512, 1)[:, 0].half(), torch.zeros(2, 512).half()
    half_divisions_kernel[(1,)](x, y, output, N=512)
    return (output,)


@triton.jit
def narrow_integers_kernel(x_ptr, y_ptr, output_ptr, N: tl.constexpr):
    x, y = tl.load(x_ptr + tl.arange(0, N)), tl.load(y_ptr + tl.arange(0, N))
    tl.store(output_ptr + tl.arange(0, N), x * y)
    tl.store(output_ptr + N + tl.arange(0, N), x + y)
    tl.store(output_ptr + 2 * N + tl.arange(0, N), (x >> 2) - (y << 1))
    tl.store(output_ptr + 3 * N + tl.arange(0, N), tl.maximum(x, y) // 3 + x % 5)


def narrow_integers(dtype, low, high):
    x, y = randint(low, high, 64, dtype=dtype), randint(low, high, 64, 1, dtype=dtype)[:, 0]
    output = torch.zeros(4, 64, dtype=dtype)
    narrow_integers_kernel[(1,)](x, y, output, N=64)
    return (output,)


@case
def narrow_int8():
    return narrow_integers(torch.int8, -128, 127)


@case
def narrow_int16():
    return narrow_integers(torch.int16, -(2**15), 2**15 - 1)


@case
def narrow_uint8():
    return narrow_integers(torch.uint8, 0, 255)


@triton.jit
def sixteen_bit_sums_kernel(x_ptr, output_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    tl.store(output_ptr + row * 3, tl.sum(x, axis=0).to(tl.float32))
    tl.store(output_ptr + row * 3 + 1, tl.max(x, axis=0).to(tl.float32))
    tl.store(output_ptr + row * 3 + 2, tl.sum(x.to(tl.float32), axis=0))


@case
def sums_in_bf16():
    x, output = randn(16, 64, dtype=torch.bfloat16), torch.zeros(16, 3)
    sixteen_bit_sums_kernel[(16,)](x, output, N=64)
    return (output,)


def launch_on_gpu():
    """Let launches with CPU tensors run on the GPU: there and back again, strides kept."""
    from triton.runtime.jit import JITFunction

    plain = JITFunction.run
    triton.set_allocator(lambda size, *_: torch.empty(size, dtype=torch.int8, device="cuda"))

    def moved(value, known):
        if hasattr(value, "base") and hasattr(value, "block_shape"):
            value.base = moved(value.base, known)
            return value
        if not isinstance(value, torch.Tensor) or value.is_cuda:
            return value
        storage = value.untyped_storage()
        if storage.data_ptr() not in known:
            whole = torch.empty(0, dtype=torch.uint8).set_(storage)
            known[storage.data_ptr()] = (whole, whole.cuda())
        there = torch.empty(0, dtype=value.dtype, device="cuda")
        gpu = known[storage.data_ptr()][1].untyped_storage()
        return there.set_(gpu, value.storage_offset(), value.shape, value.stride())

    def run(self, *args, **kwargs):
        known = {}
        args = [moved(value, known) for value in args]
        kwargs = {name: moved(value, known) for name, value in kwargs.items()}
        if 0 in (kwargs["grid"] if isinstance(kwargs["grid"], tuple) else ()):
            return None
        result = plain(self, *args, **kwargs)
        for here, there in known.values():
            here.copy_(there)
        return result

    JITFunction.run = run


def main() -> int:
    where, file = sys.argv[1], Path(sys.argv[2])
    if where == "gpu":
        launch_on_gpu()
        results = {}
        for name, launch in CASES.items():
            try:
                results[name] = launch()
            except Exception as error:
                results[name] = f"{type(error).__name__}: {str(error)[-300:]}"
        torch.save(results, file)
        return 0
    return compare(torch.load(file))


def compare(expected) -> int:
    from triton_util.interpreter import interpret

    different = 0
    for name, launch in CASES.items():
        if name not in expected:
            print(f"{name}: not run on the GPU")
            continue
        if isinstance(expected[name], str):
            print(f"{name}: the GPU run failed: {expected[name]}")
            continue
        with interpret() as run:
            found = launch()
        worst = max(
            (difference(a, b) for a, b in zip(expected[name], found, strict=True)), default=0.0
        )
        if worst > LOOSE.get(name, TOLERANCE) or run.faults:
            different += 1
            print(f"{name}: differs by {worst:.2g} of the largest element {run.faults}")
    print(f"{len(CASES)} cases, {different} different")
    return 1 if different else 0


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    if not a.numel():
        return 0.0
    x, y = a.double(), b.double()
    scale = max(float(x.nan_to_num(0, 0, 0).abs().max()), 1e-30)
    same = (x == y) | (x.isnan() & y.isnan())
    gap = torch.where(same, 0.0, (x - y).abs().nan_to_num(nan=float("inf")))
    return float(gap.max()) / (1.0 if not a.is_floating_point() else scale)


if __name__ == "__main__":
    sys.exit(main())
