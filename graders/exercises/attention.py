"""What counts as solved in the lesson on attention."""

from __future__ import annotations

import math

import torch

from graders.judge import footprints, mistakes
from graders.judge.casebook import HALVES, Maker, cases
from graders.judge.footprints import computes_with_block, either, nan_from_padding
from graders.judge.model import (
    Arg,
    Case,
    Choice,
    Evidence,
    Exercise,
    Misconception,
    Question,
    TensorSpec,
    Tolerance,
)
from graders.judge.row_mistakes import blocks


def heads(causal: bool) -> Maker:
    """Return the maker of q (..., m, d), k and v (..., n, d) and the flag.

    The last three numbers of the shape are m, n and d; those before lead all three tensors.
    """

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        *lead, m, n, d = shape
        queries = TensorSpec((*lead, m, d), **spec)  # type: ignore[arg-type]
        keys = TensorSpec((*lead, n, d), **spec)  # type: ignore[arg-type]
        return queries, keys, keys, causal

    return make


FULL, CAUSAL = heads(False), heads(True)


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Return q @ k.T, not scaled."""
    return q @ k.transpose(-1, -2)


def hide(s: torch.Tensor, causal: bool, diagonal: int = 1) -> torch.Tensor:
    """Return the scores with the future set to -inf, from this diagonal on."""
    future = torch.ones(s.shape[-2:]).triu(diagonal).bool()
    return s.masked_fill(future, -float("inf")) if causal else s


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """Return softmax(q @ k.T / sqrt(d)) @ v."""
    return _attend(hide(scores(q, k) / math.sqrt(q.shape[-1]), causal), v)


def _attend(s: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(s, dim=-1) @ v


def _magnitude(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The terms that are summed, widened by the error that the scores pass on through exp."""
    root = math.sqrt(q.shape[-1])
    weights = torch.softmax(hide(scores(q, k) / root, causal), dim=-1)
    passed_on = 1 + scores(q.abs(), k.abs()) / root
    return (weights * passed_on) @ v.abs()


def _scaled_by(factor: float) -> footprints.Imitation:
    """`factor` is the power of d by which the scores are divided."""

    def wrong(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        return _attend(hide(scores(q, k) / q.shape[-1] ** factor, causal), v)

    return wrong


def _future_only(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    s = scores(q, k) / math.sqrt(q.shape[-1])
    past = torch.ones(s.shape[-2:]).tril(-1).bool()
    return _attend(s.masked_fill(past, -float("inf")), v) if causal else None


def _padding_counted(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    extra = -k.shape[-2] % block
    if not extra:
        return None
    weights = torch.exp(hide(scores(q, k) / math.sqrt(q.shape[-1]), causal))
    return (weights @ v) / (weights.sum(dim=-1, keepdim=True) + extra)


def _first_keys(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    if block >= k.shape[-2]:
        return None
    s = hide(scores(q, k) / math.sqrt(q.shape[-1]), causal)
    return _attend(s[..., :block], v[..., :block, :])


def _never_rescaled(sum_too: bool) -> footprints.Imitation:
    """The output accumulator, and with `sum_too` also the sum, keeps its old maximum."""

    def wrong(
        block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
    ) -> torch.Tensor | None:
        if block >= k.shape[-2]:
            return None
        s = hide(scores(q, k) / math.sqrt(q.shape[-1]), causal)
        highest = torch.full((*s.shape[:-1], 1), -float("inf"), dtype=s.dtype)
        total, result = torch.zeros_like(highest), torch.zeros_like(q)
        for part, values in zip(blocks(s, block), blocks(v.mT, block), strict=True):
            grown = torch.maximum(highest, part.amax(dim=-1, keepdim=True))
            weights = torch.exp(part - grown)
            kept: float | torch.Tensor = 1.0 if sum_too else torch.exp(highest - grown)
            total = total * kept + weights.sum(dim=-1, keepdim=True)
            result = result + weights @ values.mT
            highest = grown
        return result / total

    return wrong


def _first_head_only(evidence: Evidence) -> bool:
    if evidence.expected.ndim < 3:
        return False
    stored = footprints.stored_prefix(evidence)
    m, d = evidence.expected.shape[-2:]
    return stored is not None and stored > 0 and stored % (m * d) == 0


def _overflowed(evidence: Evidence) -> bool:
    actual = evidence.actual
    q, k = evidence.args[:2]
    if actual is None or not k.numel():
        return False
    broken = (~actual.isfinite()).any(dim=-1)
    highest = (scores(q.double(), k.double()) / math.sqrt(q.shape[-1])).amax(dim=-1)
    return bool(broken.any()) and bool((highest[broken] > 60).all())


def usual_cases(axes: str, lead: tuple[int, ...]) -> tuple[Case, ...]:
    """Return full and causal cases with these leading dimensions."""
    return (
        *cases(FULL, axes, [(*lead, 64, 64, 32), (*lead, 37, 53, 16)]),
        *cases(CAUSAL, axes, [(*lead, 64, 64, 32), (*lead, 45, 45, 16)], label="causal"),
    )


ATTENTION = Exercise(
    name="attention",
    lesson="attention",
    title="Attention in one kernel",
    parameters=("q", "k", "v", "causal"),
    reference=attention,
    magnitude=_magnitude,
    traffic_factor=64.0,  # any tiling passes, even one output row per program
    # The weights are rounded to half precision for the second product: that is usual.
    tolerance={
        torch.float16: Tolerance(rel=2.0**-10, acc=2.0**-11, abs=2.0**-24),
        torch.bfloat16: Tolerance(rel=2.0**-7, acc=2.0**-8, abs=1e-37),
    },
    cases=(
        *usual_cases("m n d", ()),
        *usual_cases("h m n d", (3,)),
        *cases(FULL, "b h m n d", [(2, 2, 40, 70, 16)]),
        *cases(FULL, "m n d", [(129, 127, 32), (20, 300, 64)], why="Ragged in m and n."),
        *cases(CAUSAL, "b h m n d", [(2, 2, 70, 70, 16)], label="causal"),
        *cases(CAUSAL, "m n d", [(129, 129, 32)], label="causal"),
        *cases(FULL, "m n d", [(24, 36, 16)], engine_orders=True),
        *cases(FULL, "m n d", [(1, 1, 16), (1, 65, 16), (65, 1, 16), (15, 17, 16)], part="edges"),
        *cases(FULL, "m n d", [(128, 128, 16), (31, 33, 128), (0, 5, 16)], part="edges"),
        *cases(
            CAUSAL,
            "m n d",
            [(1, 1, 16), (2, 2, 16), (63, 63, 16), (65, 65, 16)],
            part="edges",
            label="causal",
        ),
        *cases(FULL, "h m n d", [(2, 40, 50, 32)], part="types", dtypes=HALVES),
        *cases(CAUSAL, "h m n d", [(2, 50, 50, 32)], part="types", dtypes=HALVES, label="causal"),
        *cases(FULL, "m n d", [(30, 90, 32)], part="types", scale=6.0, why="Large scores."),
        *cases(FULL, "m n d", [(30, 90, 32)], part="types", shift=1.5, why="Scores far from 0."),
        *cases(FULL, "m n d", [(30, 40, 32)], part="types", scale=0.01, why="Tiny scores."),
        *cases(FULL, "m n d", [(30, 40, 32)], part="types", fills=["zeros"]),
    ),
    large=(
        *cases(FULL, "h m n d", [(4, 1030, 900, 64)], part="edges", why="Hundreds of blocks."),
        *cases(CAUSAL, "h m n d", [(4, 1030, 1030, 64)], part="edges", label="causal"),
    ),
    hints=(
        "It is softmax between two products. The scores of one query against all keys are one "
        "row. Which numbers must you keep if you see that row block by block?",
        "Keep, for each query of the tile, the maximum so far, the sum so far and the output so "
        "far. When a block raises the maximum, multiply sum *and* output by exp(old - new). "
        "Keys that do not exist, or lie in the future, get the score -inf.",
        "`m_new = tl.maximum(m, tl.max(s, axis=1))`, `p = tl.exp(s - m_new[:, None])`, `alpha = "
        "tl.exp(m - m_new)`, `l = l * alpha + tl.sum(p, axis=1)`, `acc = acc * alpha[:, None] + "
        'tl.dot(p.to(v.dtype), v, input_precision="ieee")`; at the end `acc / l[:, None]`.',
    ),
    misconceptions=(
        Misconception(
            code="scale-missing",
            title="The scores are not scaled",
            message=(
                "softmax(q @ k.T) without the factor 1/√d: the larger d, the larger the scores, "
                "and the softmax turns into a hard choice of one key."
            ),
            next_step="Multiply the scores by `1 / sqrt(d)` before the softmax.",
            imitate=_scaled_by(0.0),
        ),
        Misconception(
            code="scale-without-root",
            title="The scores are divided by d, not by √d",
            message="The weights come out too even. (Scaling q and k both by 1/√d does the same.)",
            next_step="The factor is `1 / sqrt(d)`, once.",
            imitate=_scaled_by(1.0),
        ),
        Misconception(
            code="causal-ignored",
            title="The future is not hidden",
            message="With `causal=True` every query still sees all keys: the flag has no effect.",
            next_step="Set the scores of keys j > i to -inf before maximum and exp.",
            imitate=lambda q, k, v, causal: attention(q, k, v, False) if causal else None,
        ),
        Misconception(
            code="causal-reversed",
            title="The past is hidden instead of the future",
            message="Each query sees itself and the keys *after* it: the comparison is reversed.",
            next_step="Query i sees key j where j <= i.",
            footprint=footprints.where_finite(_future_only),
        ),
        Misconception(
            code="causal-excludes-self",
            title="A query does not see its own key",
            message=(
                "The mask keeps j < i instead of j <= i. Query 0 then sees nothing at all, and a "
                "softmax of nothing is NaN (or 0)."
            ),
            next_step="Use `offs_m[:, None] >= offs_n[None, :]`.",
            footprint=footprints.where_finite(
                lambda q, k, v, causal: (
                    _attend(hide(scores(q, k) / math.sqrt(q.shape[-1]), causal, 0), v)
                    if causal
                    else None
                )
            ),
        ),
        Misconception(
            code="max-not-subtracted",
            title="exp overflows: the maximum is not subtracted",
            message="Scores above 88 become inf under exp, and inf / inf is NaN.",
            next_step="Compute `tl.exp(s - m_new[:, None])`.",
            footprint=_overflowed,
        ),
        Misconception(
            code="padding-counted",
            title="Keys that do not exist take part in the softmax",
            message=(
                "The last block of keys is not full. Its missing keys were loaded as 0, so their "
                "score is 0, not -inf, and exp(0) = 1 enters the sum for each of them."
            ),
            next_step="`s = tl.where(offs_n[None, :] < n, s, -float('inf'))` before the maximum.",
            faults=frozenset({"masked-lanes-used"}),
            footprint=either(
                computes_with_block(_padding_counted),
                nan_from_padding(lambda q, k, v, causal: k.shape[-2]),
            ),
        ),
        Misconception(
            code="rescaling-missing",
            title="What was summed before is not rescaled",
            message=(
                "When a later block of keys raises the maximum, the sum and the output so far "
                "still refer to the old one. Both must be multiplied by exp(old - new); one of "
                "them, or both, was not."
            ),
            next_step="`acc = acc * alpha[:, None] + ...` and `l = l * alpha + ...`.",
            footprint=either(
                computes_with_block(_never_rescaled(True)),
                computes_with_block(_never_rescaled(False)),
            ),
        ),
        Misconception(
            code="key-loop-missing",
            title="Only the first block of keys is looked at",
            message="The softmax runs over the beginning of the keys: the loop over n is missing.",
            next_step="Walk through all n keys, block by block.",
            footprint=computes_with_block(_first_keys),
        ),
        Misconception(
            code="not-normalised",
            title="The division by the sum is missing",
            message="The output is a sum of weighted values whose weights do not sum to 1.",
            next_step="At the end divide: `acc / l[:, None]`.",
            footprint=footprints.computes(
                lambda q, k, v, causal: (lambda s: torch.exp(s - s.amax(dim=-1, keepdim=True)) @ v)(
                    hide(scores(q, k) / math.sqrt(q.shape[-1]), causal)
                )
            ),
        ),
        Misconception(
            code="first-head-only",
            title="Only the first head was computed",
            message=(
                "The output of the first head (or of a few) is there and the others were never "
                "stored: no axis of the grid stands for heads and batches, or the pointers do "
                "not move with it."
            ),
            next_step="Add an axis of size `batch * heads` and step by the head's stride.",
            footprint=_first_head_only,
        ),
        mistakes.missing_mask("a sequence", "m and n"),
        mistakes.tiles_missing("m", "d"),
        mistakes.offset_ignores_pid(),
        mistakes.tf32_product(_magnitude),
    ),
    parts={"core": 4, "edges": 3, "types": 3},
)

EXERCISES = (ATTENTION,)

QUIZ = (
    Question(
        "Why does fused attention not store the matrix of scores?",
        (
            Choice(
                "It would be m × n numbers written to memory and read again.",
                "Yes: for long sequences far more than q, k and v together.",
                right=True,
            ),
            Choice(
                "It is not needed for the result.",
                "Every score is needed; but only while its block is being worked on.",
            ),
            Choice(
                "Triton cannot store matrices.",
                "It can. The point is the traffic.",
            ),
        ),
    ),
    Question(
        "A block of keys raises the running maximum of a query. What must be rescaled?",
        (
            Choice(
                "Only the sum of the weights.",
                "The output so far is a sum of the same weights times values: it too refers to "
                "the old maximum.",
            ),
            Choice(
                "The sum and the output so far.",
                "Yes, both by exp(old - new).",
                right=True,
            ),
            Choice(
                "Nothing: the division at the end corrects it.",
                "It corrects a common factor. Old and new terms have different ones.",
            ),
        ),
    ),
    Question(
        "Which sizes test a causal mask best?",
        (
            Choice(
                "Powers of two: 64, 128, 256.",
                "There block edges and the diagonal coincide nicely: mistakes hide.",
            ),
            Choice(
                "Sizes just beside the block sizes, and 1: 1, 63, 65, 129.",
                "Yes: the diagonal then crosses ragged blocks, and the first query sees one key.",
                right=True,
            ),
        ),
    ),
)
