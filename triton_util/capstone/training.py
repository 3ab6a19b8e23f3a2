"""Train the model, and generate text with it."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import torch

from triton_util.capstone import grammar
from triton_util.capstone.model import (
    Launchers,
    Parameters,
    Sizes,
    logits_of,
    mean_loss,
    parameters,
)

SLOW_STEPS = 3  # the first steps, in which kernels are compiled


@dataclass(frozen=True)
class Trained:
    """The result of a training: the loss of each step, and the model."""

    losses: tuple[float, ...]
    milliseconds: float  # median time of a step
    learned: Parameters
    sizes: Sizes


def train(sizes: Sizes, launchers: Launchers | None = None, device: str = "cpu") -> Trained:
    """Train a new model; without launchers torch computes everything.

    The text, the first parameters and the batches are the same in each call.
    """
    data = grammar.numbers(grammar.text()).to(device)
    generator = torch.Generator().manual_seed(0)
    learned = parameters(sizes, generator, device)
    optimiser = torch.optim.Adam(learned.all(), lr=sizes.rate)
    reach = torch.arange(sizes.context, device=device)
    losses, times = [], []
    for step in range(sizes.steps):
        for group in optimiser.param_groups:  # the rate falls after half of the steps
            group["lr"] = sizes.rate * min(1.0, 2.0 * (1.0 - step / sizes.steps))
        places = torch.randint(len(data) - sizes.context, (sizes.batch,), generator=generator)
        places = places.to(device)
        began = _now(device)
        logits = logits_of(learned, data[places[:, None] + reach], launchers)
        loss = mean_loss(logits, data[places + sizes.context], launchers)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        times.append(1e3 * (_now(device) - began))
        losses.append(loss.item())
    return Trained(tuple(losses), statistics.median(times[SLOW_STEPS:] or times), learned, sizes)


def _now(device: str) -> float:
    """The time in seconds, after all launched work is done."""
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter()


@torch.no_grad()
def write(
    trained: Trained, launchers: Launchers | None = None, length: int = 160, seed: int = 0
) -> str:
    """Return the requested number of characters, each drawn by its probability.

    The logits are doubled first, which makes likely characters likelier.
    """
    generator = torch.Generator().manual_seed(seed)
    seen = grammar.numbers(grammar.text()[-trained.sizes.context :])  # ends with a sentence
    device = trained.learned.embedding.device
    made = []
    for _ in range(length):
        logits = 2.0 * logits_of(trained.learned, seen[None].to(device), launchers)
        shares = torch.softmax(logits, 1) if launchers is None else launchers["softmax"](logits)
        chosen = torch.multinomial(shares[0].cpu(), 1, generator=generator)
        made.append(chosen)
        seen = torch.cat([seen[1:], chosen])
    return grammar.letters(torch.cat(made))
