"""Compare the gradients of solutions/autograd.py with torch's, in the course's interpreter.

`python tests/solutions/run_autograd.py` prints a line for each case: its name
and the largest error, as a multiple of what the dtype allows. Inputs are seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from solutions.autograd import linear_bias_relu_backward, softmax_backward
from triton_util.interpreter import interpret

ALLOWED = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
ROWS = [(1, 1), (3, 5), (4, 64), (2, 129), (2, 5000), (0, 4), (3, 0)]
LAYERS = [(1, 1, 1), (33, 17, 40), (64, 32, 32), (5, 70, 3), (0, 4, 4), (4, 0, 5), (4, 5, 0)]


def softmax_cases(dtype: torch.dtype) -> Iterator[tuple[str, float]]:
    """Rows of many lengths, dense, expanded and transposed."""
    for m, n in ROWS:
        x = torch.randn(m, n, dtype=torch.float64)
        y = torch.softmax(x, 1).to(dtype)
        dense, row = torch.randn(m, n).to(dtype), torch.randn(1, n).to(dtype)
        turned = torch.randn(n, m).to(dtype).t()
        for name, dy in (("dense", dense), ("expanded", row.expand(m, n)), ("turned", turned)):
            p, g = y.double(), dy.double()
            expected = p * (g - (g * p).sum(1, keepdim=True))
            scale = p * (g.abs() + (g * p).abs().sum(1, keepdim=True))
            got = softmax_backward(y, dy)
            yield f"softmax {name} {m}x{n} {dtype}", error(got, expected, scale, dtype)


def layer_cases(dtype: torch.dtype) -> Iterator[tuple[str, float]]:
    """Layers of many sizes; dout dense, and expanded as that of a sum."""
    for m, k, n in LAYERS:
        x, w = torch.randn(m, k).to(dtype), torch.randn(n, k).to(dtype)
        out = torch.relu(x.double() @ w.double().T + torch.randn(n).double()).to(dtype)
        for name, dout in (
            ("dense", torch.randn(m, n).to(dtype)),
            ("expanded", torch.ones(()).to(dtype).expand(m, n)),
        ):
            g = dout.double() * (out > 0)
            expected = (g @ w.double(), g.T @ x.double(), g.sum(0))
            scales = (g.abs() @ w.double().abs(), g.abs().T @ x.double().abs(), g.abs().sum(0))
            got = linear_bias_relu_backward(x, w, out, dout)
            for part, *three in zip(("dx", "dw", "db"), got, expected, scales, strict=True):
                yield f"{part} {name} {m}x{k}x{n} {dtype}", error(*three, dtype)


def error(
    actual: torch.Tensor, expected: torch.Tensor, scale: torch.Tensor, dtype: torch.dtype
) -> float:
    """The largest error, as a multiple of what rounding allows; inf for another form."""
    if actual.shape != expected.shape or actual.dtype != dtype or not actual.is_contiguous():
        return float("inf")
    if not actual.numel():
        return 0.0
    room = ALLOWED[dtype] * scale + 1e-7
    return torch.nan_to_num((actual.double() - expected).abs() / room, nan=torch.inf).max().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    for dtype in ALLOWED:
        with interpret():
            found = [*softmax_cases(dtype), *layer_cases(dtype)]
        for name, worst in found:
            print(f"{worst:.3f} {name}")
