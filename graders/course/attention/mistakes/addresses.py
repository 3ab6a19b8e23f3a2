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
        "Each tensor has strides of its own. As long as all three lie alike in memory the "
        "mistake does not show."
    ),
    next_step="Pass q.stride(), k.stride() and v.stride(), and use each for its own pointers.",
    expected_wrong=computes_from_memory(read_like_another),
    detector=one_left,
)

ROWS_AND_COLUMNS_EXCHANGED = Misconception(
    code="rows-and-columns-exchanged",
    title="One of q, k and v is read with its two strides exchanged",
    message=(
        "The stride of the rows was taken for the columns, and that of the columns for the "
        "rows, so what is read is neither the tensor nor its transpose, or lies outside."
    ),
    next_step=(
        "Keys, and queries, and values: the row number times `stride(-2)`, the place in the "
        "row times `stride(-1)`. A transposed tile exchanges `[:, None]` and `[None, :]`, and "
        "each index keeps its stride."
    ),
    expected_wrong=computes_from_memory(read_crosswise),
    rules_out=frozenset({"missing-mask", "strides-exchanged", "contiguous-assumed"}),
)

KEY_STEP_WRONG = Misconception(
    code="key-step-wrong",
    title="The pointers go on by the wrong distance",
    message=(
        "The first block of keys is right, the next ones are not. Going on by BLOCK_N keys "
        "means BLOCK_N times the stride of the *rows*, for keys and for values."
    ),
    next_step="`k_ptrs += BLOCK_N * stride_kn`, and the same with the stride of v.",
    expected_wrong=computes_with_block(steps_of_elements, blocks=WIDE_BLOCKS, in_memory=True),
    rules_out=frozenset({"missing-mask"}),
)

FIRST_HEAD_ONLY = Misconception(
    code="first-head-only",
    title="Only the first head was computed",
    message=(
        "The output of the first head (or of a few) is there and the others were never "
        "stored: no axis of the grid stands for heads and batches, or the pointers do "
        "not move with it."
    ),
    next_step="Add an axis of size `batch * heads` and step by the head's stride.",
    detector=first_head_only,
)

HEADS_MIXED = Misconception(
    code="heads-mixed",
    title="Heads or batches read each other's keys or values",
    message=(
        "The outputs stand in the right places, but some heads or batches were computed with "
        "the keys or values of another one: a pointer does not move with head and batch."
    ),
    next_step=(
        "Move all four pointers, by `batch * stride_b + head * stride_h`, each with its own "
        "strides."
    ),
    expected_wrong=computes(other_heads),
)
