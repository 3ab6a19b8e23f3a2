"""The model: two layers that read the last few characters and compute logits for the next one.

Its operations are launchers that the caller passes in; torch looks up the embeddings and updates
the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from triton_util.capstone.grammar import LETTERS

Launchers = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model, and the settings of its training."""

    context: int  # characters that it reads
    width: int  # numbers for each of them
    hidden: int
    batch: int
    steps: int
    rate: float  # the initial learning rate


TINY = Sizes(context=8, width=8, hidden=64, batch=48, steps=100, rate=0.03)
LARGE = Sizes(context=32, width=32, hidden=2048, batch=8192, steps=500, rate=0.002)


@dataclass(frozen=True)
class Parameters:
    """The trainable tensors."""

    embedding: torch.Tensor  # (letters, width)
    hidden_weight: torch.Tensor  # (hidden, context * width)
    hidden_bias: torch.Tensor  # (hidden,)
    output: torch.Tensor  # (hidden, letters)

    def all(self) -> list[torch.Tensor]:
        return [self.embedding, self.hidden_weight, self.hidden_bias, self.output]


def parameters(sizes: Sizes, generator: torch.Generator, device: str) -> Parameters:
    """Return the initial parameters; the same generator state gives the same ones."""
    inputs = sizes.context * sizes.width
    shapes = ((len(LETTERS), sizes.width), (sizes.hidden, inputs), (sizes.hidden, len(LETTERS)))
    scales = (1.0, (2.0 / inputs) ** 0.5, 0.1 * sizes.hidden**-0.5)
    embedding, weight, output = (
        (torch.randn(shape, generator=generator) * scale).to(device).requires_grad_()
        for shape, scale in zip(shapes, scales, strict=True)
    )
    bias = torch.zeros(sizes.hidden, device=device, requires_grad=True)
    return Parameters(embedding, weight, bias, output)


class _LinearReLU(torch.autograd.Function):
    """The hidden layer, by `linear_bias_relu` and its backward pass."""

    @staticmethod
    def forward(context: Any, launchers: Launchers, *args: torch.Tensor) -> Any:
        x, w, b = args
        out = launchers["linear_bias_relu"](x, w, b)
        context.launchers = launchers
        context.save_for_backward(x, w, out)
        return out

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        x, w, out = context.saved_tensors
        backward = context.launchers["linear_bias_relu_backward"]
        return None, *backward(x, w, out, gradients[0])


class _Product(torch.autograd.Function):
    """The last layer: the backward pass of a product is two more products."""

    @staticmethod
    def forward(context: Any, launchers: Launchers, *args: torch.Tensor) -> Any:
        context.launchers = launchers
        context.save_for_backward(*args)
        return launchers["matmul"](*args)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        a, b = context.saved_tensors
        matmul = context.launchers["matmul"]
        return None, matmul(gradients[0], b.t()), matmul(a.t(), gradients[0])


class _Loss(torch.autograd.Function):
    """The loss of each row, by `cross_entropy` and its backward pass."""

    @staticmethod
    def forward(context: Any, launchers: Launchers, *args: torch.Tensor) -> Any:
        context.launchers = launchers
        context.save_for_backward(*args)
        return launchers["cross_entropy"](*args)

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        logits, targets = context.saved_tensors
        backward = context.launchers["cross_entropy_backward"]
        return None, backward(logits, targets, gradients[0]), None


def _apply(
    function: type[torch.autograd.Function], launchers: Launchers, *args: torch.Tensor
) -> torch.Tensor:
    found: torch.Tensor = function.apply(launchers, *args)  # type: ignore[no-untyped-call]
    return found


def logits_of(learned: Parameters, seen: torch.Tensor, launchers: Launchers | None) -> torch.Tensor:
    """Return the logits (batch, letters) after the characters `seen` (batch, context).

    Without launchers torch computes everything.
    """
    x = learned.embedding[seen].flatten(1)
    if launchers is None:
        hidden = torch.relu(functional.linear(x, learned.hidden_weight, learned.hidden_bias))
        return hidden @ learned.output
    hidden = _apply(_LinearReLU, launchers, x, learned.hidden_weight, learned.hidden_bias)
    return _apply(_Product, launchers, hidden, learned.output)


def mean_loss(
    logits: torch.Tensor, targets: torch.Tensor, launchers: Launchers | None
) -> torch.Tensor:
    """Return the mean of the losses of all rows."""
    if launchers is None:
        return functional.cross_entropy(logits, targets)
    return _apply(_Loss, launchers, logits, targets).mean()
