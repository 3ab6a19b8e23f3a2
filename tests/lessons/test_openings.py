"""Lessons that open with a kernel to fix: the input shows the bug, and one token fixes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graders.authoring.lesson import read_lesson

ROOT = Path(__file__).parents[2]
# slug → what the learner replaces, once
FIXES = {
    "vector_add": ("+ offsets, x, mask", "+ offsets, -x, mask"),
    "fusion": ("+ offsets, shifted, mask", "+ offsets, squared, mask"),
    "reductions": ("other=1.0", "other=0.0"),
    "matmul": ("total = tl.dot", "total += tl.dot"),
    "swizzling": ("+ 1, pid // n_cols", "+ 1, pid // n_rows"),
    "autotuning": ("cdiv(x.numel(), 256)", 'cdiv(x.numel(), meta["BLOCK_SIZE"])'),
}
SCRIPT = """
import torch, triton
import triton.language as tl
from triton_util import catch

"""
WORDS_BEFORE = 200  # about a minute's reading


@pytest.mark.parametrize("slug", FIXES)
def test_the_opening_is_caught_and_one_token_fixes_it(slug: str, tmp_path: Path) -> None:
    (path,) = (ROOT / "lessons").glob(f"[0-9][0-9]_{slug}.py")
    cells = [cell.source for cell in read_lesson(path).cells]
    asked = next(index for index, source in enumerate(cells) if "\ncatch(" in f"\n{source}")
    kernel, catch = cells[asked - 1 : asked + 1]
    wrong, right = FIXES[slug]
    assert kernel.count(wrong) == 1
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "\n\n".join([kernel, catch, kernel.replace(wrong, right), catch]))
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)],
        env={**os.environ, "PYTHONPATH": paths, "TRITON_INTERPRET": "1", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^[✗✓] ([\w ,]+)\.", done.stdout, re.MULTILINE) == ["Caught", "Fixed"]
    before = " ".join(source for source in cells[:asked] if source is not kernel)
    assert len(before.split()) < WORDS_BEFORE
