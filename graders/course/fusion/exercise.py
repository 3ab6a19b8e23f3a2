"""What counts as solved in the lesson on fusion: GELU between one load and one store."""

from __future__ import annotations

import math

import torch

from graders.course.common import elementwise, rounding, shared, strides
from graders.course.common.expected import computes
from graders.course.common.remarks import LOADED_TWICE
from graders.course.fusion.reference import ROOT, gelu
from graders.judge.cases.builders import HALVES, cases, one
from graders.judge.records import Evidence, Exercise, Misconception, View

VIEWS_3D: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_columns",
    "expanded_rows",
    "expanded_columns",
)


def _other_constants(evidence: Evidence) -> bool:
    """Whether the output is x sigmoid(2 (a x + b x³)) with an a or a b of its own."""
    (x,) = evidence.args
    if evidence.actual is None:
        return False
    x, y = x.double().flatten(), evidence.actual.double().flatten()
    bent = (x.abs() > 0.2) & (x.abs() < 2) & (y / x > 0.01) & (y / x < 0.99)
    if int(bent.sum()) < 8 or len(x[bent].unique()) < 3:
        return False
    doubled = torch.logit(y[bent] / x[bent])[:, None]
    powers = torch.stack((x[bent], x[bent] ** 3), dim=1)
    a, b = torch.linalg.lstsq(powers, doubled / 2).solution.flatten().tolist()
    if abs(a / ROOT - 1) < 1e-3 and abs(b / (0.044715 * ROOT) - 1) < 5e-3:
        return False  # rounding on the way moves a fit by less
    fitted = x * torch.sigmoid(2 * (a * x + b * x**3))
    room = 1e-3 * (1 + x.abs())  # the exponent magnifies what the fit leaves
    return bool(((fitted - y).abs() <= room)[x.abs() < 2].all())


def _argument(x: torch.Tensor) -> torch.Tensor:
    return ROOT * (x + 0.044715 * x**3)


def _rational(x: torch.Tensor) -> list[torch.Tensor]:
    """GELU with the usual fractions for tanh, cut off at 1 or not."""
    z = _argument(x)
    square = z * z
    fractions = (
        z * (15 + square) / (15 + 6 * square),
        z * (27 + square) / (27 + 9 * square),
        z * (105 + 10 * square) / (105 + 45 * square + square**2),
        z * (135135 + 17325 * square + 378 * square**2 + square**3)
        / (135135 + 62370 * square + 3150 * square**2 + 28 * square**3),
        z / (1 + z.abs()),
        z - z**3 / 3,
    )  # fmt: skip
    forms = [*fractions, *(fraction.clamp(-1, 1) for fraction in fractions)]
    forms += [torch.where(z.abs() < 3, fraction, z.sign()) for fraction in fractions]
    return [0.5 * x * (1 + tanh) for tanh in forms]


def _overflowed(evidence: Evidence) -> bool:
    """NaN (or inf) exactly where exp of the argument is too large for float32."""
    (x,) = evidence.args
    actual = evidence.actual
    if actual is None or not x.numel():
        return False
    broken = ~actual.isfinite() & evidence.expected.isfinite()
    return bool(broken.any()) and float(x[broken].double().abs().min()) > 3.0


def _stops_growing(evidence: Evidence) -> bool:
    """One and the same number for every x that is larger than it, and nothing else is wrong."""
    (x,) = evidence.args
    actual = evidence.actual
    if actual is None or not x.numel() or x.dtype == torch.float64:
        return False
    got, want = actual.double(), evidence.expected.double()
    wrong = (got - want).abs() > 0.01 * want.abs() + 0.01
    if int(wrong.sum()) < 2 or not bool(got[wrong].isfinite().all()):
        return False
    limit = float(got[wrong].min())
    same = float(got[wrong].max()) - limit <= 0.01 * limit
    return limit > 1 and same and not bool((x.double()[wrong] < limit).any())


GELU = Exercise(
    name="gelu",
    lesson="fusion",
    title="GELU in one kernel",
    parameters=("x",),
    reference=gelu,
    magnitude=lambda x: x.abs(),
    traffic_factor=2.0,  # the lesson's point: no second kernel, nothing stored in between
    cases=(
        *cases(one, "n", [1000, 4096, 5000], why="One block or several, full or not."),
        *cases(one, "n", [100_003], why="Many blocks, whatever their size."),
        *cases(one, "rows columns", [(37, 53), (64, 64)]),
        *cases(one, "batch rows columns", [(3, 17, 20)]),
        *cases(one, "n", [700], engine_orders=True),
        *cases(one, "n", [0, 1, 2, 7, 63, 65, 1023, 1025, 2047], part="edges"),
        *cases(one, "n", [400_003], part="edges", why="More than a fixed grid covers."),
        *cases(one, "a b c d", [(2, 3, 4, 5), (1, 1, 1, 1)], part="edges"),
        *cases(one, "rows columns", [(0, 5), (5, 0), (1, 333), (333, 1)], part="edges"),
        *cases(one, "n", [900], part="types", dtypes=HALVES, why="Keep the dtype of x."),
        *cases(one, "n", [900], part="types", scale=4.0, why="Where GELU bends."),
        *cases(one, "n", [900], part="types", scale=50.0, why="tanh must not overflow."),
        *cases(one, "n", [900], part="types", scale=50.0, dtypes=HALVES),
        *cases(one, "n", [900], part="types", scale=1e-6, why="Tiny numbers: about x / 2."),
        *cases(one, "rows columns", [(24, 36)], part="views", views=VIEWS_3D),
        *cases(one, "batch rows columns", [(3, 8, 14)], part="views", views=VIEWS_3D),
        *cases(one, "a b c d", [(3, 5, 2, 7)], part="views", views=["transposed"]),
        *cases(one, "n", [500], part="views", views=["stepped_columns", "offset"]),
    ),
    large=(
        *cases(one, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
        *cases(one, "batch rows columns", [(5, 701, 1003)], part="edges"),
    ),
    hints=(
        "Eager torch launches one kernel for each operator, and each of them loads and stores all "
        "of x. How many loads and stores per element does the formula itself need?",
        "Load x once, convert it to float32, and keep every intermediate result in registers. "
        "Triton has no tanh, but 0.5 · (1 + tanh(z)) equals sigmoid(2z). If x is not contiguous, "
        "its offsets differ from those of the output.",
        "`x_offsets = offsets if CONTIGUOUS else strided_offsets(offsets, shape, strides)`, `x = "
        "tl.load(x_ptr + x_offsets, mask=mask).to(tl.float32)`, `z = 0.7978845608028654 * (x + "
        "0.044715 * x * x * x)`, `result = x * tl.sigmoid(2.0 * z)`. Store "
        "`result.to(output_ptr.dtype.element_ty)` at `output_ptr + offsets`, with the mask.",
    ),
    challenge=(
        "Store `x * tl.sigmoid(1.702 * x)`, a common approximation, and check again: "
        "how far off is it?"
    ),
    misconceptions=(
        Misconception(
            code="erf-form",
            title="This is the exact GELU, with erf",
            message=(
                "The output is 0.5 x (1 + erf(x / √2)). The contract asks for the tanh "
                "approximation. The two differ by up to 0.0005."
            ),
            next_step="Use 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).",
            expected_wrong=computes(lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))),
        ),
        Misconception(
            code="sigmoid-form",
            title="This is a sigmoid approximation",
            message=(
                "The output is x · sigmoid(1.702 x) or x · sigmoid(x). These are less exact. "
                "The contract asks for the tanh form with its cubic term."
            ),
            next_step="Use x · sigmoid(2z) with z = √(2/π) (x + 0.044715 x³).",
            expected_wrong=computes(
                lambda x: x * torch.sigmoid(1.702 * x), lambda x: x * torch.sigmoid(x)
            ),
        ),
        Misconception(
            code="cubic-term-missing",
            title="The cubic term is missing",
            message=(
                "The argument of tanh lacks the term 0.044715 x³, or has x² instead. This shows "
                "from about |x| = 1 on."
            ),
            next_step="Use `z = 0.7978845608 * (x + 0.044715 * x * x * x)`.",
            expected_wrong=computes(
                lambda x: 0.5 * x * (1 + torch.tanh(ROOT * x)),
                lambda x: 0.5 * x * (1 + torch.tanh(ROOT * (x + 0.044715 * x**2))),
            ),
        ),
        Misconception(
            code="half-missing",
            title="A factor of 2 is wrong",
            message=(
                "The output is twice or half of the correct one, or uses sigmoid(z) where 0.5 "
                "(1 + tanh(z)) is sigmoid(2z)."
            ),
            next_step="Use either 0.5 x (1 + tanh(z)) or x · sigmoid(2z), without another factor.",
            expected_wrong=computes(
                lambda x: 2 * gelu(x),
                lambda x: x * torch.sigmoid(_argument(x)),
                lambda x: 0.5 * gelu(x),
                lambda x: 0.5 * x * torch.sigmoid(_argument(x)),
            ),
        ),
        Misconception(
            code="root-missing",
            title="The constant lacks its square root",
            message="The argument of tanh is multiplied by 2/π ≈ 0.637 instead of √(2/π) ≈ 0.798.",
            next_step="Use 0.7978845608028654.",
            expected_wrong=computes(
                lambda x: 0.5 * x * (1 + torch.tanh(2 / math.pi * (x + 0.044715 * x**3)))
            ),
        ),
        Misconception(
            code="tanh-approximate",
            title="tanh is replaced by an approximation",
            message=(
                "The argument of tanh is correct, but tanh is computed by a cheaper formula. It "
                "is close near 0, and too far off for float32 elsewhere."
            ),
            next_step="Use `tl.sigmoid(2.0 * z)` for 0.5 (1 + tanh(z)), or `libdevice.tanh(z)`.",
            expected_wrong=computes(_rational),
        ),
        Misconception(
            code="constants-wrong",
            title="A constant of the formula is wrong",
            message=(
                "The output is a GELU, but the argument of tanh is not √(2/π) (x + 0.044715 "
                "x³): a constant has another value or sign, or the root does not multiply the "
                "cubic term."
            ),
            next_step="Compare each digit: `z = 0.7978845608 * (x + 0.044715 * x * x * x)`.",
            detector=_other_constants,
        ),
        Misconception(
            code="formula-part-missing",
            title="A part of the formula is missing",
            message=(
                "In 0.5 · x · (1 + tanh(z)) a part is missing (the 1, the x, the negative half "
                "or a pair of brackets), or a sigmoid is used in place of tanh."
            ),
            next_step="Store `x * tl.sigmoid(2.0 * z)`: 0.5 (1 + tanh(z)) equals sigmoid(2z).",
            expected_wrong=computes(
                lambda x: 0.5 * x * torch.tanh(_argument(x)),
                lambda x: x * torch.tanh(_argument(x)),
                lambda x: 0.5 * (1 + torch.tanh(_argument(x))),
                lambda x: 0.5 * x + torch.tanh(_argument(x)),
                lambda x: 0.5 * x * torch.tanh(_argument(x)) + 1,
                lambda x: 0.5 * x * (1 + torch.sigmoid(2 * _argument(x))),
                lambda x: 0.5 * x * (1 + torch.sigmoid(_argument(x))),
                lambda x: torch.where(x > 0, gelu(x), 0.0),
            ),
        ),
        elementwise.another_activation("the tanh form of GELU", lambda x: x),
        Misconception(
            code="tanh-overflows",
            title="Large numbers become NaN",
            message=(
                "For large |z|, exp overflows to inf, and inf / inf is NaN. The result should "
                "be x, or 0 on the negative side."
            ),
            next_step="Use `tl.sigmoid(2.0 * z)`, or exp of an argument that is never positive.",
            detector=_overflowed,
        ),
        Misconception(
            code="input-clamped",
            title="Large results are cut off",
            message=(
                "For large x the result is x, but here it stops growing. x was clamped to keep "
                "exp from overflowing, and the clamped x is also the factor in front."
            ),
            next_step=(
                "Clamp only the argument of exp, or use a form without a clamp: `x * "
                "tl.sigmoid(2.0 * z)`."
            ),
            detector=_stops_growing,
        ),
        strides.index_of_axes_wrong(gelu),
        strides.strides_padded_behind(gelu),
        strides.column_stride_ignored(gelu),
        strides.output_strides_of_input(gelu),
        elementwise.load_ignores_pid(gelu),
        elementwise.through_integers(),
        shared.contiguous_assumed(gelu),
        rounding.computes_in_half(lambda x: x.abs()),
        rounding.lossy_dtype(gelu),
        shared.missing_mask("a tensor"),
        shared.axis_ignores_pid(),
        shared.tiles_missing("n_rows", "n_cols"),
        shared.offset_ignores_pid(),
    ),
    remarks=(LOADED_TWICE,),
    parts={"core": 3, "edges": 2, "types": 3, "views": 2},
)

EXERCISES = (GELU,)
