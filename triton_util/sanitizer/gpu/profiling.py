"""Proton, Triton's profiler, in a program whose kernels run on the CPU: it profiles nothing.

It counts what a GPU did, through a driver that is not there.
"""

from __future__ import annotations

import sys
from typing import Any


def install() -> None:
    """Replace the functions that need a GPU, after `triton.profiler` was imported."""
    for module in (sys.modules["triton.profiler"], sys.modules["triton.profiler.profile"]):
        answers: dict[str, Any] = {"start": _start}
        answers |= dict.fromkeys(("activate", "deactivate", "finalize"), _nothing)
        for name, answer in answers.items():
            if hasattr(module, name):
                setattr(module, name, answer)


def install_viewer() -> None:
    """Show nothing, after `triton.profiler.viewer` was imported."""
    viewer: Any = sys.modules["triton.profiler.viewer"]
    viewer.parse = lambda metrics, filename, *_, **__: (None, list(metrics))
    viewer.print_tree = _nothing


def _start(*_: Any, **__: Any) -> int:
    from triton_util.sanitizer.record import current

    if current.once("proton-was-started"):
        print("tilewise: proton profiles nothing here, because no GPU runs.", file=sys.stderr)
    return 0


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, because there is nothing to profile."""
