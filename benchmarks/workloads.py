"""What benchmarks/solutions.py times: sizes, baselines, checks, and the bars that must hold.

A workload is one exercise at one size. Its contenders are the solutions (plain and, where
there is one, fast) and the baselines; its bars say how much faster than a baseline the best
solution has to be. Checks compare with float32 arithmetic of torch on the inputs of the round.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling
from torch.nn.attention import SDPBackend, sdpa_kernel

Args = tuple[Any, ...]
HALF = torch.float16


@dataclass(frozen=True)
class Bar:
    """The best solution must be at least `factor` times as fast as `baseline`."""

    baseline: str
    factor: float
    wish: bool = False  # reached for, not required


@dataclass(frozen=True)
class Workload:
    """One exercise at one size; `reference` is both the check and what torch.compile gets."""

    name: str
    exercise: str
    lesson: str
    make_inputs: Callable[[int], Args]
    reference: Callable[..., torch.Tensor]
    check: Callable[[Args, torch.Tensor], str]
    bytes_read: float
    bytes_written: float
    flops: float
    bars: tuple[Bar, ...]
    baselines: Mapping[str, Callable[..., torch.Tensor]] = field(default_factory=dict)
    tensor_cores: bool = False

    def solutions(self) -> dict[str, Callable[..., torch.Tensor]]:
        """The launchers in solutions/ and solutions/fast/, by form."""
        found = {}
        for form, package in (("plain", "solutions"), ("fast", "solutions.fast")):
            try:
                module = importlib.import_module(f"{package}.{self.lesson}")
            except ModuleNotFoundError:
                continue
            if hasattr(module, self.exercise):
                found[form] = getattr(module, self.exercise)
        return found


# ---------------------------------------------------------------------------- inputs


def normal(seed: int, *shape: int, dtype: torch.dtype = HALF, part: int = 0) -> torch.Tensor:
    """Signed normal numbers on the GPU, new for each seed and each part of the inputs."""
    generator = torch.Generator(device="cuda").manual_seed(1000 * (seed + 100) + part)
    return torch.randn(shape, generator=generator, device="cuda", dtype=dtype)


def inputs(*shapes: tuple[int, ...], dtype: torch.dtype = HALF) -> Callable[[int], Args]:
    """A maker of one tensor per shape."""
    return lambda seed: tuple(
        normal(seed, *shape, dtype=dtype, part=part) for part, shape in enumerate(shapes)
    )


# ---------------------------------------------------------------------------- checks


def differs(actual: torch.Tensor, expected: torch.Tensor, tolerance: float) -> str:
    """Say how far `actual` is off, in units of the size of `expected`; "" if within tolerance."""
    if actual.shape != expected.shape:
        return f"shape {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    scale = expected.float().square().mean().sqrt()
    info = torch.finfo(actual.dtype)
    smallest = info.smallest_normal * info.eps  # steps between subnormals cannot be finer
    allowed = tolerance * (expected.float().abs() + scale) + smallest
    excess = ((actual.float() - expected.float()).abs() - allowed).max()
    return "" if excess <= 0 else f"off by {float(excess):.3g} more than allowed"  # NaN: off


def whole(
    reference: Callable[..., torch.Tensor], tolerance: float, n_rows: int = 4096
) -> Callable[[Args, torch.Tensor], str]:
    """A check of every element, in slices of rows so that float32 copies stay small."""

    def check(args: Args, actual: torch.Tensor) -> str:
        x, *others = args
        for start in range(0, x.shape[0], n_rows):
            part = slice(start, start + n_rows)
            wide = (y.float() if isinstance(y, torch.Tensor) else y for y in others)
            complaint = differs(actual[part], reference(x[part].float(), *wide), tolerance)
            if complaint:
                return complaint
        return ""

    return check


def some_lines(
    reference: Callable[..., torch.Tensor], tolerance: float
) -> Callable[[Args, torch.Tensor], str]:
    """A check of a product by 128 random rows and 128 random columns of the result."""

    def check(args: Args, actual: torch.Tensor) -> str:
        a, b, *bias = args
        rows = torch.randint(a.shape[0], (128,), device=a.device)
        by_rows = reference(a[rows].float(), b.float(), *(x.float() for x in bias))
        complaint = differs(actual[rows], by_rows, tolerance)
        cols = torch.randint(actual.shape[1], (128,), device=a.device)
        some_b = b[:, cols] if not bias else b[cols]
        by_cols = reference(a.float(), some_b.float(), *(x[cols].float() for x in bias))
        return complaint or differs(actual[:, cols], by_cols, tolerance)

    return check


def some_queries(args: Args, actual: torch.Tensor) -> str:
    """A check of attention by 64 random queries of 4 random heads."""
    q, k, v, causal = args
    batch, head = (int(torch.randint(extent, ())) for extent in q.shape[:2])
    for offset in range(4):
        where = batch, (head + offset) % q.shape[1]
        queries = torch.randint(q.shape[2], (64,), device=q.device)
        scores = q[where][queries].float() @ k[where].float().T / q.shape[-1] ** 0.5
        if causal:
            keys = torch.arange(k.shape[2], device=q.device)
            scores = scores.masked_fill(keys[None, :] > queries[:, None], -float("inf"))
        expected = torch.softmax(scores, 1) @ v[where].float()
        complaint = differs(actual[where][queries], expected, 4e-3)
        if complaint:
            return complaint
    return ""


def equal_to(reference: Callable[..., torch.Tensor]) -> Callable[[Args, torch.Tensor], str]:
    """A check that every bit is right."""
    return lambda args, actual: (
        "" if torch.equal(actual, reference(*args)) else "not equal bit for bit"
    )


# ---------------------------------------------------------------------------- baselines


def copied(x: torch.Tensor, *_others: Any) -> torch.Tensor:
    """`Tensor.copy_` of the same tensor: what all memory-bound kernels are measured against."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device).copy_(x)


def liger(module: str, function: str) -> dict[str, Callable[..., torch.Tensor]]:
    """The same kernel of Liger-Kernel, where that is installed."""
    try:
        found = getattr(importlib.import_module(f"liger_kernel.ops.{module}"), function)
    except (ImportError, AttributeError):
        return {}
    return {"Liger-Kernel": found.apply}


def with_backend(backend: SDPBackend) -> Callable[..., torch.Tensor]:
    """torch's attention, held to one backend."""

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attend


# ---------------------------------------------------------------------------- the workloads


def elementwise() -> Iterator[Workload]:
    """vector_add and gelu."""
    n = 2**28
    yield Workload(
        "vector_add fp32, 2^28",
        "vector_add",
        "vector_add",
        inputs((n,), (n,), dtype=torch.float32),
        torch.add,
        equal_to(torch.add),
        8 * n,
        4 * n,
        n,
        (Bar("torch", 0.99),),
    )

    def gelu(x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x, approximate="tanh")

    m, n = 65536, 4096
    yield Workload(
        f"gelu {m}×{n}",
        "gelu",
        "fusion",
        inputs((m, n)),
        gelu,
        whole(gelu, 1e-3),
        2 * m * n,
        2 * m * n,
        10 * m * n,
        (Bar("copy", 0.97), Bar("torch", 1.15)),
        {"copy": copied},
    )


ROW_SIZES = {
    (65536, 4096): 0.97,
    (8192, 4096): 0.90,
    (4096, 16384): 0.90,
    (32768, 1000): 0.90,
    (1024, 262144): 0.60,
}


def rows() -> Iterator[Workload]:
    """softmax and layernorm, by the fraction of copy speed that each size must reach."""

    def softmax(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)

    def layernorm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
        return F.layer_norm(x, (x.shape[1],), w, b, eps)

    for (m, n), of_copy in ROW_SIZES.items():
        against_torch = {65536: (Bar("torch", 3.0),), 1024: (Bar("torch", 1.0),)}.get(m, ())
        yield Workload(
            f"softmax {m}×{n}",
            "softmax",
            "reductions",
            inputs((m, n)),
            softmax,
            whole(softmax, 2e-3, n_rows=2**24 // n),
            2 * m * n,
            2 * m * n,
            5 * m * n,
            (Bar("copy", of_copy), *against_torch),
            {"copy": copied, **liger("softmax", "LigerSoftmaxFunction")},
        )
    for (m, n), of_copy in list(ROW_SIZES.items())[:-1]:
        yield Workload(
            f"layernorm {m}×{n}",
            "layernorm",
            "reductions",
            lambda seed, m=m, n=n: (*inputs((m, n), (n,), (n,))(seed), 1e-5),
            layernorm,
            whole(layernorm, 2e-3, n_rows=2**24 // n),
            2 * m * n + 4 * n,
            2 * m * n,
            8 * m * n,
            (Bar("copy", of_copy), *((Bar("torch", 1.4),) if m == 65536 else ())),
            {"copy": copied, **liger("layer_norm", "LigerLayerNormFunction")},
        )


def layouts() -> Iterator[Workload]:
    """transpose, and strided_copy of the left half of wider rows."""
    n = 16384
    size = 4 * n * n

    def turned(x: torch.Tensor) -> torch.Tensor:
        return x.T.contiguous()

    def cloned(x: torch.Tensor) -> torch.Tensor:
        return x.contiguous()

    yield Workload(
        f"transpose fp32, {n}²",
        "transpose",
        "strides",
        inputs((n, n), dtype=torch.float32),
        turned,
        equal_to(turned),
        size,
        size,
        0,
        (Bar("copy", 0.95),),
        {"copy": copied},
    )
    yield Workload(
        f"strided_copy fp32, left half of {n}×{2 * n}",
        "strided_copy",
        "strides",
        lambda seed: (normal(seed, n, 2 * n, dtype=torch.float32)[:, :n],),
        cloned,
        equal_to(cloned),
        size,
        size,
        0,
        (Bar("copy", 0.95),),
        {
            "copy": copied,
            "copy of a contiguous tensor": lambda x: copied(x.as_strided(x.shape, (n, 1))),
        },
    )


def products() -> Iterator[Workload]:
    """The matrix products, against cuBLAS."""
    for exercise, lesson in (("grouped_matmul", "swizzling"), ("autotuned_matmul", "autotuning")):
        for n in (4096, 8192):
            yield Workload(
                f"{exercise} {n}",
                exercise,
                lesson,
                inputs((n, n), (n, n)),
                torch.matmul,
                some_lines(torch.matmul, 2e-3),
                4 * n * n,
                2 * n * n,
                2 * n**3,
                (Bar("torch", 1.00),),
                tensor_cores=True,
            )

    def linear(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(F.linear(x, w, b))

    m, n, k = 8192, 4096, 4096
    yield Workload(
        f"linear_bias_relu {m}×{n}×{k}",
        "linear_bias_relu",
        "matmul",
        inputs((m, k), (n, k), (n,)),
        linear,
        some_lines(linear, 2e-3),
        2 * (m * k + n * k + n),
        2 * m * n,
        2 * m * n * k,
        (Bar("torch", 1.05),),
        tensor_cores=True,
    )


def attentions() -> Iterator[Workload]:
    """Attention, against two backends of torch."""
    shape = (4, 32, 4096, 128)
    size = 4 * 32 * 4096 * 128
    flash = with_backend(SDPBackend.FLASH_ATTENTION)
    cudnn = with_backend(SDPBackend.CUDNN_ATTENTION)
    for causal in (False, True):
        yield Workload(
            f"attention B4 H32 S4096 D128 {'causal' if causal else 'full'}",
            "attention",
            "attention",
            lambda seed, causal=causal: (*inputs(shape, shape, shape)(seed), causal),
            flash,
            some_queries,
            6 * size,
            2 * size,
            4 * size * 4096 / (2 if causal else 1),
            (Bar("torch flash", 1.5), Bar("torch cuDNN", 1.0, wish=True)),
            {"torch flash": flash, "torch cuDNN": cudnn},
            tensor_cores=True,
        )


def all_workloads() -> Iterator[Workload]:
    """Every line of the table."""
    yield from elementwise()
    yield from rows()
    yield from layouts()
    yield from products()
    yield from attentions()
