"""Check worker claims that would leave a submission ungraded against what the judge knows.

A worker's report explains a failure. "The interpreter lacks this" and "there is no room for the
inputs" would spare a submission its grade, so the worker's word alone is not enough. The place must
be one where the plan launches, Triton's compiler must accept the kernel (see `pipeline`), and the
judge itself measures the room.
"""

from __future__ import annotations

import ast
from dataclasses import replace

import torch

from graders.judge.cases.prepared import Prepared
from graders.judge.records import Fault, GraderError
from graders.judge.running.jobs import PlannedJobs
from graders.judge.sandbox.pool import Outcome

# The operations that docs/operations.md lists as not interpreted; a test compares the two.
NOT_COMPUTED = frozenset({"atomic_poll", "inline_asm_elementwise"})
GPU_SPARE_BYTES = 4 << 30  # a context, and what a submission may allocate besides its inputs


class NotInterpretedError(GraderError):
    """The interpreter lacks an operation; does not apply to kernels that do not compile either."""


def backed(outcome: Outcome, item: Prepared, planned: PlannedJobs, device: str) -> Outcome:
    """The outcome, without a claim that the judge's own knowledge does not confirm."""
    if outcome.status == "no-room" and not (device == "cuda" and _is_short_of_room(item)):
        return replace(outcome, status="crashed", error=None)
    error = outcome.error
    if error is None or error.code != "not-interpreted":
        return outcome
    if outcome.status != "raised":
        return replace(outcome, error=None)
    if device == "cpu" and error.line in planned.lines():
        return outcome
    return replace(outcome, status="raised", error=_unbacked(error))


def _unbacked(error: Fault) -> Fault:
    return Fault(
        code="exception",
        message="the process that ran the kernel stopped, and named no line of a launched kernel",
        line=error.line,
    )


def not_interpreted(line: int | None, source: str) -> NotInterpretedError:
    """The fault in our own words, because the worker could say anything."""
    used = sorted(_operations_at(line, source) & NOT_COMPUTED)
    if used:
        return NotInterpretedError(
            f"the interpreter does not compute tl.{used[0]} (line {line}), which only a GPU does; "
            "a person has to look at the kernel"
        )
    return NotInterpretedError(
        f"the interpreter stopped at line {line} of a kernel that Triton compiles, for a reason "
        "that it does not know; a person has to look whether the kernel is right"
    )


def _operations_at(line: int | None, source: str) -> set[str]:
    """The last names of the functions called at a line."""
    return {
        node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute | ast.Name)
        and node.lineno <= (line or 0) <= (node.end_lineno or 0)
    }


def _is_short_of_room(item: Prepared) -> bool:
    """Whether the GPU, as the judge sees it, has less memory than the case may need."""
    try:
        free, _ = torch.cuda.mem_get_info()
    except (AssertionError, RuntimeError):
        return True  # the judge cannot even query the GPU, so the worker cannot use it
    tensors = [arg.untyped_storage() for arg in item.args if isinstance(arg, torch.Tensor)]
    inputs = {storage.data_ptr(): storage.nbytes() for storage in tensors}
    values = item.expectation.values
    return sum(inputs.values()) + values.numel() * values.element_size() + GPU_SPARE_BYTES > free
