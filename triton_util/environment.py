"""Which engine will run the kernels: the GPU, or the interpreter on the CPU?

Triton reads `TRITON_INTERPRET` when a kernel is decorated, so the variable must be set before
triton is imported. In a notebook on a machine without a GPU only the interpreter can work, so
`prepare_notebook` chooses it and says so. Scripts, tests and the judge's own processes choose
for themselves.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

VARIABLE = "TRITON_INTERPRET"
_TRUE = frozenset({"1", "true", "on", "yes", "y"})
_NOTE = (
    "Tilewise: no CUDA GPU was found, so TRITON_INTERPRET=1 is set for this notebook: "
    "kernels run on the CPU, in the interpreter."
)


def interpreting() -> bool:
    """Whether kernels that are decorated now run in the interpreter on the CPU."""
    return os.environ.get(VARIABLE, "").strip().lower() in _TRUE


def in_notebook() -> bool:
    """Whether this process is a Jupyter kernel, which can show HTML."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def gpu_nodes() -> list[str]:
    """Device files that exist only on a machine with a GPU; [] also if CUDA is set to see none.

    It looks at files and makes no CUDA call: a process that has initialised CUDA can no longer be
    forked, and importing torch alone takes a second.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return []
    patterns = ("nvidia[0-9]*", "dxg", "kfd")
    return [str(node) for pattern in patterns for node in Path("/dev").glob(pattern)]


def prepare_notebook() -> None:
    """In a notebook without a GPU: choose the interpreter, and say so once.

    Does nothing when the variable is set (to any value), when triton is already imported (too
    late to choose), when there is a GPU, or outside a notebook.
    """
    if VARIABLE in os.environ or "triton" in sys.modules or not in_notebook() or gpu_nodes():
        return
    os.environ[VARIABLE] = "1"
    print(_NOTE)
