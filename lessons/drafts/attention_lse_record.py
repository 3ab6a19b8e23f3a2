"""What counts as solved in `attention_lse`, as data, for graders/exercises/attention.py.

The reference returns both results. The first is judged as that of `attention`: its magnitude,
its tolerances and its misconceptions hold as they are. The second is float32 whatever the dtype
of q, and sums float32 numbers; in half precision the scores are products of rounded inputs,
which are exact in float32. So it needs no wider tolerance than float32 sums have.
"""

from __future__ import annotations

import math

import torch

from graders.exercises.attention import CAUSAL, FULL, MIXED, each_its_own, opposed, usual_cases
from graders.judge.cases.builders import HALVES, cases
from graders.misconceptions.attention.wrong_results import attention, hide, scaled

RESULTS = ("the attention", "the log-sum-exp")
DTYPES = ("that of q", torch.float32)


def attention_lse(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return softmax(s) @ v and log(sum(exp(s))), where s are the scaled, masked scores."""
    return attention(q, k, v, causal), torch.logsumexp(hide(scaled(q, k), causal), dim=-1)


def lse_magnitude(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    """The error of a score passes on as it is: the largest sum of absolute terms, plus the log."""
    if not k.shape[-2]:
        return torch.ones(q.shape[:-1], dtype=q.dtype)
    terms = (q.abs() @ k.abs().transpose(-1, -2)) / math.sqrt(q.shape[-1])
    return 1 + terms.amax(dim=-1) + torch.logsumexp(hide(scaled(q, k), causal), dim=-1).abs()


CASES = (
    *usual_cases("m n d", ()),
    *usual_cases("h m n d", (3,)),
    *cases(FULL, "b h m n d", [(2, 2, 40, 70, 16)]),
    *cases(FULL, "m n d", [(129, 127, 32)], why="Ragged in m and n."),
    *cases(CAUSAL, "m n d", [(129, 129, 32)], label="causal"),
    *cases(FULL, "m n d", [(1, 1, 16), (1, 65, 16), (65, 1, 16), (0, 5, 16)], part="edges"),
    *cases(CAUSAL, "m n d", [(1, 1, 16), (65, 65, 16)], part="edges", label="causal"),
    *cases(FULL, "h m n d", [(2, 40, 50, 32)], part="types", dtypes=HALVES),
    *cases(CAUSAL, "h m n d", [(2, 50, 50, 32)], part="types", dtypes=HALVES, label="causal"),
    *cases(FULL, "m n d", [(30, 90, 32)], part="types", scale=6.0, why="Large scores."),
    *cases(opposed, "m n d", [(30, 45, 16)], part="types", label="opposed"),
    *cases(each_its_own(False, MIXED), "m n d", [(25, 38, 32)], part="views", label="its own"),
    *cases(CAUSAL, "h m n d", [(3, 33, 33, 16)], part="views", views=["interleaved"]),
)
PARTS = {"core": 4, "edges": 2, "types": 2, "views": 2}


def lse_mistakes(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> dict[str, torch.Tensor]:
    """What mistakes in the second result compute, by the code of the misconception."""
    s = hide(scaled(q, k), causal)
    top = s.amax(dim=-1)
    total = torch.exp(s - top[..., None]).sum(dim=-1)
    return {
        "maximum-not-added": torch.log(total),
        "log-forgotten": top + total,
        "sum-returned": total,
        "maximum-returned": top,
        "base-two": top + torch.log2(total),
        "scale-missing": torch.logsumexp(hide(scaled(q, k), causal) * q.shape[-1] ** 0.5, dim=-1),
        "future-counted": torch.logsumexp(scaled(q, k), dim=-1),
    }


HINTS = (
    "Everything that you need stands in your kernel already, at the end of the loop. What is "
    "row_sum the sum of?",
    "row_sum is the sum of exp(score - row_max). Taking the factor exp(row_max) out of the log "
    "makes it an addition.",
    "`row_max + tl.log(row_sum)`, stored in float32, under the mask of the queries.",
)
