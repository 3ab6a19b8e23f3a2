"""Compiling for a GPU without one: what is built ahead is what a launch will look for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from graders.judge.plan import warm_kernel

LAUNCHES = [
    {
        "kernel": 0,
        "positional": [{"tensor": [0, dtype, [], [], offset]}] * 2 + [64],
        "named": {"BLOCK_SIZE": size},
    }
    for dtype, offset, size in (("float32", 0, 16), ("float32", 5, 16), ("float32", 0, 32))
]
REQUEST = {
    "source": warm_kernel.TEXT,
    "filename": "s.py",
    "kernels": [warm_kernel.KERNEL],
    "launches": LAUNCHES,
    "capability": 90,
}
# Builds what it is asked for, and says how much of it was not in the cache.
PROGRAM = """
import json, sys
from pathlib import Path
import torch
from graders.judge.plan import gpu_compiling
counted = gpu_compiling.CompiledHere()
counted.install()
if sys.argv[2] == "preload":
    gpu_compiling.preload(90)
    counted.taken()
gpu_compiling.build(json.loads(sys.stdin.read()), Path(sys.argv[1]))
print(json.dumps([counted.taken(), torch.cuda.is_initialized()]))
"""


def built(cache: Path, claims: Path, preload: str = "") -> tuple[int, bool]:
    """How many kernels were compiled in a new process, and whether it has touched a GPU."""
    claims.mkdir()
    environment = {**os.environ, "TRITON_CACHE_DIR": str(cache)}
    environment.pop("TRITON_INTERPRET", None)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(claims), preload],
        input=json.dumps(REQUEST),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    count, touched = json.loads(run.stdout)
    return int(count), bool(touched)


def test_what_is_built_ahead_is_found_by_the_next_process(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert built(cache, tmp_path / "first") == (3, False), "each specialisation is compiled"
    assert len(list(cache.rglob("*.cubin"))) == 3
    assert built(cache, tmp_path / "second", "preload") == (0, False), "nothing is compiled again"


def test_what_another_process_claims_is_left_to_it(tmp_path: Path) -> None:
    cache, claims = tmp_path / "cache", tmp_path / "claims"
    built(cache, claims)
    names = [path.name for path in claims.iterdir()]
    assert len(names) == 3
    again = tmp_path / "again"
    count, _ = built(tmp_path / "other", again)
    assert count == 3
    assert sorted(path.name for path in again.iterdir()) == sorted(names), "the same claims"
