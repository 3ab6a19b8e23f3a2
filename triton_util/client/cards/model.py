"""The model kernel on a passed card: folded, with what differs from the learner's."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_util.client.card import inline

HEAD = "The model kernel, and what differs from yours"


@dataclass(frozen=True)
class ModelKernel:
    """The source of the model kernel, and sentences on what differs from the learner's."""

    source: str
    differs: tuple[str, ...]


def read_model(told: Mapping[str, Any] | None) -> ModelKernel | None:
    """The judge's answer; None if there is no model to show."""
    if not told:
        return None
    return ModelKernel(str(told["source"]), tuple(map(str, told["differs"])))


def model_html(model: ModelKernel) -> str:
    """The model, folded: Tab reaches the summary, and Enter opens it."""
    items = "".join(f"<li>{inline(line)}</li>" for line in model.differs)
    differs = f"<p>What differs from yours:</p><ul>{items}</ul>" if items else ""
    return (
        f'<details class="tw-model"><summary>{HEAD}</summary>{differs}'
        f'<pre tabindex="0" role="region" aria-label="The model kernel">'
        f"{html.escape(model.source)}</pre></details>"
    )


def model_lines(model: ModelKernel) -> list[str]:
    """The same as text; a line with line breaks is code."""
    differs = [f"- {line}" for line in model.differs]
    head = ["What differs from the model kernel:", *differs] if differs else []
    return [*head, f"The model kernel:\n{model.source}"]
