"""Case tensors: the layout asked for, poison around it, the same bytes every time."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.judge.cases import tensors
from graders.judge.records import Case, TensorSpec

VIEWS = [
    *("contiguous", "offset", "transposed"),
    *("sliced", "padded", "stepped_rows", "stepped_columns"),
]
DTYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.int32,
    torch.uint8,
    torch.bool,
]


def build(spec: TensorSpec, seed: int = 0) -> torch.Tensor:
    (tensor,) = tensors.build(Case("case", (spec,)), seed)
    assert isinstance(tensor, torch.Tensor)
    return tensor


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    view=st.sampled_from(VIEWS),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 3),
)
def test_the_same_case_gives_the_same_values_in_any_layout(
    shape: tuple[int, int], view: str, dtype: torch.dtype, seed: int
) -> None:
    laid_out = build(TensorSpec(shape, dtype, view=view), seed)  # type: ignore[arg-type]
    plain = build(TensorSpec(shape, dtype), seed)
    assert laid_out.shape == shape
    assert laid_out.dtype == dtype
    assert torch.equal(laid_out.double(), plain.double())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float8_e4m3fn])
@pytest.mark.parametrize("view", ["sliced", "padded", "stepped_rows", "stepped_columns", "offset"])
def test_what_is_not_in_the_view_is_poison(view: str, dtype: torch.dtype) -> None:
    tensor = build(TensorSpec((4, 6), dtype, view=view))  # type: ignore[arg-type]
    storage = torch.tensor([], dtype=tensor.dtype).set_(tensor.untyped_storage())
    assert int(storage.isnan().sum()) == storage.numel() - 24
    assert not bool(tensor.isnan().any())


def test_expanded_views_repeat_with_stride_zero() -> None:
    assert build(TensorSpec((5, 7), view="expanded_rows")).stride() == (0, 1)
    assert build(TensorSpec((5, 7), view="expanded_columns")).stride() == (1, 0)
    assert build(TensorSpec((5, 7), view="first_column")).stride() == (7, 0)


def test_overlapping_rows_share_memory() -> None:
    tensor = build(TensorSpec((5, 8), view="overlapping"))
    assert torch.equal(tensor[0, 4:], tensor[1, :4])


def test_far_views_pass_the_32_bit_border_without_touching_the_memory_between() -> None:
    tensor = build(TensorSpec((3, 4), torch.int8, view="far"))
    last = (tensor.shape[0] - 1) * tensor.stride(0) + tensor.shape[1] - 1
    assert last > 2**31
    assert tensor.shape == (3, 4)


def test_specials_and_infinities() -> None:
    specials = build(TensorSpec((64,), fill="specials"))
    assert bool(specials.isnan().any())
    assert bool((specials == float("inf")).any())
    assert bool((specials == -float("inf")).any())
    assert len(specials[specials == 0].signbit().unique()) == 2, "both zeros"
    assert bool(((specials != 0) & (specials.abs() < torch.finfo(torch.float32).tiny)).any())
    rows = build(TensorSpec((16, 3), fill="neg_inf"))
    assert bool(rows.isinf().any())
    assert bool(rows.isfinite().any(dim=1).all()), "a whole row became -inf"


@pytest.mark.parametrize(
    ("dtype", "shift", "first"),
    [
        (torch.int64, 0, [0, 1, 2, 3]),
        (torch.int64, 2**32 + 2, [2**32 + 2, 2**32 + 3, 2**32 + 4, 2**32 + 5]),
        (torch.int32, -2, [-2, -1, 0, 1]),
        (torch.int8, 126, [126, 127, 0, 1]),
        (torch.uint8, 254, [254, 255, 0, 1]),
        (torch.uint8, -2, [0, 1, 2, 3]),
    ],
)
def test_a_ramp_of_integers_begins_with_the_shift_and_stays_within_its_dtype(
    dtype: torch.dtype, shift: int, first: list[int]
) -> None:
    assert build(TensorSpec((4,), dtype, fill="ramp", shift=shift)).tolist() == first


def test_rounded_integers_lie_around_the_shift_and_within_their_dtype() -> None:
    near = build(TensorSpec((4000,), torch.int64, fill="rounded", scale=50.0, shift=2**40))
    off = (near - 2**40).double()
    assert abs(float(off.mean())) < 5
    assert 45 < float(off.std()) < 55
    small = build(TensorSpec((4000,), torch.uint8, fill="rounded", scale=50.0, shift=100))
    assert (int(small.min()), small.dtype) == (0, torch.uint8)


def test_values_stand_as_they_are_given_and_garbage_is_poison() -> None:
    table = TensorSpec((2, 3), torch.int32, values=(4, 1, 9, 0, 2, 9), garbage=((2, 2), (5, 5)))
    least = torch.iinfo(torch.int32).min
    found = build(table)
    assert found.tolist() == [[4, 1, least], [0, 2, least]]
    pages = TensorSpec((2, 2, 2), view="transposed", garbage=((6, 7),))
    found = build(pages)
    assert found.isnan().nonzero()[:, :2].tolist() == [[1, 1], [1, 1]]


def test_a_case_is_described_in_words() -> None:
    case = Case("c", (TensorSpec((2, 3), torch.float16, view="transposed"), 1e-5))
    words = tensors.describe(case, ("x", "eps"))
    assert words == "x: (2, 3) fp16, a transposed view; eps: 1e-05"
