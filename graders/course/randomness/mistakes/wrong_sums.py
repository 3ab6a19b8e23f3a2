"""Dropout that makes something else of the right random numbers."""

from __future__ import annotations

import torch

from graders.course.common.expected import each, read_as
from graders.course.randomness.reference import dropout_residual, elements, kept, uniform
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence

Found = list[torch.Tensor]


def _numbers(x: torch.Tensor, p: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The number of each element, and p and 1 - p, in float32."""
    return uniform(seed, elements(x)), torch.tensor([p, 1 - p], dtype=torch.float32)


def inverted(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Dropped is what should be kept, scaled as if nothing had happened or not."""
    keep = ~kept(x, p, seed)
    return [torch.where(keep, residual + part, residual) for part in (x / (1 - p), x)]


def strictly_greater(
    x: torch.Tensor, residual: torch.Tensor, p: float, seed: int
) -> torch.Tensor | None:
    """Only numbers above p are kept."""
    numbers, bounds = _numbers(x, p, seed)
    if not bool((numbers == bounds[0]).any()):
        return None
    return torch.where(numbers > bounds[0], residual + x / (1 - p), residual)


def below_share_kept(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Kept is what lies below 1 - p, or what lies above."""
    numbers, bounds = _numbers(x, p, seed)
    gained = residual + x / (1 - p)
    return [
        torch.where(keep, gained, residual) for keep in (numbers < bounds[1], numbers >= bounds[1])
    ]


def p_as_share_kept(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """The share p is kept, and divided by p."""
    numbers, bounds = _numbers(x, p, seed)
    choices = (numbers < bounds[0], numbers >= bounds[1])
    return [torch.where(keep, residual + x / p, residual) for keep in choices]


def not_scaled(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    """residual + x where x is kept."""
    return torch.where(kept(x, p, seed), residual + x, residual)


def divided_by_p(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    return not_scaled(x / p, residual, p, seed)


def multiplied(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """x times 1 - p, times p, or times 1 + p."""
    return [not_scaled(x * factor, residual, p, seed) for factor in (1 - p, p, 1 + p)]


def residual_scaled(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Where x is kept, or everywhere, the residual is divided as well."""
    keep, rest = kept(x, p, seed), residual / (1 - p)
    both = (x + residual) / (1 - p)
    return [torch.where(keep, both, residual), torch.where(keep, both, rest)]


def residual_dropped(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Where x is dropped, there is nothing."""
    keep = kept(x, p, seed)
    sums = (residual + x / (1 - p), (residual + x) / (1 - p), residual + x)
    return [torch.where(keep, total, 0.0) for total in sums]


def residual_missing(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Dropout of x alone, or the residual only where x is dropped."""
    keep = kept(x, p, seed)
    return [torch.where(keep, x / (1 - p), other) for other in (torch.zeros_like(x), residual)]


def tensors_exchanged(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    return dropout_residual(residual, x, p, seed)


def subtracted(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """A minus stands where the sum has a plus."""
    right = dropout_residual(x, residual, p, seed)
    return [2 * residual - right, right - 2 * residual]


def nothing_dropped(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """Everything is kept, scaled or not."""
    return [residual + x / (1 - p), residual + x]


def all_dropped(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    return residual.clone()


def dropped_by_product(evidence: Evidence) -> bool:
    """Tell whether NaN stands exactly where a dropped x is NaN or infinite: x times 0."""
    x, residual, p, seed = widened(evidence.args)
    if evidence.actual is None:
        return False
    strange = evidence.actual.isnan() & ~evidence.expected.isnan()
    left = ~kept(x, p, seed) & ~x.isfinite() & ~residual.isnan()
    return bool(strange.any()) and torch.equal(strange, left)


def terms_in_half(x: torch.Tensor, residual: torch.Tensor, p: float, seed: int) -> Found:
    """What is added, a factor of it, or the residual was rounded to 16 bits on the way."""
    keep, share = kept(x, p, seed), 1 - torch.tensor(p, dtype=torch.float32)
    found = []
    for half in (torch.float16, torch.bfloat16):
        pairs = (
            ((x.float() / share).to(half), residual),
            (x.to(half).float() / share, residual),
            (x.float() / share, residual.to(half)),
        )
        sums = [(part.double(), rest.double()) for part, rest in pairs]
        found += [torch.where(keep, rest + part, rest) for part, rest in sums]
    return found


def strides_mixed(*args: object) -> Found:
    """One of the two tensors is read with the strides of the other."""
    x, residual, p, seed = args
    assert isinstance(x, torch.Tensor)
    assert isinstance(residual, torch.Tensor)
    if x.stride() == residual.stride():
        return []
    shape = tuple(x.shape)
    like_x, like_residual = (
        read_as(residual, shape, x.stride()),
        read_as(x, shape, residual.stride()),
    )
    pairs = (
        (None if like_x is None else (x, like_x)),
        (None if like_residual is None else (like_residual, residual)),
    )
    return [dropout_residual(*widened((*pair, p, seed))) for pair in each(pairs)]
