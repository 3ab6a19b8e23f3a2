"""The backward pass of a row-wise softmax and of a linear layer with ReLU."""

from __future__ import annotations

import torch

Three = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def softmax_backward(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Return y * (dy - sum(dy * y)), the sum along each row."""
    return y * (dy - (dy * y).sum(dim=1, keepdim=True))


def softmax_backward_magnitude(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Return the absolute terms of the difference and of the sum in it."""
    return y.abs() * (dy.abs() + (dy * y).abs().sum(dim=1, keepdim=True))


def passed(out: torch.Tensor, dout: torch.Tensor) -> torch.Tensor:
    """Return dout where the ReLU let it pass, and 0 elsewhere."""
    return torch.where(out > 0, dout, torch.zeros_like(dout))


def layer_gradients(g: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Three:
    """Return (dx, dw, db) of x @ w.T + b, where g is the gradient of that."""
    return g @ w, g.t() @ x, g.sum(dim=0)


def layer_backward(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Three:
    """Return (dx, dw, db) of out = relu(x @ w.T + b)."""
    return layer_gradients(passed(out, dout), x, w)


def layer_terms(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Three:
    """Return for each of the three what the absolute terms of the sums add up to."""
    return layer_gradients(passed(out, dout).abs(), x.abs(), w.abs())
