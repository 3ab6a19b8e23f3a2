"""Attention of one query for each head to keys and values that lie in pages."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch


class Cache(NamedTuple):
    """Keys and values of all sequences as they are meant: (b, n, hkv, d), and which of them count.

    n is what the table has room for. What does not count is 0.
    """

    k: torch.Tensor
    v: torch.Tensor
    counts: torch.Tensor  # (b, n)


def pages_of(k_pages: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return page and slot of each key of each sequence, (b, n); garbage where it is garbage."""
    keys = torch.arange(table.shape[1] * k_pages.shape[1])
    page_size = max(1, k_pages.shape[1])
    return table[:, keys // page_size].long(), (keys % page_size).expand(len(table), -1)


def gathered(
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    pages: torch.Tensor,
    slots: torch.Tensor,
    counts: torch.Tensor,
) -> Cache:
    """Return the rows in these slots of these pages, where they count."""
    page, slot = pages.masked_fill(~counts, 0), slots.masked_fill(~counts, 0)
    shape = (*counts.shape, *k_pages.shape[2:])
    if not counts.any():
        nothing = k_pages.new_zeros(shape)
        return Cache(nothing, nothing, counts)
    hidden = ~counts[..., None, None]
    k, v = (tensor[page, slot].masked_fill(hidden, 0.0) for tensor in (k_pages, v_pages))
    return Cache(k, v, counts)


def cache_of(
    k_pages: torch.Tensor, v_pages: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor
) -> Cache:
    """Return the keys and values that the table and the lengths tell of."""
    pages, slots = pages_of(k_pages, table)
    counts = torch.arange(pages.shape[1]) < lengths[:, None]
    return gathered(k_pages, v_pages, pages, slots, counts)


def head_map(q: torch.Tensor, cache: Cache) -> torch.Tensor:
    """Return the key head of each query head."""
    return torch.arange(q.shape[1]) // max(1, q.shape[1] // cache.k.shape[2])


def scores(q: torch.Tensor, cache: Cache, heads: torch.Tensor | None = None) -> torch.Tensor:
    """Return q @ k.T, (b, hq, n), not scaled; -inf where a key does not count."""
    s = products(q, cache.k, head_map(q, cache) if heads is None else heads)
    return s.masked_fill(~cache.counts[:, None], -float("inf"))


def products(q: torch.Tensor, k: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """Return q @ k.T, (b, hq, n), each query head with the key head that `heads` names.

    One key head after the other: keys laid out anew for each query head fill gigabytes.
    """
    s = q.new_empty(*q.shape[:2], k.shape[1])
    for head in set(heads.tolist()):
        s[:, heads == head] = q[:, heads == head] @ k[:, :, head].transpose(1, 2)
    return s


def weighted(weights: torch.Tensor, v: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """Return weights (b, hq, n) @ v, (b, hq, d), as `products` goes through the heads."""
    result = weights.new_empty(*weights.shape[:2], v.shape[3])
    for head in set(heads.tolist()):
        result[:, heads == head] = weights[:, heads == head] @ v[:, :, head]
    return result


def attend(s: torch.Tensor, cache: Cache, heads: torch.Tensor) -> torch.Tensor:
    """Return softmax(s) @ v, and 0 where no key counts."""
    return weighted(torch.softmax(s, dim=-1).nan_to_num(nan=0.0), cache.v, heads)


def attention_to(q: torch.Tensor, cache: Cache) -> torch.Tensor:
    """Return the attention of each query head to the cache."""
    return attend(scores(q, cache) / math.sqrt(q.shape[-1]), cache, head_map(q, cache))


def decode_attention(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v of the keys that count; 0 where there are none."""
    return attention_to(q, cache_of(k_pages, v_pages, block_table, lengths))


def decode_magnitude(
    q: torch.Tensor,
    k_pages: torch.Tensor,
    v_pages: torch.Tensor,
    block_table: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    """The terms that are summed, widened by the error that the scores pass on through exp."""
    cache = cache_of(k_pages, v_pages, block_table, lengths)
    heads, root = head_map(q, cache), math.sqrt(q.shape[-1])
    weights = torch.softmax(scores(q, cache) / root, dim=-1).nan_to_num(nan=0.0)
    passed_on = 1 + products(q.abs(), cache.k.abs(), heads) / root
    return weighted(weights * passed_on, cache.v.abs(), heads)
