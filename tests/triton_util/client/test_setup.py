"""The set-up of a lesson, in a process of its own: where kernels run, and what is said."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = """
import os, sys
from triton_util.client.setup import prepare
prepare()
import torch, triton
from triton.runtime import interpreter
print(os.environ.get("TRITON_INTERPRET"), interpreter.InterpretedFunction.run.__name__)
"""


NOTED = """
import sys
from triton_util.client import setup
class Display:
    def note(self, html, text):
        print("Loading PyTorch and Triton" in html, "torch" in sys.modules)
    def show(self, html, text):
        print("Ready after" in html, "torch" in sys.modules)
setup.Display = Display
setup.prepare()
"""


def test_a_card_says_what_is_loading_before_it_is_loaded():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", NOTED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.stdout.splitlines() == ["True False", "True True"]


def test_without_a_gpu_launches_run_in_the_guarded_interpreter_and_that_is_said():
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=True,
        env={**environment, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
    )
    said, chosen = done.stdout.splitlines()
    assert said.startswith("Tilewise: Ready after ")
    assert "Kernels run on the CPU, in the interpreter." in said
    assert chosen == "1 _guarded_run"
