"""The surroundings that a launcher meets cost no time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ASKED = """
import sys, torch
from graders.judge.launch_trace.surroundings import without_dynamo
without_dynamo()
x = torch.empty(4, device="meta")
torch.isnan(x), torch.isinf(x), torch.nn.functional.softmax(x, 0), x.clamp(0)
print("torch._dynamo.config" in sys.modules)
import torch._dynamo.config
print("torch._dynamo.config" in sys.modules, torch._dynamo.disable(len) is not len)
"""


def test_operations_without_values_import_no_compiler_of_torch() -> None:
    command = [sys.executable, "-c", ASKED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr
