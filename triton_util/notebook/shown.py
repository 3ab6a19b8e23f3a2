"""What the notebook shows now, and when its cells ran; a kernel cannot know this itself.

A kernel gets the text of a cell when the cell is run, and no later edits. The course's JupyterLab
extension sends the texts of all code cells just before a cell with a check is run (`tell`). Other
front ends send nothing, and then the texts are unknown.
"""

from __future__ import annotations

import sys
import time
from typing import Any

_told: tuple[int, tuple[str, ...]] | None = None  # the number of the execution, and the texts
_ran: dict[int, float] = {}


def tell(texts: list[str]) -> None:
    """Store the texts that the notebook shows; they are valid for the next cell that runs."""
    global _told
    _told = _inputs(sys.modules["IPython"].get_ipython()), tuple(texts)


def texts(shell: Any) -> tuple[str, ...] | None:
    """What the notebook showed when the running cell was sent; None if unknown."""
    if _told is None or _told[0] != _inputs(shell) - 1:
        return None
    return _told[1]


def _inputs(shell: Any) -> int:
    """How many inputs there were; while no cell runs, the number of the next input.

    Some versions of IPython increase their own count before a cell runs, others after it.
    """
    return len(shell.history_manager.input_hist_raw)


def mark(text: str) -> str:
    """A short number that identifies the text of a cell: FNV-1a. The JupyterLab extension computes
    it too, to see whether a card still matches what the notebook shows.
    """
    found = 0x811C9DC5
    for byte in text.strip().encode("utf-8", "replace"):
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{found:08x}"


def watch_the_clock(shell: Any) -> None:
    """From now on record when each cell is run."""

    def note(_info: Any) -> None:
        _ran[_inputs(shell)] = time.time()

    _ran[_inputs(shell) - 1] = time.time()  # the cell with our import is already running
    shell.events.register("pre_run_cell", note)


def run_times() -> dict[int, float]:
    """When each cell was run, by its number; cells before `watch_the_clock` are missing."""
    return _ran
