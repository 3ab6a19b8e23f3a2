"""An explanation: the data of `facts`, shown as a card or as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triton_util.explain.facts import Explained, Made
from triton_util.explain.page import explanation_html
from triton_util.explain.ptx import facts_by_line
from triton_util.explain.text import explanation_text
from triton_util.hardware import ARCHITECTURES
from triton_util.notebook.source import Gathered

FILENAME = "<explained>"


class Explanation(Explained):
    """What `explain` found. Shown as a card in a notebook, as text elsewhere."""

    def __str__(self) -> str:
        return explanation_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explanation(source: Gathered, answer: Mapping[str, Any]) -> Explanation:
    """Read the answer of the compiling process."""
    lines = tuple(source.text.split("\n"))
    places = tuple(str(source.place(n) or "") for n in range(1, len(lines) + 1))
    made = tuple(_made(item) for item in answer["kernels"])
    return Explanation(source.launcher, lines, places, made, answer["left_out"])


def _made(item: Mapping[str, Any]) -> Made:
    known = {name: item[name] for name in ("kernel", "line", "constants", "arguments")}
    target = ARCHITECTURES[item["target"]]
    if "error" in item:
        return Made(target=target, error=item["error"], **known)
    figures = (
        *("ptx", "num_warps", "num_stages", "registers", "shared_bytes"),
        *("spill_store_bytes", "spill_load_bytes"),
    )
    return Made(
        target=target,
        lines=facts_by_line(item["ptx"], FILENAME),
        **known,
        **{name: item[name] for name in figures},
    )
