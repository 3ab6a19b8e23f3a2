"""The cases that every model solution must get right, on the CPU and on a GPU, plain and fast.

`run_solution_cases.py` solves them; benchmarks/solutions.py does so on a GPU before it times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

Tensors = tuple[Any, ...]
HALF, BF16, SINGLE = torch.float16, torch.bfloat16, torch.float32


@dataclass(frozen=True)
class SolvedCase:
    """One input of one exercise. `args` is built from a generator, on the CPU."""

    exercise: str
    lesson: str
    name: str
    args: Callable[[torch.Generator], Tensors]
    reference: Callable[..., torch.Tensor]
    # What the terms of each sum add up to in absolute value: rounding grows with it.
    magnitude: Callable[..., torch.Tensor] | None = None
    rounded_terms: bool = False  # the terms themselves are rounded to the dtype of the input
    slack: float = 0.0  # an absolute difference that is allowed (uint8: 1)


def float64(args: Tensors) -> Tensors:
    """The arguments with every floating tensor in float64, as the reference wants them."""
    return tuple(
        arg.double() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg
        for arg in args
    )


def worst_ratio(case: SolvedCase, args: Tensors, actual: torch.Tensor) -> float:
    """The largest error in units of what is allowed; at most 1 is right, infinite is absurd."""
    expected = case.reference(*float64(args))
    if actual.shape != expected.shape or not actual.is_contiguous():
        return float("inf")
    if isinstance(args[0], torch.Tensor) and actual.dtype != args[0].dtype:
        return float("inf")
    if actual.numel() == 0:
        return 0.0
    actual = actual.cpu()
    if not actual.is_floating_point():
        difference = (actual.to(torch.int64) - expected.to(torch.int64)).abs().max().item()
        return 0.0 if difference <= case.slack else float("inf")
    info = torch.finfo(actual.dtype)
    eps = info.eps
    # Half the dtype's smallest number is lost in rounding, and what is smaller than the
    # smallest normal float32 may be flushed to zero on a GPU.
    underflow = max(info.smallest_normal * eps, torch.finfo(SINGLE).smallest_normal)
    magnitude = expected.abs() if case.magnitude is None else case.magnitude(*float64(args))
    term_eps = eps if case.rounded_terms else torch.finfo(SINGLE).eps
    allowed = eps * expected.abs() + 16 * term_eps * magnitude + case.slack + underflow
    error = (actual.double() - expected).abs()
    same = (actual.double() == expected) | (actual.isnan() & expected.isnan())
    ratio = torch.where(same, 0.0, error / allowed)
    worst = ratio.nan_to_num(nan=float("inf")).max()
    return float(worst)


# ---------------------------------------------------------------------------- inputs


def normal(*shape: int, dtype: torch.dtype = SINGLE, scale: float = 1.0, shift: float = 0.0):
    """A recipe for a tensor of signed normal numbers."""

    def build(generator: torch.Generator) -> torch.Tensor:
        return (torch.randn(shape, generator=generator) * scale + shift).to(dtype)

    return build


def integers(*shape: int, dtype: torch.dtype):
    """A recipe for a tensor of integers 0 ... 254, or of coin flips for bool."""

    def build(generator: torch.Generator) -> torch.Tensor:
        high = 2 if dtype == torch.bool else 127 if dtype == torch.int8 else 255
        return torch.randint(0, high, shape, generator=generator).to(dtype)

    return build


def viewed(recipe: Any, view: Callable[[torch.Tensor], torch.Tensor]):
    """A recipe for a view of what another recipe makes."""
    return lambda generator: view(recipe(generator))


def together(*recipes: Any) -> Callable[[torch.Generator], Tensors]:
    """Arguments from recipes; what is no recipe is an argument itself."""
    return lambda generator: tuple(
        recipe(generator) if callable(recipe) else recipe for recipe in recipes
    )


def some_minus_inf(*shape: int, dtype: torch.dtype, block: int):
    """Normal numbers in which the first `block` columns are -inf."""

    def build(generator: torch.Generator) -> torch.Tensor:
        x = torch.randn(shape, generator=generator).to(dtype)
        x[:, :block] = -float("inf")
        return x

    return build


VIEWS_2D: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.T,
    "sliced": lambda x: x[:, : x.shape[1] // 2],
    "stepped": lambda x: x[::2, ::3],
    "expanded rows": lambda x: x[:1].expand(x.shape),
    "expanded columns": lambda x: x[:, :1].expand(x.shape),
    "offset": lambda x: x[1:, 1:],
    "overlapping": lambda x: x.flatten().as_strided((9, 12), (5, 1)),
}


# ---------------------------------------------------------------------------- the cases


def elementwise_cases() -> Iterator[SolvedCase]:
    """vector_add, copy, relu2d and gelu."""
    for n in (0, 1, 1000, 1024, 5000):
        for dtype in (SINGLE, HALF, BF16):
            vector = normal(n, dtype=dtype)
            yield SolvedCase(
                "vector_add", "vector_add", f"{n} {dtype}", together(vector, vector), torch.add
            )
    for dtype in (SINGLE, BF16, torch.bool, torch.uint8, torch.int64, torch.float64):
        recipe = (
            normal(3001, dtype=dtype) if dtype.is_floating_point else integers(3001, dtype=dtype)
        )
        yield SolvedCase("copy", "debugging", f"3001 {dtype}", together(recipe), torch.clone)
    yield SolvedCase("copy", "debugging", "empty", together(normal(0)), torch.clone)
    for shape in ((0, 3), (1, 1), (33, 65), (300, 7)):
        for dtype in (SINGLE, HALF, BF16):
            yield SolvedCase(
                "relu2d",
                "memory_vs_compute",
                f"{shape} {dtype}",
                together(normal(*shape, dtype=dtype)),
                torch.relu,
            )
    shapes = ((), (0,), (1,), (2000,), (33, 65), (3, 4, 5), (2, 3, 4, 5), (2, 2, 3, 4, 5))
    for shape in shapes:
        for dtype in (SINGLE, HALF, BF16):
            yield gelu_case(f"{shape} {dtype}", normal(*shape, dtype=dtype, scale=3.0))
    for name, view in VIEWS_2D.items():
        yield gelu_case(name, viewed(normal(30, 40), view))
    swapped = viewed(normal(4, 5, 6, 7), lambda x: x.permute(2, 0, 3, 1))
    yield gelu_case("permuted", swapped)
    yield gelu_case("five dimensions, permuted", viewed(normal(2, 3, 2, 3, 4), lambda x: x.mT))


def gelu_case(name: str, recipe: Any) -> SolvedCase:
    """GELU, in units of |x|: where the result nearly vanishes, 1 + tanh cancels."""
    return SolvedCase(
        "gelu", "fusion", name, together(recipe), lambda x: F.gelu(x, approximate="tanh"), torch.abs
    )


def layout_cases() -> Iterator[SolvedCase]:
    """strided_copy, transpose, rgb2grey and bias_relu."""
    for exercise, reference in (("strided_copy", torch.clone), ("transpose", lambda x: x.T)):
        for name, view in VIEWS_2D.items():
            yield SolvedCase(
                exercise, "strides", name, together(viewed(normal(67, 70), view)), reference
            )
        for shape in ((0, 3), (3, 0), (1, 1), (1, 300), (300, 1), (65, 129)):
            for dtype in (torch.bool, torch.int64, HALF, torch.float64):
                recipe = (
                    normal(*shape, dtype=dtype)
                    if dtype.is_floating_point
                    else integers(*shape, dtype=dtype)
                )
                yield SolvedCase(
                    exercise, "strides", f"{shape} {dtype}", together(recipe), reference
                )
    for shape in ((0, 4), (1, 1), (17, 65), (40, 30)):
        yield grey_case(f"{shape} uint8", integers(3, *shape, dtype=torch.uint8), slack=1.0)
        for dtype in (SINGLE, HALF, BF16):
            yield grey_case(f"{shape} {dtype}", normal(3, *shape, dtype=dtype))
    channels_last = viewed(normal(20, 30, 3), lambda x: x.permute(2, 0, 1))
    yield grey_case("channels last", channels_last)
    yield grey_case("sliced", viewed(normal(3, 40, 50), lambda x: x[:, ::2, 5:]))
    for name, view in VIEWS_2D.items():
        for dtype in (SINGLE, HALF):
            yield bias_case(name, viewed(normal(40, 50, dtype=dtype), view), dtype)
    for dtype in (SINGLE, HALF, BF16):
        yield bias_case(f"{dtype}", normal(33, 65, dtype=dtype), dtype)


def grey_case(name: str, recipe: Any, slack: float = 0.0) -> SolvedCase:
    """A picture in grey."""

    def weigh(img: torch.Tensor) -> torch.Tensor:
        red, green, blue = img.double()
        grey = 0.2989 * red + 0.5870 * green + 0.1140 * blue
        return grey if img.is_floating_point() else grey.to(img.dtype)

    return SolvedCase(
        "rgb2grey", "tiles_2d", name, together(recipe), weigh, lambda x: weigh(x.abs()), slack=slack
    )


def bias_case(name: str, recipe: Any, dtype: torch.dtype) -> SolvedCase:
    """relu(x + bias) with a bias that is itself a stepped view."""

    def build(generator: torch.Generator) -> Tensors:
        x = recipe(generator)
        return x, torch.randn(2 * x.shape[1], generator=generator).to(dtype)[::2]

    return SolvedCase(
        "bias_relu", "tiles_2d", f"{name} {dtype}", build, lambda x, b: torch.relu(x + b)
    )


def row_cases() -> Iterator[SolvedCase]:
    """softmax and layernorm, with rows longer than a block among them."""
    shapes = ((0, 5), (1, 1), (3, 1000), (5, 1024), (2, 16385), (2, 40000))
    for shape in shapes:
        for dtype in (SINGLE, HALF, BF16):
            yield softmax_case(f"{shape} {dtype}", normal(*shape, dtype=dtype, scale=4.0))
            yield layernorm_case(f"{shape} {dtype}", normal(*shape, dtype=dtype), dtype)
    for name, view in VIEWS_2D.items():
        yield softmax_case(name, viewed(normal(30, 40), view))
        yield layernorm_case(name, viewed(normal(30, 40), view), SINGLE)
    yield softmax_case("large", normal(4, 300, scale=100.0, shift=1e4))
    yield softmax_case("-inf in a short row", some_minus_inf(3, 100, dtype=HALF, block=99))
    yield softmax_case("-inf in a long row", some_minus_inf(3, 40000, dtype=SINGLE, block=39000))
    yield softmax_case("no columns", normal(3, 0))
    for shape in ((4, 500), (2, 40000)):
        yield layernorm_case(
            f"mean far above the spread {shape}", normal(*shape, shift=1e4), SINGLE
        )
    yield layernorm_case("no columns", normal(3, 0), SINGLE)
    long_column = viewed(normal(20000, 3), lambda x: x.T)
    yield softmax_case("long columns", long_column)
    yield layernorm_case("long columns", long_column, SINGLE)


def softmax_case(name: str, recipe: Any) -> SolvedCase:
    """Softmax: the error of exp grows with |x - max|, hence the magnitude."""

    def magnitude(x: torch.Tensor) -> torch.Tensor:
        result = torch.softmax(x, 1)
        distance = (x - x.amax(1, keepdim=True)).abs() if x.numel() else x
        return result * (1 + distance.nan_to_num(posinf=0.0))

    return SolvedCase(
        "softmax", "reductions", name, together(recipe), lambda x: torch.softmax(x, 1), magnitude
    )


def layernorm_case(name: str, recipe: Any, dtype: torch.dtype) -> SolvedCase:
    """Layer norm with a weight and a bias, in units of what they and the row add up to."""

    def build(generator: torch.Generator) -> Tensors:
        x = recipe(generator)
        weight, bias = (torch.randn(x.shape[1], generator=generator).to(dtype) for _ in range(2))
        return x, weight, bias, 1e-5

    def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).square().mean(1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + eps) * weight + bias

    def magnitude(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float):
        variance = (x - x.mean(1, keepdim=True)).square().mean(1, keepdim=True) + eps
        spread = 1 + x.abs().mean(1, keepdim=True) / variance.sqrt() / 8
        normal_size = reference(x, weight, torch.zeros_like(bias), eps).abs() + weight.abs()
        return spread * normal_size + bias.abs()

    return SolvedCase("layernorm", "reductions", name, build, reference, magnitude)


def matmul_cases() -> Iterator[SolvedCase]:
    """matmul, grouped_matmul, autotuned_matmul and linear_bias_relu."""
    shapes = (
        (1, 1, 1),
        (65, 33, 70),
        (0, 3, 4),
        (3, 0, 4),
        (3, 4, 0),
        (64, 64, 64),
        (130, 70, 150),
    )
    names = {"matmul": "matmul", "grouped_matmul": "swizzling", "autotuned_matmul": "autotuning"}
    for exercise, lesson in names.items():
        for m, n, k in shapes:
            for dtype in (SINGLE, HALF, BF16):
                pair = together(normal(m, k, dtype=dtype), normal(k, n, dtype=dtype))
                yield product_case(exercise, lesson, f"{m}x{n}x{k} {dtype}", pair)
        for name, view in VIEWS_2D.items():
            a = viewed(normal(66, 90), view)
            square = together(a, viewed(a, lambda x: x.T))
            yield product_case(exercise, lesson, name, square)
    for m, n, k in shapes:
        for dtype in (SINGLE, HALF, BF16):
            yield SolvedCase(
                "linear_bias_relu",
                "matmul",
                f"{m}x{n}x{k} {dtype}",
                together(
                    normal(m, k, dtype=dtype), normal(n, k, dtype=dtype), normal(n, dtype=dtype)
                ),
                lambda x, w, b: torch.relu(x @ w.T + b),
                lambda x, w, b: x.abs() @ w.abs().T + b.abs(),
            )


def product_case(
    exercise: str, lesson: str, name: str, args: Callable[[torch.Generator], Tensors]
) -> SolvedCase:
    """a @ b, in units of |a| @ |b|."""
    return SolvedCase(exercise, lesson, name, args, torch.matmul, lambda a, b: a.abs() @ b.abs())


def swizzle_cases() -> Iterator[SolvedCase]:
    """swizzle_ids against a plain Python walk through the groups."""

    def walk(n_rows: int, n_cols: int, group: int) -> torch.Tensor:
        order = [
            (row, col)
            for first in range(0, n_rows, group)
            for col in range(n_cols)
            for row in range(first, min(first + group, n_rows))
        ]
        return torch.tensor(order, dtype=torch.int32).reshape(-1, 2)

    for size in ((5, 4, 3), (9, 9, 3), (1, 1, 1), (4, 7, 9), (7, 3, 1), (0, 3, 2)):
        yield SolvedCase("swizzle_ids", "swizzling", str(size), together(*size), walk)


def attention_cases() -> Iterator[SolvedCase]:
    """Attention: ragged ends, causal masks, every number of leading dimensions."""
    shapes = (((), 129, 127, 16), ((2, 3), 129, 127, 64), ((2,), 1, 300, 32), ((3, 2, 2), 5, 7, 16))
    shapes += (((2,), 40, 0, 16), ((0,), 3, 3, 16), ((1, 2), 70, 65, 128), ((1,), 20, 30, 256))
    for leading, m, n, d in shapes:
        for dtype in (SINGLE, HALF, BF16):
            query, key = normal(*leading, m, d, dtype=dtype), normal(*leading, n, d, dtype=dtype)
            name = f"{leading} {m}x{n}x{d} {dtype}"
            yield attention_case(name, together(query, key, key, False))
    for m in (1, 64, 129, 200):
        for dtype in (SINGLE, HALF, BF16):
            query = normal(2, 2, m, 32, dtype=dtype)
            yield attention_case(f"causal {m} {dtype}", together(query, query, query, True))
    heads_last = viewed(normal(2, 70, 3, 32, dtype=HALF), lambda x: x.transpose(1, 2))
    yield attention_case("heads last", together(heads_last, heads_last, heads_last, True))
    depth_first = viewed(normal(2, 32, 50), lambda x: x.mT)
    yield attention_case("depth first", together(depth_first, depth_first, depth_first, False))
    large = normal(1, 80, 64, scale=8.0)
    yield attention_case("large scores", together(large, large, normal(1, 80, 64), True))


def attention_case(name: str, args: Callable[[torch.Generator], Tensors]) -> SolvedCase:
    """Attention in units of the weighted |v|; large scores make the weights less exact."""

    def weights(q: torch.Tensor, k: torch.Tensor, causal: bool) -> torch.Tensor:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -float("inf"))
        return torch.softmax(scores, -1)

    def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool):
        return weights(q, k, causal) @ v

    def magnitude(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool):
        size = (q.abs() @ k.abs().mT / q.shape[-1] ** 0.5).mean() if k.numel() else 0.0
        return (1 + size / 4) * (weights(q, k, causal) @ v.abs())

    return SolvedCase(
        "attention", "attention", name, args, reference, magnitude, rounded_terms=True
    )


def drill_cases() -> Iterator[SolvedCase]:
    """outer_sum, row_sum and dot_tile."""
    for dtype in (SINGLE, HALF, BF16):
        for m, n in ((0, 3), (1, 1), (33, 130)):
            vectors = together(normal(m, dtype=dtype), normal(n, dtype=dtype))
            yield SolvedCase(
                "outer_sum", "tiles_2d", f"{m} {n} {dtype}", vectors, lambda x, y: x[:, None] + y
            )
        for shape in ((0, 5), (3, 0), (3, 1025), (2, 20_000)):
            yield sum_case(f"{shape} {dtype}", normal(*shape, dtype=dtype))
        for m, k, n in ((1, 1, 1), (5, 0, 7), (29, 17, 12), (32, 32, 32)):
            factors = together(normal(m, k, dtype=dtype), normal(k, n, dtype=dtype))
            yield SolvedCase(
                "dot_tile",
                "matmul",
                f"{m} {k} {n} {dtype}",
                factors,
                torch.matmul,
                lambda a, b: a.abs() @ b.abs(),
            )
    for name, view in VIEWS_2D.items():
        yield sum_case(name, viewed(normal(30, 40), view))


def sum_case(name: str, recipe: Any) -> SolvedCase:
    """Sums of rows, in units of the sum of absolute values."""
    return SolvedCase(
        "row_sum",
        "reductions",
        name,
        together(recipe),
        lambda x: x.sum(1),
        lambda x: x.abs().sum(1),
    )


def all_cases() -> Iterator[SolvedCase]:
    """Every case of every exercise."""
    yield from drill_cases()
    yield from elementwise_cases()
    yield from layout_cases()
    yield from row_cases()
    yield from matmul_cases()
    yield from swizzle_cases()
    yield from attention_cases()
