"""Inputs: new for each round, and the same whenever a round's number comes again."""

from __future__ import annotations

from collections.abc import Callable

import torch

from benchmarks.workloads.records import Args

HALF = torch.float16
DEVICE = "cuda"  # where inputs are made; tests make small ones on the CPU


def random_numbers(seed: int, part: int = 0) -> torch.Generator:
    """A generator of its own for each seed and each part of the inputs."""
    return torch.Generator(device=DEVICE).manual_seed(1000 * (seed + 100) + part)


def normal(seed: int, *shape: int, dtype: torch.dtype = HALF, part: int = 0) -> torch.Tensor:
    """Signed normal numbers, new for each seed and each part of the inputs."""
    generator = random_numbers(seed, part)
    return torch.randn(shape, generator=generator, device=DEVICE, dtype=dtype)


def integers(
    seed: int, high: int, *shape: int, dtype: torch.dtype = torch.int32, part: int = 0
) -> torch.Tensor:
    """Integers from 0 to high - 1, each as likely as any other."""
    generator = random_numbers(seed, part)
    return torch.randint(high, shape, generator=generator, device=DEVICE, dtype=dtype)


def inputs(*shapes: tuple[int, ...], dtype: torch.dtype = HALF) -> Callable[[int], Args]:
    """A maker of one tensor per shape."""
    return lambda seed: tuple(
        normal(seed, *shape, dtype=dtype, part=part) for part, shape in enumerate(shapes)
    )
