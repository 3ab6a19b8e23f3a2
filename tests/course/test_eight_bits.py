"""The tolerance of `fp8_matmul` leaves room for what is known of the tensor cores of an H100.

Of each product of two fp8 numbers, and of the sum so far, they are reported to keep 14 bits,
counted from the highest bit of the largest of them. Here that is arithmetic on a CPU: no GPU has
been asked.
"""

from __future__ import annotations

import pytest
import torch

from graders.judge import discovery
from graders.judge.cases import tensors
from graders.judge.cases.compare import expect, wrong_elements
from graders.judge.cases.prepared import seed_of
from graders.judge.records import Case
from tests.support.capturing import SECRET

EXERCISE = discovery.exercise("fp8_matmul")
HIDDEN = discovery.hidden("fp8_matmul")
FRACTION_BITS = 13  # behind the highest bit
AT_ONCE = 32  # products that one instruction adds to the sum


def summed_in_few_bits(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b; in each step all terms are cut off at the same bit, towards zero."""
    total = torch.zeros(a.shape[0], 1, b.shape[1], dtype=torch.float64)
    for start in range(0, a.shape[1], AT_ONCE):
        products = a[:, start : start + AT_ONCE, None] * b[None, start : start + AT_ONCE]
        terms = torch.cat([total, products], dim=1)
        largest = terms.abs().amax(dim=1, keepdim=True)
        lowest = torch.exp2(largest.clamp(min=2.0**-40).log2().floor() - FRACTION_BITS)
        total = ((terms / lowest).trunc() * lowest).sum(dim=1, keepdim=True)
    return total[:, 0]


@pytest.mark.parametrize(
    "case",
    [*EXERCISE.cases, *(HIDDEN.cases if HIDDEN is not None else ())],
    ids=lambda case: case.name,
)
@pytest.mark.parametrize("draw", range(3))  # each judge draws other numbers
def test_a_sum_in_the_tensor_cores_alone_is_right(case: Case, draw: int) -> None:
    a, b, scale_a, scale_b = args = tensors.build(case, seed_of(SECRET, case, draw))
    total = summed_in_few_bits(a.double(), b.double()).float()
    result = (total * scale_a[:, None] * scale_b[None, :]).to(torch.bfloat16)
    (right,) = expect(EXERCISE, args)
    assert not wrong_elements(result, right).any()


def test_the_bits_are_few() -> None:
    """So the test above is about something: a sum of 4096 equal numbers is not right."""
    a, b = torch.full((1, 4096), 1.125).double(), torch.full((4096, 1), 1.125).double()
    total = summed_in_few_bits(a, b)
    assert float(total) < 0.99 * float(a @ b)
