"""A small kernel for warming up a process before it forks.

Running or compiling it once imports and caches what every later fork would otherwise pay for.
"""

from __future__ import annotations

from typing import Any

from graders.judge.plan.code import Code

TEXT = """
def warm_kernel(x_ptr, out_ptr, n, BLOCK_SIZE):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(out_ptr + offsets, tl.exp(x) + tl.sum(x, axis=0), mask=mask)
"""
_PARAMETERS = (("x_ptr", ""), ("out_ptr", ""), ("n", ""), ("BLOCK_SIZE", "constexpr"))
KERNEL: dict[str, Any] = {  # as `plan.reader` reads it
    "line": 2,
    "name": "warm_kernel",
    "names": {"tl": {"module": "triton.language"}},
    "parameters": [[name, annotation, None, False] for name, annotation in _PARAMETERS],
    "specialize_not": [],
    "align_not": [],
    "noinline": False,
    "constant": False,
    "code": Code.own(TEXT, "tl").to_json(),
}
