"""Decoding with scores and weights that are not right, sequence by sequence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from graders.course.decoding.reference import attend, cache_of, decode_attention, head_map, scores
from graders.judge.cases.compare import widened
from graders.judge.records import Evidence

Tensor = torch.Tensor
Found = list[torch.Tensor]


def sequences(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, table: Tensor, lengths: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield q (hq, 1, d), k and v (hq, n, d) of each sequence, as lesson 13 knows them."""
    cache = cache_of(k_pages, v_pages, table, lengths)
    heads = head_map(q, cache)
    for number, length in enumerate(lengths.tolist()):
        k, v = (tensor[number, :length, heads].transpose(0, 1) for tensor in cache[:2])
        yield q[number, :, None], k, v


def of_each_sequence(function: Callable[..., Any]) -> Callable[..., Found]:
    """Return what a mistake in attention computes, sequence by sequence.

    `function` is one of those about attention, with a block size or without one. A sequence in
    which a form of it does not show is right.
    """

    def wrong(*args: Any) -> Found:
        prefix, given = args[:-5], args[-5:]
        each: list[tuple[Tensor, list[Tensor | None]]] = []
        for q, k, v in sequences(*given):
            right = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
            found = function(*prefix, q, k, v, False) if k.shape[1] else []
            forms = found if isinstance(found, list) else [found]
            each.append((right[:, 0], [None if f is None else f[:, 0] for f in forms]))
        count = max((len(forms) for _, forms in each), default=0)
        padded = [(right, forms + [None] * (count - len(forms))) for right, forms in each]
        return [
            torch.stack([right if (f := forms[i]) is None else f for right, forms in padded])
            for i in range(count)
            if any(forms[i] is not None for _, forms in padded)
        ]

    return wrong


def zero_scores_counted(evidence: Evidence) -> bool:
    """Tell whether the sum of weights is too large by whole numbers: exp(0) for each of so many.

    Of lanes that hold no key and have a score of 0, or of parts without keys whose log-sum-exp is
    0. What they add to the values is 0, so a result is right but for its size. Rounding in half
    precision is too coarse to tell.
    """
    q, actual = evidence.args[0], evidence.actual
    known = actual is not None and q.numel() > 0 and q.dtype == torch.float32
    if actual is None or not known or not bool(actual.isfinite().all()):
        return False
    surplus: list[Tensor] = []
    results = zip(sequences(*widened(evidence.args)), actual.double(), strict=True)
    for (query, k, v), got in results:
        if not k.shape[1]:
            continue
        scores_of = query @ k.mT / math.sqrt(query.shape[-1])
        right = (torch.softmax(scores_of, dim=-1) @ v)[:, 0]
        share = (got * right).sum(dim=1) / (right * right).sum(dim=1)
        if not torch.allclose(got, share[:, None] * right, rtol=1e-2, atol=1e-4):
            return False
        surplus.append((1 / share - 1) * torch.exp(scores_of[:, 0]).sum(dim=1))
    counts = torch.stack(surplus) if surplus else torch.zeros(0, 1)
    whole = counts.round()
    each_head_alike = bool((whole == whole[:, :1]).all())
    near = bool(((counts - whole).abs() <= 0.02 * (1 + whole)).all())
    return near and each_head_alike and bool((whole >= 0).all()) and bool((whole > 0).any())


def operands_mixed(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, table: Tensor, lengths: Tensor
) -> Found:
    """Keys serve as values, values as keys, or they have changed places."""
    pairs = ((v_pages, k_pages), (k_pages, k_pages), (v_pages, v_pages))
    return [decode_attention(q, *pair, table, lengths) for pair in pairs]


def other_scales(
    q: Tensor, k_pages: Tensor, v_pages: Tensor, table: Tensor, lengths: Tensor
) -> Found:
    """The scores are multiplied by another number: of keys, of a page, of heads, or by √d."""
    cache = cache_of(k_pages, v_pages, table, lengths)
    if not q.numel() or not cache.counts.any():
        return []
    heads = head_map(q, cache)
    s = scores(q, cache)
    of_length = (lengths.double().clamp(min=1.0) ** -0.5)[:, None, None]
    numbers = (cache.k.shape[1], k_pages.shape[1], q.shape[1], k_pages.shape[2], 64, 128)
    fixed = [number**-0.5 for number in numbers if number != q.shape[-1]]
    factors = [of_length, *fixed, q.shape[-1] ** 0.5, 1e-12]
    return [attend(s * factor, cache, heads) for factor in factors]
