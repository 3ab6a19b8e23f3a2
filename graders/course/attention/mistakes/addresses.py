"""Misconceptions about where q, k, v and the output of attention lie in memory."""

from __future__ import annotations

from graders.course.attention.mistakes.wrong_loops import steps_of_elements
from graders.course.attention.mistakes.wrong_results import (
    first_head_only,
    one_left,
    other_heads,
    read_crosswise,
    read_like_another,
)
from graders.course.common.expected import (
    WIDE_BLOCKS,
    computes,
    computes_from_memory,
    computes_with_block,
)
from graders.judge.records import Misconception

STRIDES_EXCHANGED = Misconception(
    code="strides-exchanged",
    title="One of q, k and v is read with the strides of another",
    message=(
        "Each tensor has its own strides. Where all three have the same layout, the "
        "mistake does not show."
    ),
    next_step=(
        "Pass `q.stride()`, `k.stride()` and `v.stride()`, and use each for its own pointers."
    ),
    expected_wrong=computes_from_memory(read_like_another),
    detector=one_left,
)

ROWS_AND_COLUMNS_EXCHANGED = Misconception(
    code="rows-and-columns-exchanged",
    title="One of q, k and v is read with its two strides exchanged",
    message=(
        "The kernel uses the stride of the rows for the columns, and the other way round. "
        "So it reads neither the tensor nor its transpose."
    ),
    next_step=(
        "Multiply the row number by `stride(-2)` and the column number by `stride(-1)`. "
        "For a transposed tile exchange `[:, None]` and `[None, :]`, and keep each index "
        "with its stride."
    ),
    expected_wrong=computes_from_memory(read_crosswise),
    rules_out=frozenset({"missing-mask", "strides-exchanged", "contiguous-assumed"}),
)

KEY_STEP_WRONG = Misconception(
    code="key-step-wrong",
    title="The pointers move by the wrong distance",
    message=(
        "The first block of keys is correct, the next ones are not. To move by BLOCK_N "
        "keys, add BLOCK_N times the stride of the *rows*, for keys and for values."
    ),
    next_step="`k_ptrs += BLOCK_N * stride_kn`, and the same with the stride of v.",
    expected_wrong=computes_with_block(steps_of_elements, blocks=WIDE_BLOCKS, in_memory=True),
    rules_out=frozenset({"missing-mask"}),
)

FIRST_HEAD_ONLY = Misconception(
    code="first-head-only",
    title="Only the first head is computed",
    message=(
        "The output of the first head (or of a few) is stored, but that of the others is "
        "not: the pointers do not move with head and batch."
    ),
    next_step=(
        "With the given grid, `batch_and_head = tl.program_id(0) // tl.cdiv(M, BLOCK_M)`. "
        "Move all four pointers by the strides of batch and head."
    ),
    detector=first_head_only,
)

HEADS_MIXED = Misconception(
    code="heads-mixed",
    title="Heads or batches read each other's keys or values",
    message=(
        "The outputs are in the correct places, but some heads or batches use the keys or "
        "values of another: a pointer does not move with head and batch."
    ),
    next_step=(
        "Move all four pointers, by `batch * stride_b + head * stride_h`, each with its own "
        "strides."
    ),
    expected_wrong=computes(other_heads),
)
