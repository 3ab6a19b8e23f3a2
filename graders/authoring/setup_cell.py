"""The cells that the builder itself writes: the badge, the set-up, the imports.

JupyterLab and Colab show the set-up folded, with its first line visible. So a lesson begins with
its first sentence, not with thirty lines of Python that the learner need not read. The imports are
in the open cell after it.
"""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode

from graders.authoring.rooms import Settings

_SETUP = """\
# @title Run this cell first: it prepares the notebook, and in Colab it installs the course
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("triton_util") is None:
    if "google.colab" not in sys.modules:
        raise ModuleNotFoundError("the course is missing here: start JupyterLab by `make lab`")
    from importlib.metadata import version

    kept = "torch==" + version("torch")  # the build that fits this machine
    install = [sys.executable, "-m", "pip", "install", "--quiet", "git+{address}@{tag}", kept]
    print("Tilewise: installing the course, which takes a minute …")
    if subprocess.run(install).returncode != 0:
        raise RuntimeError("the course could not be installed: pip says above what is missing")
    importlib.invalidate_caches()

from triton_util.client.setup import prepare

prepare()  # starts the judge, loads PyTorch and Triton, and chooses between GPU and interpreter"""

_IMPORTS = """\
import torch
import triton
import triton.language as tl

from triton_util import answer, check, hint, practice, predict, progress, quiz, review, speed"""

FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # JupyterLab, Colab


def setup_source(settings: Settings) -> str:
    """The set-up cell, which works on a laptop, on a cluster and in Colab.

    The part that is the same on every machine is in `triton_util.client.setup`. Only Colab, whose
    kernel has imported `google.colab`, installs a missing course; elsewhere one line says that it
    is missing. Colab's torch is not replaced, because its driver and its other packages depend on
    it: if it is too old, pip refuses.
    """
    return _SETUP.format(address=settings.address, tag=settings.tag)


def imports_source(extra: str) -> str:
    """The imports that every lesson needs; `extra` are those of the lesson's own set-up."""
    return f"{_IMPORTS}\n\n{extra.strip()}" if extra.strip() else _IMPORTS


def badge(settings: Settings, stem: str) -> str:
    """Markdown of the badge that opens this lesson in Colab."""
    link = settings.colab(f"lessons/{stem}.ipynb")
    image = "https://colab.research.google.com/assets/colab-badge.svg"
    return f"[![Open this lesson in Colab]({image})]({link})"


LOCAL_SETUP = """\
# @title Run this cell first: it prepares the notebook
from triton_util.client.setup import prepare

prepare()  # starts the judge, loads PyTorch and Triton, and chooses between GPU and interpreter"""
BADGE_ID = "colab-badge"


def without_colab(notebook: NotebookNode) -> NotebookNode:
    """The notebook for a local JupyterLab, without the badge and the code for Colab."""
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") != BADGE_ID]
    for cell in notebook.cells:
        if cell.cell_type == "code" and "google.colab" in cell.source:
            cell.source = LOCAL_SETUP
    return notebook
