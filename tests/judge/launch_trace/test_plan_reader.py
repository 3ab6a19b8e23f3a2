"""What comes from a launcher's process is a plan or a PlanError, whatever it is."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.judge.plan.reader import PlanError, plan_from_lines
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    Fill,
    Kernel,
    Launch,
    LaunchPlan,
    Note,
    Parameter,
    Raised,
    TensorRef,
    Trial,
    Tune,
    launches_of,
    tensors_in,
    to_json,
)

VIEW = TensorRef(0, "float32", (4, 6), (6, 1), 3)
OTHER = TensorRef(1, "float16", (24,), (1,), 0)
LAUNCH = Launch(
    0,
    [4, 1],
    (VIEW.to_json(), 3, 2.5, True, None, "text", {"dtype": "fp16"}, {"unknown": "list"}),
    {
        "BLOCK": {"constexpr": 64},
        "pair": {"tuple": [1, {"kernel": 0}]},
        "f": {"library": ["triton.language.math", "exp"]},
        "d": {"descriptor": [VIEW.to_json(), [4, 6], [6, 1], [4, 2], "zero"]},
    },
    line=7,
    allocator=True,
)
TUNE = Tune(
    tuner=0,
    key="('64',)",
    configs=3,
    known=False,
    kernel="k",
    arguments={"x_ptr": VIEW.to_json()},
    trials=(Trial({"BLOCK": 64}, (Fill(OTHER, 0),), (LAUNCH,), (Fill(OTHER, 1.5),), (LAUNCH,)),),
    finish=(Fill(OTHER, float("-inf")),),
    line=9,
)
KERNEL = Kernel(
    line=4,
    name="k",
    names={"tl": {"module": "triton.language"}, "math": {"numbers": {"pi": 3.14}}, "other": 5},
    parameters=(Parameter("x_ptr"), Parameter("BLOCK", "constexpr", 64, True)),
    specialize_not=("x_ptr",),
    noinline=True,
)
PLAN = LaunchPlan(
    kernels=(KERNEL,),
    module=CasePlan(steps=(Constant(9, "int64", (1, 2)),)),
    cases=(
        CasePlan(
            (Allocate(1, "float16", 24, 5), Copy(OTHER, VIEW, 6), LAUNCH, TUNE),
            OTHER.to_json(),
            (0, None),
        ),
        CasePlan(raised=Raised("ValueError", "no", 3, "launcher")),
    ),
    told=(Note("torch-computes", "add", 3, -1),),
)


def lines(plan: LaunchPlan) -> list[Any]:
    """The lines that tell the plan."""
    made = [
        {
            "module": to_json(plan.module),
            "kernels": [to_json(kernel) for kernel in plan.kernels],
            "told": [to_json(told) for told in plan.told],
        },
        *({"case": to_json(case)} for case in plan.cases),
    ]
    again: list[Any] = json.loads(json.dumps(made))
    return again


def test_a_plan_survives_the_journey() -> None:
    assert plan_from_lines(lines(PLAN), cases=2) == PLAN


def test_launches_and_tensors_are_found_wherever_they_are() -> None:
    assert list(launches_of(PLAN.cases[0].steps)) == [LAUNCH] * 3
    assert list(tensors_in([*LAUNCH.positional, *LAUNCH.named.values()])) == [VIEW, VIEW]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


PLACES = list(places(lines(PLAN)))
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(("tensor", "x" * 30_000, "float32", "launch", "__class__")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("tensor", "tuple", "kernel", "constexpr", "library", "numbers", "steps")
            )
            | st.text(max_size=3),
            inner,
            max_size=2,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(PLACES), ANYTHING)
def test_a_plan_with_anything_anywhere_is_read_or_refused(place: Any, value: Any) -> None:
    raw: Any = lines(PLAN)
    if place:
        inner = raw
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = copy.deepcopy(value)
    else:
        raw = value
    try:
        read = plan_from_lines(raw, cases=2)
    except PlanError:
        return
    assert isinstance(read, LaunchPlan)
    plan_from_lines(lines(read), cases=2)


NESTED: Any = 1
for _ in range(5_000):
    NESTED = {"tuple": [NESTED]}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((1, "case", "result"), NESTED),
        ((1, "case", "result"), {"tensor": [0, "float32", [1 << 50], [1], 0]}),
        ((1, "case", "result"), {"tensor": [-1, "float32", [1], [1], 0]}),
        ((1, "case", "result"), {"tensor": [0, "float 32", [1], [1], 0]}),
        ((1, "case", "result"), {"tensor": [0, "float32", [1], [1], 0], "more": 1}),
        ((1, "case", "steps"), [["allocate", 1, "float32", 1, None]] * 30_001),
        ((1, "case", "steps"), [["exec", "os.abort()"]]),
        ((1, "case", "steps", 2, 3), [1] * 300),
        ((), [{"case": to_json(CasePlan())}] * 3),
        (
            (
                0,
                "kernels",
            ),
            [to_json(KERNEL)] * 65,
        ),
        ((0, "kernels", 0, "name"), "a.b"),
        ((0, "kernels", 0, "names", "other"), {"kernel": 1}),
        ((0, "told"), [["a", "b", None, 1]] * 201),
    ],
)
def test_what_is_too_much_or_of_no_known_form_is_refused(place: Any, value: Any) -> None:
    raw: Any = lines(PLAN)
    inner = raw
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1] if place else slice(None)] = value
    with pytest.raises(PlanError):
        plan_from_lines(raw, cases=2)
