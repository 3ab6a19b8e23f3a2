"""What programs loaded beside what they stored: facts, and only where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graders.judge import discovery
from graders.judge.diagnosis.programs import MOST_ARGUMENTS, loads_table
from graders.judge.pipeline import Judge
from graders.judge.records import AccessMap, ProgramRow
from tests.support.paths import wrong
from triton_util.report import Table


def accesses(argument: str, *firsts: int, block: int = 4) -> AccessMap:
    """A block of each program, from its first element on."""
    runs = [((first, first + block - 1),) for first in firsts]
    rows = [ProgramRow(n, block, block, True, own, own) for n, own in enumerate(runs)]
    return AccessMap(
        *("store" if argument == "output_ptr" else "load", argument, (12,), True),
        *((len(firsts), 1, 1), (block,), True, None, (1,), (), tuple(rows)),
    )


STORED = accesses("output_ptr", 0, 4, 8)
RIGHT, WRONG_LOAD = accesses("x_ptr", 0, 4, 8), accesses("y_ptr", 0, 0, 0)


def test_loads_stand_beside_stores_and_none_is_called_wrong() -> None:
    found = loads_table(STORED, [RIGHT, WRONG_LOAD], "n=12")
    assert found is not None
    assert found.columns == ("program", "loaded from `y_ptr`", "loaded from `x_ptr`", "stored")
    assert found.rows[1] == ("1", "0 to 3", "4 to 7", "4 to 7")
    assert not any(found.wrong)


@pytest.mark.parametrize(
    "loads",
    [
        [RIGHT],
        [],
        [replace(WRONG_LOAD, once=False)],
        [replace(WRONG_LOAD, dense=False)],
        [replace(WRONG_LOAD, shape=(3, 4))],
        [replace(WRONG_LOAD, block=(2, 2))],
    ],
    ids=["equal", "none", "in a loop", "a view", "another shape", "another block"],
)
def test_what_says_nothing_is_not_shown(loads: list[AccessMap]) -> None:
    assert loads_table(STORED, loads, "n=12") is None


def test_a_program_that_loads_nothing_is_told() -> None:
    found = loads_table(STORED, [replace(RIGHT, rows=RIGHT.rows[:2])], "n=12")
    assert found is not None
    assert found.rows[-1] == ("2", "nothing", "8 to 11")


def test_many_programs_and_many_arguments_are_cut() -> None:
    stored = accesses("output_ptr", *range(0, 80, 4))
    loads = [accesses(f"x{n}_ptr", *[0] * 20) for n in range(5)]
    found = loads_table(stored, loads, "n=80")
    assert found is not None
    assert len(found.columns) == MOST_ARGUMENTS + 2
    assert {row[0] for row in found.rows} >= {"0", "…", "19"}
    assert all(len(row) == len(found.columns) for row in found.rows)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as made:
        yield made


def table_of(judge: Judge, name: str) -> Table | None:
    report = judge.judge_text(wrong("vector_add", name), discovery.exercise("vector_add"))
    return report.findings[0].table


def test_the_card_of_a_load_that_ignores_pid_shows_where_each_program_loads(judge: Judge) -> None:
    found = table_of(judge, "load_ignores_pid")
    assert found is not None
    assert found.caption.startswith("What each program loaded and stored")
    assert found.columns[1] == "loaded from `y_ptr`"
    _, second, *_ = found.rows
    assert second[1].startswith("0")
    assert second[-1].startswith("1024")


def test_a_wrong_operation_needs_no_table(judge: Judge) -> None:
    assert table_of(judge, "wrong_operation") is None
