"""Figures of training a model: the gradient of a row of logits, and the loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from triton_util.figures.drawing import INK, LOOKS, PANEL, Drawing

LINES = (("-", 2.6, "#2f6fa7"), ("--", 1.6, INK), (":", 2.0, "#c2571a"))
MOST_CLASSES = 12


def row_gradient(logits: Sequence[float], target: int) -> Drawing:
    """The probabilities of one row of logits, and beside them softmax - one-hot.

    Raises ValueError for more than 12 classes.
    """
    if len(logits) > MOST_CLASSES:
        raise ValueError(f"this picture shows at most {MOST_CLASSES} classes")
    weights = [math.exp(logit - max(logits)) for logit in logits]
    shares = [weight / sum(weights) for weight in weights]
    pulls = [share - (place == target) for place, share in enumerate(shares)]
    figure = Figure(figsize=(8.6, 3.0), facecolor=PANEL)
    for left, title, heights in ((0.06, "shares", shares), (0.55, "softmax - one-hot", pulls)):
        axes = figure.add_axes((left, 0.17, 0.42, 0.68), facecolor=PANEL)
        _bars(axes, title, heights, target)
    told = "; ".join(
        f"class {place}{' (the target)' if place == target else ''}: share {share:.2f}, "
        f"gradient {pull:+.2f}"
        for place, (share, pull) in enumerate(zip(shares, pulls, strict=True))
    )
    return Drawing(figure, f"One row of logits with target {target}. {told}.")


def _bars(axes: Axes, title: str, heights: Sequence[float], target: int) -> None:
    for place, height in enumerate(heights):
        face, hatch = LOOKS["second" if place == target else "active"]
        axes.bar(place, height, color=face, hatch=hatch, edgecolor=INK)
        above = height >= 0
        axes.annotate(
            f"{height:.2f}",
            (place, height),
            xytext=(0, 3 if above else -3),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=9,
            color=INK,
        )
    axes.axhline(0, color=INK, lw=0.8)
    axes.margins(y=0.18)
    axes.set_title(title, fontsize=11, color=INK)
    axes.set_xticks(range(len(heights)))
    axes.set_xticklabels(
        [f"{place}\ntarget" if place == target else str(place) for place in range(len(heights))]
    )


def loss_curves(losses: Mapping[str, Sequence[float]]) -> Drawing:
    """The loss of each step of up to three trainings, by their names."""
    if not 0 < len(losses) <= len(LINES):
        raise ValueError(f"this picture shows one to {len(LINES)} trainings")
    figure = Figure(figsize=(8.6, 3.4), facecolor=PANEL)
    axes = figure.add_axes((0.08, 0.16, 0.89, 0.73), facecolor=PANEL)
    told = []
    for (style, width, colour), (name, values) in zip(LINES, losses.items(), strict=False):
        axes.plot(range(1, len(values) + 1), values, style, lw=width, color=colour, label=name)
        told.append(
            f"{name}: from {values[0]:.2f} in step 1 to {values[-1]:.2f} in step {len(values)}"
        )
    axes.set_xlabel("step", color=INK)
    axes.set_title("mean loss of a batch", fontsize=11, color=INK)
    axes.set_ylim(bottom=0)
    axes.grid(True, color="#cfcbc0", lw=0.6)
    axes.legend(loc="upper right", fontsize=9, facecolor=PANEL, edgecolor=INK)
    return Drawing(figure, f"Loss over steps. {'; '.join(told)}.")
