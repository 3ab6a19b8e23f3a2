"""The set-up cell of every lesson calls `prepare()`.

In a notebook, importing `triton_util.client` has already started the judge. Its start takes as
long as that of PyTorch, so both load at once.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from triton_util.client.card import frame
from triton_util.environment import VARIABLE, interpreting
from triton_util.notebook.session import Display


def prepare() -> None:
    """Load PyTorch and Triton, choose where kernels run, and print the choice.

    TRITON_INTERPRET must be set before triton is imported, and only on a machine without a GPU.
    In the interpreter, an access outside a tensor is then an error instead of a crash.
    """
    started = time.monotonic()
    _find_own_commands()
    display = Display()
    display.note(frame("plain", "…", "Loading PyTorch and Triton …", "", "", "Setting up"), "")
    import torch

    if not torch.cuda.is_available() and "triton" not in sys.modules:
        os.environ.setdefault(VARIABLE, "1")  # no GPU: kernels run in the interpreter
    from triton_util.interpreter import guard_launches

    guard_launches()
    place = "on the CPU, in the interpreter" if interpreting() else "on the GPU"
    told = f"Kernels run {place}. The judge is starting in the background."
    ready = f"Ready after {time.monotonic() - started:.0f} s"
    display.show(frame("plain", "◆", ready, told, "", "Set-up"), f"Tilewise: {ready}. {told}")


def _find_own_commands() -> None:
    """Let `!tilewise` find the command of this Python, independent of how Jupyter was started."""
    own = Path(sys.executable).parent
    if shutil.which("tilewise") is None and (own / "tilewise").exists():
        os.environ["PATH"] = os.pathsep.join([str(own), os.environ.get("PATH", "")])
