"""What the compiler makes of a kernel, on any machine, with a GPU or without.

    explain(vector_add, x, y)                      # a launcher, as it would be called
    explain(add_kernel, x, y, out, n, BLOCK_SIZE=1024)       # or one kernel
    compare(explain(first, x), explain(second, x))           # two versions side by side

Registers, spills and shared memory are those that ptxas reports; nothing is executed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from triton_util.explain.comparison import Comparison
from triton_util.explain.explanation import Explanation, explanation
from triton_util.explain.service import ExplainError, compiled, gathered, request_for
from triton_util.hardware import ARCHITECTURES
from triton_util.notebook.source import GatherError, is_kernel

__all__ = ["Comparison", "ExplainError", "Explanation", "compare", "explain"]

DEFAULT_TARGETS = (80, 90)
LAUNCHES = 4  # specialisations that are compiled, of one call


def explain(
    function: Any, *args: Any, targets: Sequence[int] = DEFAULT_TARGETS, **kwargs: Any
) -> Explanation:
    """Compile what `function(*args, **kwargs)` launches, and say what became of it.

    function: a launcher, or a kernel (then the arguments are those of its launch, constants
    and num_warps by name). args: tensors of any device, of which only shape, strides and dtype
    matter; numbers, strings, None. targets: architectures such as 75, 80, 86, 89, 90, 100.
    Raises ExplainError where it cannot be compiled, with the reason.
    """
    unknown = [arch for arch in targets if arch not in ARCHITECTURES]
    if unknown:
        known = ", ".join(map(str, ARCHITECTURES))
        raise ExplainError(f"There is no target {unknown[0]}. Choose among {known}.")
    try:
        source = gathered(function, sys._getframe(1))
    except GatherError as error:
        raise ExplainError(str(error)) from error
    request = request_for(source, is_kernel(function), args, kwargs, targets, LAUNCHES)
    return explanation(source, compiled(request))


def compare(before: Explanation, after: Explanation) -> Comparison:
    """Two explanations side by side, for example with and without a change."""
    return Comparison(before, after)
