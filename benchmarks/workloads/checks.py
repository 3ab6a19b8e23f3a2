"""Checks of outputs, against float32 arithmetic of torch on the inputs of the round."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.workloads.records import Args, Check, Contender


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


def widened(x: object) -> object:
    """A tensor of floating-point numbers in float32; anything else as it is."""
    return x.float() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def whole(reference: Contender, tolerance: float, n_rows: int = 4096, sliced: int = 1) -> Check:
    """A check of every element, in slices of rows so that float32 copies stay small.

    The first `sliced` inputs have a row for each row of the output.
    """

    def check(args: Args, actual: torch.Tensor) -> str:
        if actual.shape[0] != args[0].shape[0]:
            return f"{actual.shape[0]} rows instead of {args[0].shape[0]}"
        for start in range(0, args[0].shape[0], n_rows):
            part = slice(start, start + n_rows)
            mine = [widened(x[part]) for x in args[:sliced]]
            expected = reference(*mine, *map(widened, args[sliced:]))
            complaint = differs(actual[part], expected, tolerance)
            if complaint:
                return complaint
        return ""

    return check


def some_lines(reference: Contender, tolerance: float) -> Check:
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


def only(chosen: Callable[[Args], Args], check: Check) -> Check:
    """A check that sees what is chosen of the inputs."""
    return lambda args, actual: check(chosen(args), actual)


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


def equal_to(reference: Contender) -> Check:
    """A check that every bit is right."""
    return lambda args, actual: (
        "" if torch.equal(actual, reference(*args)) else "not equal bit for bit"
    )
