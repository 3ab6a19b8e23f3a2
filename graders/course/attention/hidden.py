"""Hidden cases of the lesson on attention: other shapes of the public kinds."""

from graders.course.attention.exercise import CAUSAL, FULL
from graders.course.common.hidden import BARS
from graders.judge.cases.builders import HALVES, cases
from graders.judge.records import Hidden

HIDDEN = {
    "attention": Hidden(
        cases=(
            *cases(FULL, "m n d", [(70, 41, 16), (127, 129, 64)]),
            *cases(FULL, "h m n d", [(2, 33, 90, 32)]),
            *cases(FULL, "b h m n d", [(3, 1, 20, 35, 16)]),
            *cases(CAUSAL, "m n d", [(127, 127, 16)], label="causal"),
            *cases(CAUSAL, "h m n d", [(3, 50, 50, 32)], label="causal"),
            *cases(FULL, "m n d", [(19, 40, 16)], engine_orders=True),
            *cases(FULL, "m n d", [(2, 3, 16), (1, 129, 16), (17, 15, 16)], part="edges"),
            *cases(CAUSAL, "m n d", [(3, 3, 16), (64, 64, 16)], part="edges", label="causal"),
            *cases(FULL, "h m n d", [(2, 35, 60, 16)], part="types", dtypes=HALVES),
            *cases(FULL, "m n d", [(25, 80, 32)], part="types", scale=7.0),
        ),
        speed_bars=BARS,
    ),
    "attention_lse": Hidden(
        cases=(
            *cases(FULL, "m n d", [(70, 41, 16), (127, 129, 64)]),
            *cases(FULL, "h m n d", [(2, 33, 90, 32)]),
            *cases(FULL, "b h m n d", [(3, 1, 20, 35, 16)]),
            *cases(CAUSAL, "h m n d", [(3, 50, 50, 32)], label="causal"),
            *cases(FULL, "m n d", [(19, 40, 16)], engine_orders=True),
            *cases(FULL, "m n d", [(2, 3, 16), (1, 129, 16), (17, 15, 16)], part="edges"),
            *cases(CAUSAL, "m n d", [(3, 3, 16), (64, 64, 16)], part="edges", label="causal"),
            *cases(FULL, "h m n d", [(2, 35, 60, 16)], part="types", dtypes=HALVES),
            *cases(FULL, "m n d", [(25, 80, 32)], part="types", scale=7.0),
        ),
    ),
}
