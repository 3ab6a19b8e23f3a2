# ruff: noqa: F841
"""What beginners write: one kernel per mistake, launched or compiled, each with its expected kind.

`MISTAKES[name]` is (kernel, constexprs, grid, kind in the interpreter, kind in the compiler);
None where that side accepts it or is not asked.
"""

import torch
import triton
import triton.language as tl

WIDTH = 16
MISTAKES = {}


def mistake(interpreter, compiler, grid=(1,), **constants):
    def note(kernel):
        name = kernel.fn.__name__ if hasattr(kernel, "fn") else kernel.__name__
        MISTAKES[name] = (kernel, constants, grid, interpreter, compiler)
        return kernel

    return note


@mistake("pointer-indexed", "pointer-indexed", B=16)
@triton.jit
def indexes_a_pointer(x_ptr, n, B: tl.constexpr):
    value = x_ptr[tl.arange(0, B)]
    tl.store(x_ptr + tl.arange(0, B), value)


@mistake("pointer-indexed", "pointer-indexed", B=16)
@triton.jit
def assigns_to_a_pointer(x_ptr, n, B: tl.constexpr):
    x_ptr[0] = 1.0


@mistake("kernel-returns", None, B=16)
@triton.jit
def returns_its_result(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), x)
    return x


@mistake("range-not-power-of-two", "range-not-power-of-two", B=12)
@triton.jit
def odd_range(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("range-needs-constexpr", "range-needs-constexpr")
@triton.jit
def range_of_an_argument(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, n), 1.0)


@mistake("shape-not-constexpr", "shape-not-constexpr")
@triton.jit
def zeros_of_an_argument(x_ptr, n):
    tl.store(x_ptr + tl.arange(0, 16), tl.zeros((n,), tl.float32))


@mistake("shapes-do-not-fit", "shapes-do-not-fit", B=16)
@triton.jit
def mask_of_another_length(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B), mask=tl.arange(0, 2 * B) < n)
    tl.store(x_ptr + tl.arange(0, B), x)


@mistake("shapes-do-not-fit", "shapes-do-not-fit", B=16)
@triton.jit
def adds_other_lengths(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), tl.arange(0, B) + tl.arange(0, 2 * B))


@mistake("store-shape", "store-shape", B=16)
@triton.jit
def stores_a_block_to_one_pointer(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr, tl.arange(0, B))


@mistake("mask-on-scalar", "mask-on-scalar", B=16)
@triton.jit
def block_mask_for_one_pointer(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr, mask=tl.arange(0, B) < n)
    tl.store(x_ptr + tl.arange(0, B), x)


@mistake("if-on-block", "if-on-block", B=16)
@triton.jit
def asks_a_block(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    if offsets < n:
        tl.store(x_ptr + offsets, 1.0)


@mistake("if-on-block", "invalid-ir", B=16)
@triton.jit
def loops_while_a_block(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    while x > 0:
        x -= 1.0
    tl.store(x_ptr + tl.arange(0, B), x)


@mistake("dot-dtypes", "dot-dtypes", B=16)
@triton.jit
def dot_of_two_dtypes(x_ptr, n, B: tl.constexpr):
    a = tl.zeros((B, B), tl.float16)
    b = tl.zeros((B, B), tl.float32)
    tl.store(x_ptr + tl.arange(0, B), tl.sum(tl.dot(a, b), axis=0))


@mistake("dot-shapes", "dot-shapes", B=16)
@triton.jit
def dot_of_wrong_shapes(x_ptr, n, B: tl.constexpr):
    a = tl.zeros((B, B), tl.float32)
    b = tl.zeros((2 * B, B), tl.float32)
    tl.store(x_ptr + tl.arange(0, B), tl.sum(tl.dot(a, b), axis=0))


@mistake("dot-of-vectors", "dot-of-vectors", B=16)
@triton.jit
def dot_of_vectors(x_ptr, n, B: tl.constexpr):
    a = tl.zeros((B,), tl.float32)
    tl.store(x_ptr, tl.dot(a, a))


@mistake("undefined-name", "undefined-name", B=16)
@triton.jit
def misspells_a_name(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + ofsets, 1.0)  # noqa: F821


@mistake("no-such-function", "no-such-function", B=16)
@triton.jit
def misspells_a_function(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arrange(0, B), 1.0)


@mistake("no-such-function", "no-such-function", B=16)
@triton.jit
def calls_torch_on_a_block(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), x.relu())


@mistake("torch-in-kernel", "torch-in-kernel", B=16)
@triton.jit
def calls_torch(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), torch.relu(x))


@mistake("load-of-a-number", "load-of-a-number", B=16)
@triton.jit
def loads_offsets(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + offsets, tl.load(offsets))


@mistake("pointer-arithmetic", "pointer-arithmetic", B=16)
@triton.jit
def multiplies_a_pointer(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr * 2 + tl.arange(0, B), 1.0)


@mistake("pointers-added", "pointers-added", B=16)
@triton.jit
def adds_pointers(x_ptr, n, B: tl.constexpr):
    tl.store((x_ptr + tl.arange(0, B)) + x_ptr, 1.0)


@mistake("float-offset", "float-offset", B=16)
@triton.jit
def float_offsets(x_ptr, n, B: tl.constexpr):
    half = tl.arange(0, B) / 2
    tl.store(x_ptr + half, 1.0)


@mistake("integer-operator", "integer-operator", B=16)
@triton.jit
def ands_floats(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), x & 1)


@mistake("function-needs-float", "function-needs-float", B=16)
@triton.jit
def exp_of_integers(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), tl.exp(tl.arange(0, B)))


@mistake("axis-out-of-range", "axis-out-of-range", B=16)
@triton.jit
def sums_a_missing_axis(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr, tl.sum(x, axis=1))


@mistake("program-id-axis", "program-id-axis", B=16)
@triton.jit
def fourth_axis(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.program_id(3), 1.0)


@mistake("too-many-indices", "too-many-indices", B=16)
@triton.jit
def slices_a_block(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, 8), x[0:8])


@mistake("too-many-indices", "too-many-indices", B=16)
@triton.jit
def takes_one_element(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr, x[0])


@mistake("scalar-indexed", None, B=16)
@triton.jit
def spreads_a_number(x_ptr, n, B: tl.constexpr):
    one = tl.program_id(0) + 1
    tl.store(x_ptr + tl.arange(0, B)[:, None], one[:, None])


@mistake("reshape-size", "reshape-size", B=16)
@triton.jit
def reshapes_wrongly(x_ptr, n, B: tl.constexpr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, B)), (4, 8))
    tl.store(x_ptr + tl.arange(0, 8), tl.sum(x, axis=0))


@mistake("static-assert", "static-assert", B=16)
@triton.jit
def asserts_statically(x_ptr, n, B: tl.constexpr):
    tl.static_assert(B == 32, "B must be 32")


@mistake("assignment-twice", "assignment-twice", B=16)
@triton.jit
def assigns_twice(x_ptr, n, B: tl.constexpr):
    a = b = tl.arange(0, B)
    tl.store(x_ptr + a, b)


@mistake(None, "unsupported-python", B=16)
@triton.jit
def uses_a_list(x_ptr, n, B: tl.constexpr):
    parts = [i for i in range(4)]  # noqa: C416
    tl.store(x_ptr + tl.arange(0, B), parts[1])


@mistake(None, "unsupported-python", B=16)
@triton.jit
def tries(x_ptr, n, B: tl.constexpr):
    try:
        tl.store(x_ptr + tl.arange(0, B), 1.0)
    finally:
        n = 0


@mistake(None, "unsupported-python", B=16)
@triton.jit
def breaks(x_ptr, n, B: tl.constexpr):
    for i in range(4):
        if i == n:
            break
        tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake(None, "unsupported-python", B=16)
@triton.jit
def uses_a_lambda(x_ptr, n, B: tl.constexpr):
    double = lambda value: value * 2  # noqa: E731
    tl.store(x_ptr + tl.arange(0, B), double(1.0))


@mistake(None, "global-variable", B=16)
@triton.jit
def reads_a_global(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, WIDTH), 1.0)


@mistake(None, "loop-changes-type", B=16)
@triton.jit
def changes_type_in_a_loop(x_ptr, n, B: tl.constexpr):
    total = 0
    for _ in range(n):
        total += 0.5
    tl.store(x_ptr, total)


@mistake("defined-in-one-branch", "defined-in-one-branch", B=16)
@triton.jit
def defines_in_one_branch(x_ptr, n, B: tl.constexpr):
    if n > 100:
        value = 1.0
    tl.store(x_ptr, value)


@mistake(None, "returns-differ", B=16)
@triton.jit
def returns_in_a_loop(x_ptr, n, B: tl.constexpr):
    for i in range(n):
        if i == 3:
            return
        tl.store(x_ptr + i, 1.0)


@mistake("constexpr-missing", None)
@triton.jit
def misses_an_argument(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("unknown-argument", None, BLOCK=16)
@triton.jit
def misnames_an_argument(x_ptr, n, B: tl.constexpr = 16):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("grid", None, grid=(1, 1, 1, 1), B=16)
@triton.jit
def four_grid_axes(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("grid", None, grid=(2.0,), B=16)
@triton.jit
def float_grid(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("grid", None, grid=(1, 70000), B=16)
@triton.jit
def grid_too_wide(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("grid", None, grid=4, B=16)
@triton.jit
def integer_grid(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("program-id-called", "program-id-called", B=16)
@triton.jit
def calls_without_tl(x_ptr, n, B: tl.constexpr):
    pid = program_id(0)  # noqa: F821
    tl.store(x_ptr + pid, 1.0)


@mistake("block-too-large", "block-too-large", B=2**21)
@triton.jit
def huge_block(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("call-argument-missing", "call-argument-missing", B=16)
@triton.jit
def counts_without_a_start(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(B), 1.0)


@mistake("call-argument-missing", "call-argument-missing", B=16)
@triton.jit
def asks_for_no_axis(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.program_id(), 1.0)


@mistake("call-argument-unknown", "call-argument-unknown", B=16)
@triton.jit
def misspells_a_parameter(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + offsets, 1.0, maks=offsets < n)


@mistake("python-range", "python-range", B=16)
@triton.jit
def adds_a_range(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + (n + range(B)), 1.0)


@mistake("dtype-called", "dtype-called", B=16)
@triton.jit
def calls_a_dtype(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.int64(n), 1.0)


@mistake("range-needs-constexpr", "range-needs-constexpr", B=16.0)
@triton.jit
def float_range(x_ptr, n, B: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, B), 1.0)


@mistake("if-on-block", "if-on-block", B=16)
@triton.jit
def chooses_by_a_block(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), x if x > 0 else 0)


@mistake("trans-of-one-axis", "trans-of-one-axis", B=16)
@triton.jit
def turns_a_row(x_ptr, n, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(x_ptr + tl.arange(0, B), tl.trans(x))


@mistake("length-asked", "length-asked", B=16)
@triton.jit
def asks_a_pointer_for_its_length(x_ptr, n, B: tl.constexpr):
    offsets = tl.arange(0, B)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < len(x_ptr))
