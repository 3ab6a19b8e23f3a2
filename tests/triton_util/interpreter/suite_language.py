# ruff: noqa: SIM108
"""Parts of the language that triton's own interpreter leaves out."""

import pytest
import torch
import triton
import triton.language as tl

from triton_util.interpreter import EngineOptions, KernelFault, interpret

aggregate = getattr(tl.core, "_aggregate", None)
SCHEDULES = ("grid", "serial")
mapping = pytest.mark.skipif(not hasattr(tl, "map_elementwise"), reason="not in this triton")


@triton.jit
def collatz(value, most):
    steps = 0
    while (value != 1) & (steps < most):
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    return steps


@triton.jit
def ordered_pair(a, b):
    if a < b:
        return a, b
    return b, a


@triton.jit
def neighbours(a0, a1, b0, b1):
    return a0 + b1, a1 + b0


@triton.jit
def collatz_kernel(x_ptr, output_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    steps = tl.map_elementwise(collatz, tl.load(x_ptr + at), 1000)
    tl.store(output_ptr + at, steps)


@triton.jit
def pairs_kernel(x_ptr, low_ptr, high_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    at = tl.program_id(0) * M * N + rows[:, None] * N + columns[None, :]
    x = tl.load(x_ptr + at)
    low, high = tl.map_elementwise(ordered_pair, x, tl.load(x_ptr + columns)[None, :])
    tl.store(low_ptr + at, low)
    tl.store(high_ptr + at, high)


@triton.jit
def packed_kernel(a_ptr, b_ptr, output_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a, b = tl.load(a_ptr + lanes), tl.load(b_ptr + lanes)
    tl.store(output_ptr + lanes, tl.map_elementwise(neighbours, a, b, pack=2))


@triton.jit
def counting_kernel(output_ptr):
    pid = tl.program_id(0)
    steps = 0
    while tl.condition(steps < pid * 2, disable_licm=True):
        steps += 1
    tl.store(output_ptr + pid, steps)


def steps_of(value):
    steps = 0
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    return steps


@mapping
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_element_takes_its_own_way(schedule):
    x, output = torch.arange(1, 65, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    with interpret(EngineOptions(schedule=schedule)) as run:
        collatz_kernel[(4,)](x, output, N=16)
    assert output.tolist() == [steps_of(value) for value in range(1, 65)]
    assert run.faults == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_condition_with_hints_ends_each_program_loop(schedule):
    output = torch.full((5,), -1, dtype=torch.int32)
    with interpret(EngineOptions(schedule=schedule)):
        counting_kernel[(5,)](output)
    assert output.tolist() == [0, 2, 4, 6, 8]


@mapping
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_several_results_and_blocks_that_are_spread(schedule):
    x = torch.randn(4, 4, 8)
    low, high = torch.zeros_like(x), torch.zeros_like(x)
    with interpret(EngineOptions(schedule=schedule)):
        pairs_kernel[(4,)](x, low, high, M=4, N=8)
    assert torch.equal(low, torch.minimum(x, x[0, 0]))
    assert torch.equal(high, torch.maximum(x, x[0, 0]))


@mapping
def test_elements_taken_two_at_a_time():
    a, b, output = torch.arange(16.0), torch.arange(16.0) * 10, torch.zeros(16)
    with interpret():
        packed_kernel[(1,)](a, b, output, N=16)
    swapped = b.view(8, 2).flip(1).reshape(16)
    assert torch.equal(output, a + swapped)


if aggregate is not None:

    @aggregate
    class Window:
        start: tl.tensor
        size: tl.constexpr

        def __init__(self, start, size):
            self.start = start
            self.size = size

        @triton.jit
        def offsets(self):
            return self.start + tl.arange(0, self.size)

        @triton.jit
        def load(self, pointer, scale):
            return tl.load(pointer + self.offsets()) * scale

    @triton.jit
    def window_kernel(x_ptr, output_ptr, N: tl.constexpr):
        window = Window(tl.program_id(0) * N, tl.constexpr(N))
        tl.store(output_ptr + window.offsets(), window.load(x_ptr, 2.0))

    @pytest.mark.parametrize("schedule", SCHEDULES)
    def test_methods_of_aggregates(schedule):
        x, output = torch.randn(64), torch.zeros(64)
        with interpret(EngineOptions(schedule=schedule)) as run:
            window_kernel[(4,)](x, output, N=16)
        assert torch.equal(output, x * 2)
        assert run.faults == []


@triton.jit
def dot_scaled_kernel(a_ptr, b_ptr, s_ptr, t_ptr, output_ptr, FORMAT: tl.constexpr):
    rows, inner, scales = tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 2)
    a = tl.load(a_ptr + rows[:, None] * 64 + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * 32 + rows[None, :])
    s = tl.load(s_ptr + rows[:, None] * 2 + scales[None, :])
    t = tl.load(t_ptr + rows[:, None] * 2 + scales[None, :])
    product = tl.dot_scaled(a, s, FORMAT, b, t, FORMAT)
    tl.store(output_ptr + rows[:, None] * 32 + rows[None, :], product)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (torch.float8_e5m2, "e5m2"),
        (torch.float8_e4m3fn, "e4m3"),
        (torch.bfloat16, "bf16"),
        (torch.float16, "fp16"),
    ],
)
def test_scaled_products_give_the_exact_sum_and_no_warning(dtype, name):
    numbers = torch.Generator().manual_seed(1)
    a = torch.randn(32, 64, generator=numbers).to(dtype)
    b = torch.randn(64, 32, generator=numbers).to(dtype)
    s, t = torch.randint(120, 134, (2, 32, 2), generator=numbers).to(torch.uint8)
    output = torch.zeros(32, 32)
    with interpret() as run:
        dot_scaled_kernel[(1,)](a, b, s, t, output, FORMAT=name)
    scale_a, scale_b = (
        torch.exp2(part.double() - 127).repeat_interleave(32, dim=1) for part in (s, t)
    )
    expected = (a.double() * scale_a) @ (b.double() * scale_b.T)
    assert torch.allclose(output.double(), expected, rtol=1e-5, atol=1e-6 * float(expected.max()))
    assert run.faults == []


@triton.jit
def four_bits_kernel(a_ptr, b_ptr, s_ptr, output_ptr):
    rows, inner, packed = tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 32)
    a = tl.load(a_ptr + rows[:, None] * 32 + packed[None, :])
    b = tl.load(b_ptr + inner[:, None] * 16 + tl.arange(0, 16)[None, :])
    s = tl.load(s_ptr + rows[:, None] * 2 + tl.arange(0, 2)[None, :])
    product = tl.dot_scaled(a, s, "e2m1", b, None, "e2m1", rhs_k_pack=False)
    tl.store(output_ptr + rows[:, None] * 32 + rows[None, :], product)


def test_numbers_of_four_bits_are_unpacked_along_either_axis():
    numbers = torch.Generator().manual_seed(2)
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    a, b = (torch.randint(0, 16, shape, generator=numbers) for shape in ((32, 64), (64, 32)))
    s = torch.randint(126, 130, (32, 2), generator=numbers).to(torch.uint8)
    packed = [(part[:, ::2] | part[:, 1::2] << 4).to(torch.uint8) for part in (a, b)]
    output = torch.zeros(32, 32)
    with interpret() as run:
        four_bits_kernel[(1,)](*packed, s, output)
    scale = torch.exp2(s.double() - 127).repeat_interleave(32, dim=1)
    assert torch.equal(output.double(), (values[a].double() * scale) @ values[b].double())
    assert run.faults == []


def test_a_scale_of_255_is_no_number():
    a, b = torch.ones(32, 64).bfloat16(), torch.ones(64, 32).bfloat16()
    s, t = torch.full((2, 32, 2), 127, dtype=torch.uint8)
    s[3, 1] = 255
    output = torch.zeros(32, 32)
    with interpret():
        dot_scaled_kernel[(1,)](a, b, s, t, output, FORMAT="bf16")
    assert output[3].isnan().all()
    assert torch.equal(output[:3], torch.full((3, 32), 64.0))


@triton.jit
def product_kernel(a_ptr, b_ptr, output_ptr):
    lanes = tl.arange(0, 16)
    tile = lanes[:, None] * 16 + lanes[None, :]
    tl.store(output_ptr + tile, tl.dot(tl.load(a_ptr + tile), tl.load(b_ptr + tile)))


def test_tf32_cuts_the_mantissa_off():
    a, b, output = torch.eye(16), torch.full((16, 16), 1.0 + 2**-10 + 2**-11), torch.zeros(16, 16)
    with interpret(EngineOptions(tf32=True)):
        product_kernel[(1,)](a, b, output)
    assert torch.equal(output, torch.full((16, 16), 1.0 + 2**-10))


@triton.jit
def fp8_product_kernel(a_ptr, b_ptr, output_ptr, M, N, K, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    inner = (lanes < K)[None, :]
    a = tl.load(
        a_ptr + lanes[:, None] * K + lanes[None, :], (lanes < M)[:, None] & inner, other=0.0
    )
    b = tl.load(
        b_ptr + lanes[:, None] * N + lanes[None, :], inner.T & (lanes < N)[None, :], other=0.0
    )
    accumulator = tl.dot(a, b, tl.zeros((BLOCK, BLOCK), dtype=tl.float32))
    cells = lanes[:, None] * N + lanes[None, :]
    tl.store(output_ptr + cells, accumulator, (lanes < M)[:, None] & (lanes < N)[None, :])


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_products_of_eight_bits_are_exact_and_summed_in_float32(dtype):
    """Those of the largest numbers are beyond half precision."""
    numbers = torch.Generator().manual_seed(1)
    a, b = (torch.randn(shape, generator=numbers) * 200 for shape in ((20, 27), (27, 30)))
    a, b = a.to(dtype), b.to(dtype)
    output = torch.zeros(20, 30)
    with interpret() as run:
        fp8_product_kernel[(1,)](a, b, output, 20, 30, 27, BLOCK=32)
    expected = a.double() @ b.double()
    assert float(expected.abs().max()) > torch.finfo(torch.float16).max
    assert torch.allclose(output.double(), expected, rtol=0, atol=1e-6 * float(expected.max()))
    assert run.faults == []


@triton.jit
def values_kernel(output_ptr, n, K: tl.constexpr):
    seven = -7
    first, second = -7, 2
    pair = (-7, 2)
    large = 65536
    total = 0
    for _ in tl.static_range(7):
        total += 1000000000
    tl.store(output_ptr, n // 2)
    tl.store(output_ptr + 1, seven // 2)
    tl.store(output_ptr + 2, seven % 3)
    tl.store(output_ptr + 3, first // second)
    tl.store(output_ptr + 4, pair[0] // pair[1])
    tl.store(output_ptr + 5, (-K) // 2)
    tl.store(output_ptr + 6, (-7) // 2)
    tl.store(output_ptr + 7, large * large)
    tl.store(output_ptr + 8, 65536 * 65536)
    tl.store(output_ptr + 9, total)
    tl.store(output_ptr + 10, (n < 0) + (n < 1))
    tl.store(output_ptr + 11, seven and 5)
    tl.store(output_ptr + 12, ("ab" == "ab") + 0)


def test_values_that_python_computes_differently_are_those_of_the_compiler():
    """Assigned numbers are int32 and round toward 0; constant expressions are Python's."""
    output = torch.zeros(13, dtype=torch.float64)
    with interpret():
        values_kernel[(1,)](output, -7, K=7)
    expected = [-3, -3, -1, -3, -3, -4, -4, 0, 2.0**32, 7_000_000_000 - 2 * 2**32, 0, -7, 1]
    assert output.tolist() == expected


@triton.jit
def halved_kernel(output_ptr, one):
    """A constant rounds down in Python; a number of the GPU rounds towards zero."""
    tl.store(output_ptr + tl.program_id(0), (-one) // 2)


@triton.jit
def halved_entry_kernel(output_ptr, sizes):
    tl.store(output_ptr, (-sizes[0]) // 2)


@triton.jit
def halved_wide_kernel(output_ptr, one: tl.int64):
    tl.store(output_ptr, (-one) // 2)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_an_argument_that_is_one_is_a_constant(schedule):
    output = torch.zeros(1, dtype=torch.int32)

    def result(kernel, given):
        with interpret(EngineOptions(schedule=schedule)):
            kernel[(1,)](output, given)
        return output.item()

    assert result(halved_kernel, 1) == -1
    assert result(halved_kernel, 3) == -1
    assert result(halved_entry_kernel, (1, 4)) == -1
    assert result(halved_wide_kernel, 1) == 0
    for listed in (["one"], [1]):
        assert result(triton.jit(halved_kernel.fn, do_not_specialize=listed), 1) == 0


def test_a_constant_argument_has_no_methods_of_a_block():
    with pytest.raises(KernelFault, match="a constant has no"), interpret():
        converting_kernel[(1,)](torch.zeros(1, dtype=torch.int32), 1)


@triton.jit
def converting_kernel(output_ptr, n):
    tl.store(output_ptr, n.to(tl.int32))
