"""Attention of queries to keys and values."""

from __future__ import annotations

import math

import torch


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return q @ k.T, not scaled."""
    return q @ k.transpose(-1, -2)


def hide(s: torch.Tensor, causal: bool, diagonal: int = 1) -> torch.Tensor:
    """Return the scores with the future set to -inf, from this diagonal on."""
    future = torch.ones(s.shape[-2:]).triu(diagonal).bool()
    return s.masked_fill(future, -float("inf")) if causal else s


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v."""
    return attend(hide(scores(q, k) / math.sqrt(q.shape[-1]), causal), v)


def attend(s: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(s, dim=-1) @ v


def magnitude(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The terms that are summed, widened by the error that the scores pass on through exp."""
    root = math.sqrt(q.shape[-1])
    weights = torch.softmax(hide(scores(q, k) / root, causal), dim=-1)
    passed_on = 1 + scores(q.abs(), k.abs()) / root
    return (weights * passed_on) @ v.abs()


def attention_lse(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(s) @ v and log(sum(exp(s))), where s are the scaled scores that are seen."""
    s = hide(scores(q, k) / math.sqrt(q.shape[-1]), causal)
    return attend(s, v), torch.logsumexp(s, dim=-1)


def lse_magnitude(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """An error of a score passes on as it is: the largest sum of absolute terms, and the log."""
    lse = attention_lse(q, k, v, causal)[1]
    terms = hide(scores(q.abs(), k.abs()) / math.sqrt(q.shape[-1]), causal)
    largest = terms.amax(dim=-1) if terms.shape[-1] else torch.zeros_like(lse)
    return 1 + largest + lse.abs()
