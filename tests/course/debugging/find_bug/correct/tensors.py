"""Compares tensors of float64, with NaN equal to NaN."""

import torch


def find_bug(run):
    generator = torch.Generator().manual_seed(1)
    for n in [*range(67), 128, 255, 256, 257, 1000]:
        x = torch.randn(n, generator=generator, dtype=torch.float64)
        if n > 2:
            x[0], x[1], x[2] = float("nan"), float("inf"), -float("inf")
        copied = torch.tensor(run(x.tolist()), dtype=torch.float64)
        if copied.shape != x.shape or not torch.allclose(copied, x, 0.0, 0.0, equal_nan=True):
            return 1
    return 0
