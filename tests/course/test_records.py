"""Cases, references and misconceptions agree; `tilewise build --lint` looks at the rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from graders.judge import discovery
from graders.judge.calling.calls import Call, made_calls
from graders.judge.calling.explain import near, wrong_numbers
from graders.judge.cases import tensors
from graders.judge.cases.compare import expect, wrong_elements
from graders.judge.cases.prepared import seed_of
from graders.judge.diagnosis.matching import differs, wrong_results
from graders.judge.records import Case, Exercise, ExpectedWrong, Hidden
from tests.support.capturing import SECRET
from tests.support.paths import wrong

TESTS = Path(__file__).parents[1]
EXERCISES = tuple(discovery.exercises().values())
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.name)
of_kernels = pytest.mark.parametrize(
    "exercise", tuple(discovery.of_kernels().values()), ids=lambda e: e.name
)
of_functions = pytest.mark.parametrize(
    "exercise", [e for e in EXERCISES if e.function is not None], ids=lambda e: e.name
)


def hidden_of(exercise: Exercise) -> Hidden:
    hidden = discovery.hidden(exercise.name)
    assert hidden is not None, f"graders/course/{exercise.lesson}/hidden.py lacks {exercise.name!r}"
    return hidden


def built(case: Case) -> tuple[Any, ...]:
    return tensors.build(case, seed_of(SECRET, case))


def shows(expected: ExpectedWrong, case: Case, exercise: Exercise, result: int) -> bool:
    """Whether the judge would refuse what the mistake computes in this case, in some form."""
    args = built(case)
    right = expect(exercise, args)[result]
    for results in wrong_results(expected, args, result):
        for result_of in results:
            assert tuple(result_of.shape) == right.shape, case.name
            if differs(result_of, right):
                return True
    return False


# What becomes of a kernel that was broken as its challenge says; of the others a remark is made.
BROKEN = {
    "attention": "rescaling_missing",
    "attention_lse": "maximum_not_added",
    "autotuned_matmul": "key_missing",
    "bias_relu": "relu_before_bias",
    "copy": "programs_too_far_apart",
    "decode_attention": "sums_not_merged",
    "dot_tile": "k_not_masked",
    "double": "grid_too_small",
    "cross_entropy": "rescaling_missing",
    "cross_entropy_backward": "dloss_read_as_dense",
    "cumsum": "carry_forgotten",
    "dropout_residual": "counter_of_lane",
    "fair_ms": "flushed_before_the_inputs",
    "find_bug": "equal_values",
    "fp8_matmul": "scaled_tile_rounded",
    "gelu": "sigmoid_form",
    "grouped_gemm": "grid_too_small",
    "histogram": "update_not_atomic",
    "layernorm": "padding_counted",
    "linear_bias_relu": "relu_before_bias",
    "linear_bias_relu_backward": "mask_missing",
    "matmul": "k_not_masked",
    "outer_sum": "vectors_exchanged",
    "persistent_matmul": "accumulator_kept",
    "quantized_matmul": "group_of_block_start",
    "relu2d": "grid_too_small",
    "rgb2grey": "missing_mask",
    "row_sum": "last_block_only",
    "scale_rows": "lanes_not_neighbours__at_most",
    "softmax": "max_not_subtracted",
    "softmax_backward": "strides_exchanged",
    "split_k_matmul": "part_stored",
    "strided_copy": "strides_swapped",
    "swizzle_ids": "last_group_not_clamped",
    "throughput": "sides_for_elements__three_times_n",
    "transpose": "strides_swapped",
    "vector_add": "missing_mask__store",
}


@every_exercise
def test_a_challenge_breaks_what_the_judge_knows(exercise: Exercise) -> None:
    """The kernel is kept among the wrong ones, so its verdict is known."""
    if exercise.name not in BROKEN:
        assert exercise.remarks, f"{exercise.name}: nothing is said of a kernel broken like this"
        return
    assert wrong(exercise.name, BROKEN[exercise.name])


@every_exercise
def test_cases_are_named_once(exercise: Exercise) -> None:
    public, hidden = exercise.cases, hidden_of(exercise).cases
    names = [case.name for case in public + hidden]
    assert len(set(names)) == len(names), "two cases share a name"
    runs_orders = exercise.function is None and exercise.name != "swizzle_ids"
    assert any(case.engine_orders for case in public) == runs_orders


def of_two(n: int, by: int) -> bool:
    """Whether a number lies within `by` of a power of two."""
    return any(abs(n - 2**power) <= by for power in range(20))


# What a case of a vector is said to be, and whether it is: by its length.
WHYS: dict[str, Callable[[int], bool]] = {
    "One block or several, the last one not full.": lambda n: bool(n % 16),
    "Full blocks.": lambda n: of_two(n, 0),
    "Many blocks, whatever their size.": lambda n: n > 2**16 and bool(n % 2),
    "None, few, or near a power of two.": lambda n: n < 8 or of_two(n, 1),
}


@pytest.mark.parametrize("name", ["vector_add", "copy"])
def test_a_case_is_what_it_is_said_to_be(name: str) -> None:
    told = [case for case in discovery.exercise(name).cases if case.why in WHYS]
    assert {case.why for case in told} == set(WHYS)
    for case in told:
        (length,) = {arg.shape[0] for arg in specs(case)}
        assert WHYS[case.why](length), f"{name}, {case.name}: {case.why!r} is not so"


def specs(case: Case) -> list[tensors.TensorSpec]:
    return [arg for arg in case.args if isinstance(arg, tensors.TensorSpec)]


@of_kernels
def test_the_reference_answers_every_case(exercise: Exercise) -> None:
    for case in exercise.cases + hidden_of(exercise).cases:
        args = built(case)
        assert len(args) == len(exercise.parameters), case.name
        for expectation in expect(exercise, args):
            if expectation.slack is not None:
                assert expectation.slack.shape == expectation.values.shape, case.name
            assert expectation.values.isfinite().all() or "specials" in case.name, case.name


@of_kernels
def test_every_expected_wrong_result_differs_from_the_right_one(exercise: Exercise) -> None:
    for misconception in exercise.misconceptions:
        for number, expected in enumerate(misconception.expected_wrong, start=1):
            asked = range(len(exercise.results) or 1)
            if misconception.result is not None:
                asked = range(misconception.result, misconception.result + 1)
            assert any(
                shows(expected, case, exercise, result)
                for case in exercise.cases
                for result in asked
            ), (
                f"{exercise.name}: no public case tells expected wrong result {number} of "
                f"{misconception.code!r} from the right one; add a case"
            )


@of_kernels
def test_the_reference_is_not_refused(exercise: Exercise) -> None:
    """The reference, rounded once to the output's dtype, is within the tolerance."""
    for case in exercise.cases:
        for expectation in expect(exercise, built(case)):
            values = expectation.values
            rounded = values if expectation.any_integer else values.to(expectation.dtype)
            assert not wrong_elements(rounded, expectation).any(), case.name


def calls(exercise: Exercise, cases: tuple[Case, ...]) -> list[Call]:
    assert exercise.function is not None
    return made_calls(exercise, exercise.function, cases, 5)


@of_functions
def test_the_reference_answers_every_call(exercise: Exercise) -> None:
    """`made_calls` raises where it does not, or not by finite numbers."""
    for call in calls(exercise, exercise.cases + hidden_of(exercise).cases):
        assert len(call.args) == len(exercise.parameters), call.case.name


@of_functions
def test_every_number_that_a_mistake_gives_differs_from_the_right_one(exercise: Exercise) -> None:
    """In each of its forms, in some public case."""
    made = calls(exercise, exercise.cases)
    for misconception in exercise.misconceptions:
        for expected in misconception.expected_wrong:
            forms = [forms for call in made if (forms := wrong_numbers(expected, call))]
            assert forms, f"{exercise.name}: {misconception.code} computes nothing in any case"
            shown = [
                any(differ(one, call.expected, exercise) for one in wrong_numbers(expected, call))
                for call in made
            ]
            assert any(shown), f"{exercise.name}: no public case shows {misconception.code!r}"


def differ(numbers: tuple[float, ...], others: tuple[float, ...], exercise: Exercise) -> bool:
    assert exercise.function is not None
    return not near(numbers, others, exercise.function.rel)


def test_half_precision_accumulation_is_refused() -> None:
    """The tolerance of a product is wide enough for any order, and no wider than float32."""
    exercise = discovery.exercise("matmul")
    for case in exercise.cases:
        args = built(case)
        if args[0].dtype != torch.float16 or "cancelling" not in case.name:
            continue
        (expectation,) = expect(exercise, args)
        terms = args[0].T[:, :, None].float() * args[1][:, None, :].float()
        forward = terms.sum(dim=0).to(torch.float16)
        backward = terms.flip(0).cumsum(dim=0)[-1].to(torch.float16)
        in_half = torch.zeros_like(forward)
        for term in terms:
            in_half = (in_half.float() + term).to(torch.float16)
        assert not wrong_elements(forward, expectation).any()
        assert not wrong_elements(backward, expectation).any()
        assert wrong_elements(in_half, expectation).any()
        return
    pytest.fail("matmul has no cancelling case in float16")
