"""softmax, layernorm, softmax_backward and cross_entropy: work on whole rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling

from benchmarks.workloads.baselines import AS_MANY, as_many_bytes, copied, liger
from benchmarks.workloads.checks import whole
from benchmarks.workloads.data import inputs, integers, normal
from benchmarks.workloads.records import Args, Bar, Contender, Workload

# The fraction of copy speed that each size must reach.
SOFTMAX_SIZES = {
    (65536, 4096): 0.97,
    (8192, 4096): 0.90,
    (4096, 16384): 0.90,
    (32768, 1000): 0.90,
    (1024, 262144): 0.60,
    (4096, 32000): 0.80,
    (2048, 50257): 0.80,
}
AGAINST_TORCH = {(65536, 4096): 3.0, (1024, 262144): 1.0, (4096, 32000): 1.0, (2048, 50257): 1.0}
LAYERNORM_SIZES = {
    (65536, 4096): 0.97,
    (8192, 4096): 0.90,
    (4096, 16384): 0.90,
    (32768, 1000): 0.90,
    (8192, 5120): 0.90,
}
IGNORED = -100  # the target of a row that does not count


def softmax(m: int, n: int) -> Workload:
    """Softmax of each row."""

    def reference(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, 1)

    factor = AGAINST_TORCH.get((m, n))
    return Workload(
        f"softmax {m}×{n}",
        "softmax",
        "reductions",
        inputs((m, n)),
        reference,
        whole(reference, 2e-3, n_rows=max(1, 2**24 // n)),
        2 * m * n,
        2 * m * n,
        5 * m * n,
        (
            Bar("copy", SOFTMAX_SIZES.get((m, n), 0.9)),
            *((Bar("torch", factor),) if factor else ()),
        ),
        {"copy": copied, **liger("softmax", "LigerSoftmaxFunction")},
    )


def layernorm(m: int, n: int) -> Workload:
    """Each row normalised."""

    def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, eps: float) -> torch.Tensor:
        return F.layer_norm(x, (x.shape[1],), w, b, eps)

    return Workload(
        f"layernorm {m}×{n}",
        "layernorm",
        "reductions",
        lambda seed: (*inputs((m, n), (n,), (n,))(seed), 1e-5),
        reference,
        whole(reference, 2e-3, n_rows=max(1, 2**24 // n)),
        2 * m * n + 4 * n,
        2 * m * n,
        8 * m * n,
        (
            Bar("copy", LAYERNORM_SIZES.get((m, n), 0.9)),
            *((Bar("torch", 1.4),) if m == 65536 else ()),
        ),
        {"copy": copied, **liger("layer_norm", "LigerLayerNormFunction")},
    )


def softmax_backward(m: int = 65536, n: int = 4096) -> Workload:
    """The gradient of a softmax."""

    def reference(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
        return torch._softmax_backward_data(dy, y, 1, y.dtype)

    def make(seed: int) -> Args:
        x, dy = inputs((m, n), (m, n))(seed)
        return torch.softmax(x, 1), dy

    return Workload(
        f"softmax_backward {m}×{n}",
        "softmax_backward",
        "autograd",
        make,
        reference,
        whole(reference, 2e-3, n_rows=max(1, 2**24 // n), sliced=2),
        4 * m * n,
        2 * m * n,
        4 * m * n,
        (Bar(AS_MANY, 0.95),),
        as_many_bytes(6 * m * n),
    )


def liger_losses(apply: Callable[..., Any]) -> Contender:
    """Liger's loss of each row: no weights, nothing smoothed, no mean."""
    return lambda logits, targets: apply(
        logits, targets, None, IGNORED, 0.0, 0.0, "none", None, False
    )[0]


def cross_entropy(m: int = 8192, n: int = 128256) -> Workload:
    """The loss of each row; a few rows do not count."""

    def reference(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits, targets, reduction="none", ignore_index=IGNORED)

    def make(seed: int) -> Args:
        targets = integers(seed, n, m, dtype=torch.int64, part=1)
        targets[::512] = IGNORED
        return normal(seed, m, n), targets

    n_bytes = 2 * (m - len(range(0, m, 512))) * n + 12 * m
    # Liger's losses are rounded to fp16.
    return Workload(
        f"cross_entropy {m}×{n}",
        "cross_entropy",
        "capstone",
        make,
        reference,
        whole(reference, 1e-3, n_rows=max(1, 2**26 // n), sliced=2),
        n_bytes - 4 * m,
        4 * m,
        5 * m * n,
        (Bar(AS_MANY, 0.90), Bar("Liger-Kernel", 1.0)),
        {
            **as_many_bytes(n_bytes),
            **liger("cross_entropy", "LigerCrossEntropyFunction", liger_losses),
        },
    )


def all_here() -> Iterator[Workload]:
    """All of them."""
    for size in SOFTMAX_SIZES:
        yield softmax(*size)
    for size in LAYERNORM_SIZES:
        yield layernorm(*size)
    yield softmax_backward()
    loss = cross_entropy()
    if loss.solutions():  # an exercise that this checkout may not have yet
        yield loss
