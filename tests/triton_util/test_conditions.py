"""The condition language of print_if and breakpoint_if."""

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_util.conditions import ConditionError, matches, parse

COMPARE = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@pytest.mark.parametrize(
    ("conditions", "ids", "expected"),
    [
        ("", (3, 4, 5), True),
        ("=0", (0,), True),
        ("=0", (1,), False),
        (",>1", (0, 2), True),
        (",>1", (0, 1), False),
        (">=1,=0", (1, 0), True),
        (">=1,=0", (0, 0), False),
        (">=1,=0", (1, 1), False),
        ("!=2", (2,), False),
        ("!=2", (3,), True),
        ("<3", (2,), True),
        ("<3", (3,), False),
        (" >= 10 , <= 2 ", (10, 2), True),
        (",,=7", (0, 0, 7), True),
        (",,=7", (0, 0), False),
        (",,=0", (5,), True),
        ("=-1", (0,), False),
    ],
)
def test_condition(conditions, ids, expected):
    assert matches(conditions, ids) is expected


@given(
    st.lists(
        st.none() | st.tuples(st.sampled_from(sorted(COMPARE)), st.integers(-3, 20)),
        min_size=1,
        max_size=3,
    ),
    st.tuples(*[st.integers(0, 20)] * 3),
)
def test_agrees_with_python_on_every_axis(conditions, ids):
    text = ",".join("" if item is None else f"{item[0]}{item[1]}" for item in conditions)
    expected = all(
        COMPARE[item[0]](ids[axis], item[1])
        for axis, item in enumerate(conditions)
        if item is not None
    )
    assert matches(text, ids) is expected


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ("0", "condition '0' for axis 0"),
        ("=", "condition '=' for axis 0"),
        (",=>1", "condition '=>1' for axis 1"),
        ("=0,x", "condition 'x' for axis 1"),
        ("=1.5", "'=1.5'"),
        ("=0 =1", "'=0 =1'"),
        ("=0,=0,=0,=0", "3 axes at most"),
        ("__import__('os')", "not understood"),
    ],
)
def test_bad_condition_is_named(conditions, words):
    with pytest.raises(ConditionError) as caught:
        parse(conditions)
    assert words in str(caught.value)


def test_condition_that_is_no_text():
    with pytest.raises(ConditionError, match="not of type int"):
        parse(0)
