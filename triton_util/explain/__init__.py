"""Show what the compiler makes of a kernel, on any machine, with or without a GPU.

    explain(vector_add, x, y)                      # a launcher, as it would be called
    explain(add_kernel, x, y, out, n, BLOCK_SIZE=1024)       # or one kernel
    compare(explain(first, x), explain(second, x))           # two versions side by side
    show_ptx(vector_add, x, y, target=90, only="tl.load")    # PTX below its source line

Registers, spills and shared memory are those that ptxas reports; nothing is executed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from triton_util.explain.comparison import Comparison
from triton_util.explain.explanation import Explanation, explanation
from triton_util.explain.listing import Listing
from triton_util.explain.service import ExplainError, compiled, gathered, request_for
from triton_util.hardware import ARCHITECTURES
from triton_util.notebook.source import GatherError, is_kernel

__all__ = ["Comparison", "ExplainError", "Explanation", "Listing", "compare", "explain", "show_ptx"]

DEFAULT_TARGETS = (80, 90)
LAUNCHES = 4  # specialisations of one call that are compiled


def explain(
    function: Any, *args: Any, targets: Sequence[int] = DEFAULT_TARGETS, **kwargs: Any
) -> Explanation:
    """Compile what `function(*args, **kwargs)` launches, and describe the compiled kernels.

    function: a launcher, or a kernel (then the arguments are those of its launch, with constants
    and num_warps by name). args: tensors on any device, of which only shape, strides and dtype
    matter; numbers, strings, None. targets: architectures such as 75, 80, 86, 89, 90, 100.
    Raises ExplainError, with the reason, if the function cannot be compiled.
    """
    return _explained(function, sys._getframe(1), args, kwargs, targets)


def show_ptx(function: Any, *args: Any, target: int = 90, only: str = "", **kwargs: Any) -> Listing:
    """The PTX of what `function(*args, **kwargs)` launches, below the source lines it came from.

    Loads, stores and products on tensor cores are described in words, with their width. only:
    show only source lines that contain this text, such as "tl.load". The other arguments are
    those of `explain`.
    """
    return Listing(_explained(function, sys._getframe(1), args, kwargs, (target,)), only)


def _explained(
    function: Any, frame: Any, args: Sequence[Any], kwargs: dict[str, Any], targets: Sequence[int]
) -> Explanation:
    unknown = [arch for arch in targets if arch not in ARCHITECTURES]
    if unknown:
        known = ", ".join(map(str, ARCHITECTURES))
        raise ExplainError(f"There is no target {unknown[0]}. Choose among {known}.")
    try:
        source = gathered(function, frame)
    except GatherError as error:
        raise ExplainError(str(error)) from error
    request = request_for(source, is_kernel(function), args, kwargs, targets, LAUNCHES)
    return explanation(source, compiled(request))


def compare(before: Explanation, after: Explanation) -> Comparison:
    """Two explanations side by side, for example with and without a change."""
    return Comparison(before, after)
