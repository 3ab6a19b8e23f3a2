"""practice: which puzzle is drawn, what an answer is told, and what is kept."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from triton_util import client
from triton_util.client import remembered
from triton_util.puzzles import drawing, items, page, puzzle, schedule, widgets
from triton_util.puzzles.puzzle import Puzzle

ITEMS = {item.id: item for item in items.load()}
ORDER = ITEMS["vector_add/order/add_kernel-1-1"]
MEND = ITEMS["vector_add/mend/wrong_operation"]
DAY = date(2026, 3, 1)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    monkeypatch.setattr(schedule, "today", lambda: DAY)
    monkeypatch.setattr(puzzle, "_READING", 0.0)
    pass_exercises(tmp_path, "vector_add")
    return tmp_path


def pass_exercises(home: Path, *names: str) -> None:
    tried = {"checks": 1, "passed": "2026-01-01", "best_cases": 1, "cases_total": 1}
    found = {**dict.fromkeys(names, tried), "double": {**tried, "passed": ""}}
    (home / "progress.json").write_text(json.dumps({"exercises": found}))


def right_order(shown: Puzzle) -> list[int]:
    assert isinstance(shown.item, items.OrderItem)
    return [shown.lines.index(line) + 1 for line in shown.item.asked]


def solve(shown: Puzzle) -> str:
    item = shown.item
    right = right_order(shown) if isinstance(item, items.OrderItem) else item.wrong[0][0] + 1
    return shown.judge(right).state


def test_only_exercises_that_were_passed_give_puzzles(home: Path) -> None:
    assert {item.exercise for item in drawing.passed()} == {"vector_add"}
    pass_exercises(home)
    assert drawing.passed() == ()


def test_without_a_puzzle_the_reason_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_exercises(home)
    client.practice().answer(3)
    assert "none is passed yet" in capsys.readouterr().out
    monkeypatch.setattr(drawing, "load", lambda: items.load(home / "none.gz"))
    client.practice().show_answer()
    assert "they were taken out" in capsys.readouterr().out


def test_a_puzzle_stays_until_it_is_solved(capsys: pytest.CaptureFixture[str]) -> None:
    first = client.practice()
    assert isinstance(first, Puzzle)
    told = capsys.readouterr().out
    assert "practice().answer(" in told
    again = client.practice()
    assert isinstance(again, Puzzle)
    assert again.text() == first.text()
    assert solve(first) == "passed"
    following = client.practice()
    assert isinstance(following, Puzzle)
    assert following.item != first.item


def test_all_puzzles_come_once_and_then_after_days(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {item.id for item in drawing.passed()}
    seen = []
    for _ in known:
        item, new = drawing.draw()
        assert new
        seen.append(item.id)
        assert solve(Puzzle(item)) == "passed"
    assert set(seen) == known
    assert schedule.due("puzzles") == []
    monkeypatch.setattr(schedule, "today", lambda: DAY + timedelta(3))
    assert set(schedule.due("puzzles")) == known
    assert drawing.draw()[0].id == min(known)


def test_the_same_seed_draws_the_same(home: Path) -> None:
    def drawn(seed: int) -> list[str]:
        (home / "remembered.json").unlink(missing_ok=True)
        found = []
        for _ in range(4):
            shown = Puzzle(*drawing.draw(seed), seed)
            found.append(shown.text())
            solve(shown)
        return found

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_what_was_missed_comes_back_first(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = drawing.draw()[0]
    assert Puzzle(missed).give_up().state == "plain"
    assert drawing.draw()[0] != missed
    drawing.close()
    monkeypatch.setattr(schedule, "today", lambda: DAY + timedelta(1))
    assert drawing.draw()[0] == missed


def test_only_the_first_answer_counts() -> None:
    remembered.keep("open", "puzzle", MEND.id)
    shown = Puzzle(MEND)
    assert shown.judge(1).state == "failed"
    assert isinstance(MEND, items.MendItem)
    assert shown.judge(MEND.wrong[0][0] + 1).state == "passed"
    assert schedule.waiting("puzzles")[MEND.id] == DAY + timedelta(1)


def test_a_puzzle_that_is_solved_counts_no_more() -> None:
    shown = Puzzle(*drawing.draw())
    assert solve(shown) == "passed"
    other = drawing.draw()[0]
    shown.give_up()
    assert solve(shown) == "passed"
    assert drawing.draw() == (other, False)
    assert schedule.waiting("puzzles") == {shown.item.id: DAY + timedelta(3)}


def test_lines_in_order() -> None:
    shown = Puzzle(ORDER)
    assert isinstance(ORDER, items.OrderItem)
    right = right_order(shown)
    told = shown.judge(right)
    assert told.state == "passed"
    assert "It comes back in 3 days." in told.body
    wrong = [shown.lines.index(ORDER.extra[0]) + 1]
    assert "does not belong" in shown.judge([*right, *wrong]).body
    assert "1 more line must be" in shown.judge(right[:-1]).body
    assert "Look at" in shown.judge([right[1], right[0], *right[2:]]).body
    starts = [line.strip()[:2] for line in ORDER.asked]
    x, y = starts.index("x "), starts.index("y ")
    right[x], right[y] = right[y], right[x]
    assert shown.judge(right).state == "passed"  # neither load needs the other


def test_the_line_of_a_bug() -> None:
    shown = Puzzle(MEND)
    assert isinstance(MEND, items.MendItem)
    number = MEND.wrong[0][0]
    fine = shown.judge(number)  # the line before it, counted from 1
    assert fine.state == "failed"
    assert MEND.lines[number - 1].strip() in fine.body
    told = shown.judge(number + 1)
    assert told.head == MEND.title
    assert MEND.message.split("\n")[0] in told.body
    assert "x - y, mask=mask)    # wrong" in told.code
    assert "x + y, mask=mask)" in told.code.split("\n")[1]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([], "a list of numbers"),
        ("3", "a list of numbers"),
        (None, "a list of numbers"),
        (0, "there is no 0"),
        ([1, 99], "there is no 99"),
        ([True], "there is no True"),
        ([1, 1], "Use each line once"),
    ],
)
def test_what_is_no_answer_does_not_count(answer: object, words: str) -> None:
    told = Puzzle(ORDER).judge(answer)
    assert told.state == "plain"
    assert words in told.body
    assert schedule.known("puzzles") == {}


def test_a_cell_that_is_run_again_answers_no_other_puzzle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(puzzle, "_READING", 60.0)
    client.practice().answer(1)
    assert "Read it first" in capsys.readouterr().out
    assert schedule.known("puzzles") == {}
    client.practice().answer(1)  # it was there before
    assert "Read it first" not in capsys.readouterr().out


def test_shuffled_lines_are_never_in_order() -> None:
    for item in ITEMS.values():
        if isinstance(item, items.OrderItem):
            shown = drawing.shuffled(item)
            assert sorted(shown) == sorted([*item.asked, *item.extra])
            assert shown[: len(item.asked)] != item.asked


def test_lines_move_by_buttons() -> None:
    remembered.keep("open", "puzzle", ORDER.id)
    assert isinstance(ORDER, items.OrderItem)
    box = widgets.puzzle_widget(Puzzle(ORDER))
    _, _, lines, _, moves, told = box.children
    buttons = {button.description: button for button in moves.children}
    shown = drawing.shuffled(ORDER)
    for place, line in enumerate(ORDER.asked):
        lines.value = shown.index(line)
        for _ in range([value for _, value in lines.options].index(lines.value) - place):
            buttons["Move up"].click()
    for line in ORDER.extra:
        lines.value = shown.index(line)
        buttons["Leave out / take in"].click()
        assert "is left out" in told.value
    buttons["Move down"].click()  # the last one stays where it is
    assert not buttons["Check the order"].disabled
    assert buttons["Another one"].disabled
    buttons["Check the order"].click()
    assert "this is the model solution" in told.value
    assert buttons["Check the order"].disabled
    buttons["Another one"].click()
    assert drawing.draw()[0].id != ORDER.id
    assert box.children[2] is not lines


def test_a_line_is_picked_by_a_button() -> None:
    remembered.keep("open", "puzzle", MEND.id)
    assert isinstance(MEND, items.MendItem)
    _, _, lines, _, moves, told = widgets.puzzle_widget(Puzzle(MEND)).children
    buttons = {button.description: button for button in moves.children}
    assert "" not in [label for label, _ in lines.options]
    buttons["This line is wrong"].click()
    assert "Not this line" in told.value
    lines.value = MEND.wrong[0][0]
    buttons["This line is wrong"].click()
    assert "✓" in told.value


def test_after_the_last_puzzle_that_is_said(home: Path) -> None:
    for item in drawing.passed():
        remembered.keep("puzzles", item.id, {"step": 4, "due": ""})
    remembered.keep("open", "puzzle", MEND.id)
    box = widgets.puzzle_widget(Puzzle(MEND))
    buttons = {button.description: button for button in box.children[4].children}
    buttons["Show the answer"].click()
    schedule.held("puzzles", MEND.id)
    for _ in schedule.DAYS:
        schedule.held("puzzles", MEND.id)
    buttons["Another one"].click()
    assert "You have solved every puzzle" in box.children[0].value


def test_without_widgets_the_whole_puzzle_is_shown() -> None:
    for item in (ORDER, MEND):
        shown = page.puzzle_html(Puzzle(item))
        assert "Answer with numbers" in shown
        assert "<pre>" in shown
        assert "offsets < n" not in shown  # escaped


def test_progress_tells_what_is_due(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = len(drawing.passed())
    assert f"`practice()`: 0 of {count} puzzles tried, 0 due again" in drawing.told()
    remembered.keep("open", "puzzle", MEND.id)
    Puzzle(MEND).give_up()
    schedule.missed("questions", "vector_add/123")
    monkeypatch.setattr(schedule, "today", lambda: DAY + timedelta(1))
    told = drawing.told()
    assert f"1 of {count} puzzles tried, 1 due again" in told
    assert "`review()`: 1 missed question due" in told
    pass_exercises(home)
    (home / "remembered.json").unlink()
    assert drawing.told() == ""
