"""The table of programs: what should be is derived where it can be, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from graders.judge import discovery
from graders.judge.diagnosis.programs import MOST_ROWS, listed, program_table
from graders.judge.pipeline import Judge
from graders.judge.records import AccessMap, ProgramRow
from tests.support.paths import wrong
from triton_util.report import Report, Table


def row(number: int, first: int, lanes: int, on: int | None = None) -> ProgramRow:
    """A block from `first` on, of whose lanes the first few are on."""
    on = lanes if on is None else on
    touched = ((first, first + on - 1),) if on else ()
    return ProgramRow(number, lanes, on, True, ((first, first + lanes - 1),), touched)


def line(n: int, step: int, start: int = 0, block: int = 4, programs: int = 3) -> AccessMap:
    """Programs in a line, with a mask `offsets < n`."""
    firsts = [start + step * number for number in range(programs)]
    rows = [row(i, a, block, min(max(n - a, 0), block)) for i, a in enumerate(firsts)]
    return AccessMap(
        *("store", "output_ptr", (n,), True, (programs, 1, 1), (block,), True),
        firsts=(start, step, 0, 0),
        steps=(1,),
        twice=(),
        rows=tuple(rows),
    )


def table(pointed: AccessMap, shape: tuple[int, ...] | None = None) -> Table | None:
    expected = torch.zeros(pointed.shape if shape is None else shape)
    stored = {n for r in pointed.rows for a, b in r.touched for n in range(a, b + 1)}
    missed = torch.tensor([n not in stored for n in range(expected.numel())])
    return program_table(pointed, "n=10", expected, missed.reshape(expected.shape))


def cells(found: Table | None, column: str) -> list[str]:
    assert found is not None
    return [r[found.columns.index(column)] for r in found.rows]


def test_a_line_that_ignores_pid_differs_from_one_that_takes_n_for_a_block() -> None:
    ignores, times_n = table(line(10, 0)), table(line(10, 10))
    should = ["0 to 3", "4 to 7", "8, 9"]
    assert cells(ignores, "should be") == cells(times_n, "should be") == should
    assert cells(ignores, "offsets") == ["0 to 3"] * 3
    assert cells(times_n, "offsets") == ["0 to 3", "10 to 13", "20 to 23"]
    assert cells(times_n, "mask") == ["all 4 lanes", "none of 4 lanes", "none of 4 lanes"]
    assert cells(times_n, "stored") == ["0 to 3", "nothing", "nothing"]
    assert ignores is not None
    assert ignores.wrong == (False, True, True)
    assert "No program stored 6 of the 10 elements: 4 to 9." in ignores.notes


def test_negative_offsets_are_shown() -> None:
    pointed = replace(line(10, 4, start=-4), operation="load", argument="x_ptr")
    found = program_table(pointed, "n=10", torch.zeros(10), None)
    assert cells(found, "offsets")[0] == "-4 to -1"
    assert cells(found, "would load")[0] == "-4 to -1"
    assert cells(found, "should be") == ["0 to 3", "4 to 7", "8, 9"]
    assert found is not None
    assert "`x_ptr`" in found.caption


def test_a_mask_too_narrow_is_shown() -> None:
    pointed = line(10, 4)
    narrow = replace(pointed, rows=(*pointed.rows[:2], row(2, 8, 4, 1)))
    found = table(narrow)
    assert (cells(found, "mask")[2], cells(found, "stored")[2]) == ("first 1 of 4 lanes", "8")
    assert cells(found, "should be")[2] == "8, 9"


def test_right_places_have_no_table() -> None:
    assert table(line(10, 4)) is None


def test_a_grid_too_small_leaves_the_programs_right() -> None:
    found = table(line(10, 4, programs=2))
    assert found is not None
    assert not any(found.wrong)
    assert "No program stored 2 of the 10 elements: 8, 9." in found.notes


BACKWARDS = replace(
    line(10, 4), firsts=(8, -4, 0, 0), rows=(row(0, 8, 4, 1), row(1, 4, 4), row(2, 0, 4))
)


@pytest.mark.parametrize(
    "pointed",
    [
        BACKWARDS,
        replace(line(10, 0), once=False),
        replace(line(10, 0), firsts=None),
        replace(line(10, 0), steps=(None,)),
        replace(line(10, 0), dense=False),
        replace(line(10, 0), grid=(1, 3, 1)),
        replace(line(10, 0), shape=(5, 2), block=(2, 2), steps=(2, 1), grid=(1, 1, 3)),
    ],
    ids=["backwards", "twice", "no-line", "scattered", "gaps", "other-axis", "deep"],
)
def test_no_tiling_is_invented(pointed: AccessMap) -> None:
    found = table(pointed)
    assert found is not None
    assert "should be" not in found.columns
    assert not any(found.wrong)


def test_a_tensor_of_another_shape_is_cut_by_nobody() -> None:
    found = table(line(10, 0), shape=(20,))
    assert found is not None
    assert "should be" not in found.columns


def test_rows_are_told_from_blocks() -> None:
    """Five rows of three: a block of four for each row, or four blocks over all fifteen."""
    rows = replace(line(15, 0, programs=5), shape=(5, 3))
    assert cells(table(rows), "should be")[1] == "3 to 5"
    flat = replace(line(15, 0, programs=4), shape=(5, 3))
    assert cells(table(flat), "should be")[1] == "4 to 7"


def tiles(firsts: tuple[int, ...], grid: tuple[int, ...]) -> AccessMap:
    """Tiles of 2 × 4 in a matrix of 3 × 5; what they touched does not matter here."""
    rows = tuple(row(n, 0, 8, 4) for n in range(4))
    return AccessMap(
        *("store", "out", (3, 5), True, grid, (2, 4), True), firsts, (5, 1), (), rows
    )  # fmt: skip


def test_tiles_follow_the_axes_of_the_kernel() -> None:
    down_x = table(tiles((0, 10, 4, 0), (2, 2, 1)))
    assert cells(down_x, "program") == ["(0, 0)", "(1, 0)", "(0, 1)", "(1, 1)"]
    assert cells(down_x, "should be") == ["0 to 3, 5 to 8", "10 to 13", "4, 9", "14"]
    down_y = table(tiles((0, 4, 10, 0), (2, 2, 1)))
    assert cells(down_y, "should be") == ["0 to 3, 5 to 8", "4, 9", "10 to 13", "14"]


def test_a_square_grid_whose_pointers_say_nothing_is_unclear() -> None:
    found = table(tiles((0, 0, 0, 0), (2, 2, 1)))
    assert found is not None
    assert "should be" not in found.columns


def test_the_table_is_short() -> None:
    pointed = line(400, 0, programs=100)
    found = table(replace(pointed, rows=(*pointed.rows[:24], *pointed.rows[-4:])))
    assert found is not None
    assert len(found.rows) == MOST_ROWS + 1
    assert [r[0] for r in found.rows] == ["0", "1", "2", "3", "4", "…", "99"]
    assert len(found.wrong) == len(found.rows)
    assert listed([(n, n) for n in range(0, 40, 2)]) == "0, 2, 4, 6, 8, 10, 12, 14, …"


# What a worker may say within the agreed types, and none of it true.
ABSURD = [
    replace(line(10, 0), grid=(2**60, 2**60, 2**60)),
    replace(line(10, 0), block=(2**60,)),
    replace(line(10, 0), block=(0,)),
    replace(line(10, 0), firsts=(2**60, 2**60, 0, 0)),
    replace(line(10, 0), rows=(row(2**60, -(2**60), 4),) * 64),
    replace(line(10, 0), twice=((-(2**60), 2**60),) * 16),
    replace(tiles((0, 10, 4, 0), (2, 2, 1)), block=(2**60, 2**60)),
    replace(tiles((0, 10, 4, 0), (2, 2, 1)), block=(0, 0)),
    replace(line(10, 0), shape=(2**60,) * 8),
]


@pytest.mark.parametrize("pointed", ABSURD, ids=range(len(ABSURD)))
def test_an_absurd_report_harms_nobody(pointed: AccessMap) -> None:
    shape = (3, 5) if len(pointed.block) == 2 else (10,)
    found = program_table(pointed, "n=10", torch.zeros(shape), torch.ones(shape, dtype=torch.bool))
    assert found is not None
    assert len(found.rows) <= 2 * MOST_ROWS
    assert all(len(cell) < 400 for r in found.rows for cell in r)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge(official=True, allow_unsandboxed=True) as judge:
        yield judge


def judged(judge: Judge, exercise: str, kernel: str) -> Report:
    return judge.judge_text(wrong(exercise, kernel), discovery.exercise(exercise))


@pytest.mark.parametrize(
    ("kernel", "column", "told"),
    [
        ("offset_ignores_pid", "stored", ["0 to 511", "0 to 511"]),
        ("programs_too_far_apart", "stored", ["0 to 127", "nothing"]),
        ("missing_mask", "would load", ["0 to 511", "512 to 1023"]),
        ("starts_before_tensor", "would load", ["-1024 to -1", "0 to 1023"]),
        ("first_elements_missed", "mask", ["first 1 of 1024 lanes", "none of 1024 lanes"]),
        ("missing_mask__store", "would store", ["0 to 255", "256 to 511"]),
    ],
)
def test_the_smallest_public_case_is_told(
    judge: Judge, kernel: str, column: str, told: list[str]
) -> None:
    report = judged(judge, "copy", kernel)
    found = report.findings[0].table
    assert cells(found, column)[:2] == told
    assert found is not None
    assert any(found.wrong)
    public = {case.name for case in discovery.exercise("copy").cases}
    assert found.caption.rpartition(": ")[2] in public
    assert Report.from_json(report.to_json()) == report


def test_wrong_values_at_right_places_have_no_table(judge: Judge) -> None:
    assert judged(judge, "copy", "value_added").findings[0].table is None
