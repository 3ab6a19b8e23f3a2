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
