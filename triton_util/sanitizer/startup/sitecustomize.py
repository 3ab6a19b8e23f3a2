"""Runs at the start of each Python that a checked program starts; see `triton_util.sanitizer`.

Its folder is first in PYTHONPATH, so this module hides any other `sitecustomize` and runs it from
here. It imports nothing heavy: torch and triton are prepared when the program imports them.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_hidden_one(here: str) -> None:
    elsewhere = [place for place in sys.path if os.path.abspath(place or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    _run_the_hidden_one(here)
    if not os.environ.get("TILEWISE_RECORD"):
        return
    if importlib.util.find_spec("triton_util") is None:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(here))))
    from triton_util.sanitizer import imports

    imports.watch()


_start()
