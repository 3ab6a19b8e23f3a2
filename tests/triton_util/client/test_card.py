"""What the learner sees: card and text, progress, hints, quiz, and their colours."""

import dataclasses
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from triton_util import theme
from triton_util.client import attempts, hints, quizzes
from triton_util.client.card import head_and_rest, inline, report_html, waiting_html
from triton_util.client.cards.heat_map import picture_svg, picture_text
from triton_util.client.cards.style import style
from triton_util.client.phrases import first_sentence
from triton_util.client.report import (
    Checked,
    MalformedReport,
    Quoted,
    ShownFinding,
    could_not_check,
    read_report,
)
from triton_util.client.text import report_text
from triton_util.report import KernelResources, Picture, Table

EVIL = '<script>alert("x")</script>&\'"'
GATES = {
    "read": "passed",
    "compile": "passed",
    "interpret": "failed",
    "traffic": "not_run",
    "gpu": "not_run",
}
TABLE = Table(
    "What each program stored: n=5",
    ("program", "loaded from `x_ptr`", "mask", "stored", "should be"),
    (("0", "0 to 3", "all 4 lanes", "0 to 3", "0 to 3"), ("1", "0 to 3", "none", "-", "4")),
    (False, True),
    ("No program stored 1 of the 5 elements: 4.",),
)
PICTURE = Picture(("..xx", "oo.."), "The tail is wrong.")


def failed_report(**changes) -> Checked:
    finding = ShownFinding(
        gate="interpret",
        code="missing-mask",
        title="The last block reads past the end of `x`",
        message="First paragraph.\n\nSecond paragraph.",
        next_step="Give `tl.load` a mask.",
        where="cell [3], line 7",
        code_line="x = tl.load(x_ptr + offsets)",
        case="6 elements",
        picture=PICTURE,
        table=TABLE,
        original="IndexError: 6",
    )
    made = Checked("vector_add", "failed", GATES, (finding, finding), 11, 25, 0, 10, "A", 0.8)
    return Checked(**{**vars(made), **changes})


def parsed(html: str) -> ElementTree.Element:
    """The card without its style; well-formed, or this raises."""
    return ElementTree.fromstring(html.removeprefix(style()))


def words_of(html: str) -> str:
    return " ".join("".join(parsed(html).itertext()).split())


@pytest.mark.parametrize("show", [report_html, report_text])
def test_where_no_case_ran_none_is_counted(show):
    told = show(failed_report(cases_passed=0, cases_total=0, sandbox="C"))
    assert "0 of 0" not in told
    assert "points" not in told
    assert "is not a grade" in " ".join(told.split())


@pytest.mark.parametrize("show", [report_html, report_text])
def test_everything_that_matters_is_told(show):
    report = failed_report(
        sandbox="B", resources=(KernelResources("add_kernel", 80, 18, 1024, 4),), seconds=1.25
    )
    told = words_of(show(report)) if show is report_html else " ".join(show(report).split())
    for words in (
        "not there yet", "11 of 25 cases passed in 1.2 s", "read", "interpret", "gpu",
        "The last block reads past the end of", "First paragraph.", "Second paragraph.",
        "6 elements", "cell [3], line 7", "x = tl.load(x_ptr + offsets)", "The tail is wrong.",
        "never stored", "wrong value", "Give", "IndexError: 6", "add_kernel", "sm_80", "1,024 B",
        "the sandbox here is partial", "What each program stored: n=5", "loaded from",
        "should be", "all 4 lanes", "No program stored 1 of the 5 elements: 4.",
    ):  # fmt: skip
        assert words in told, words


@pytest.mark.parametrize("show", [report_html, report_text])
def test_a_remark_stands_in_a_card_that_passed(show):
    remark = ShownFinding(
        "traffic", "not-grouped", "Not grouped", "It passes.", next_step="Order the tiles."
    )
    report = failed_report(state="passed", findings=(), remarks=(remark,))
    told = words_of(show(report)) if show is report_html else " ".join(show(report).split())
    for words in ("passed", "Not grouped", "It passes.", "Order the tiles."):
        assert words in told, words


def test_a_wrong_program_is_told_without_colour():
    assert "✗ 1        0 to 3" in report_text(failed_report())
    card = parsed(report_html(failed_report()))
    (line,) = [row for row in card.iter("tr") if row.get("class") == "tw-off"][:1]
    assert [sign.get("aria-label") for sign in line.iter("span")] == ["wrong"]


def test_a_column_names_its_argument_as_code():
    card = parsed(report_html(failed_report()))
    heads = [head for head in card.iter("th") if head.get("scope") == "col"]
    assert {code.text for head in heads for code in head.iter("code")} == {"x_ptr"}
    assert "loaded from x_ptr" in {cell.get("data-column") for cell in card.iter("td")}


def test_gates_are_told_without_colour():
    told = words_of(report_html(failed_report()))
    assert "✓read: passed ✓compile: passed" in told or "✓read: passed" in told
    assert "✗interpret: failed" in told
    assert "–traffic: not run" in told


def test_tiers():
    assert "Self-check" not in report_text(failed_report(sandbox="A"))
    assert "Self-check only: there is no sandbox" in report_text(failed_report(sandbox="C"))


def test_help_is_offered_to_those_who_need_it():
    assert 'hint("vector_add")' in report_text(failed_report())
    assert "Stuck?" in words_of(report_html(failed_report()))
    solved = failed_report(state="passed", findings=())
    unknown = failed_report(max_points=0)
    for report in (solved, unknown, could_not_check("vector_add", "", "")):
        assert "Stuck?" not in report_text(report)


def test_every_text_is_escaped():
    finding = ShownFinding(
        gate=EVIL, code=EVIL, title=EVIL, message=f"{EVIL} `{EVIL}`", next_step=EVIL, where=EVIL,
        code_line=EVIL, case=EVIL, picture=Picture((".x",), EVIL), original=EVIL,
        table=Table(EVIL, (EVIL,), ((EVIL,),), (True,), (EVIL,)),
    )  # fmt: skip
    report = failed_report(
        exercise=EVIL, findings=(finding, finding), resources=(KernelResources(EVIL, 80, 1, 1, 1),),
        gates={"read": EVIL},
    )  # fmt: skip
    html = report_html(report)
    parsed(html)
    assert "<script" not in html
    assert "<script" not in waiting_html(EVIL)
    assert "<script" not in hints.hint_html(EVIL, [EVIL], 1)
    listed = [attempts.Listed(EVIL, EVIL, EVIL, EVIL)]
    assert "<script" not in attempts.progress_html(listed, {}, {})
    question = quizzes.Question(EVIL, (quizzes.Choice(EVIL, EVIL, True),))
    assert "<script" not in quizzes.quiz_html(EVIL, (question,))
    assert "<script" not in quizzes.verdict_html(question.choices[0])


def test_inline_marks():
    assert inline("give it to *every* `a*b*c` load") == (
        "give it to <em>every</em> <code>a*b*c</code> load"
    )
    for product in ("2*n*3", "a * b * c", "(m)*n*(k)", "**kwargs", "x[i]*w*y"):
        assert inline(product) == product


def test_card_is_a_named_region_and_pictures_have_alternative_text():
    card = parsed(report_html(failed_report()))
    assert card.get("role") == "region"
    assert card.get("aria-label") == "Check of vector_add: not there yet"
    later = parsed(report_html(failed_report(), at="14:03:07"))
    assert later.get("aria-label") == "Check of vector_add at 14:03:07: not there yet"
    images = [item for item in card.iter("svg") if item.get("role") == "img"]
    assert images
    assert all("The tail is wrong." in item.get("aria-label", "") for item in images)
    assert "4 correct, 2 wrong value, 2 never stored" in images[0].get("aria-label")
    decorative = [item for item in card.iter("svg") if item.get("role") != "img"]
    assert all(item.get("aria-hidden") == "true" for item in decorative)


def test_states_differ_in_shape():
    shapes = {
        state: re.sub(r'class="[^"]*"', "", picture_svg(Picture((state,), ""))).split(">", 1)[1]
        for state in ".xo"
    }
    assert len(set(shapes.values())) == 3
    assert picture_text(PICTURE).splitlines()[:2] == ["· · × ×", "○ ○ · ·"]


def test_large_picture_is_cut():
    svg = picture_svg(Picture(("x." * 250,) * 500, "large"))
    assert svg.count("<rect") == 48 * 64


def words_before_next(report: Checked) -> list[str]:
    """What is read of a card until it says what to do, the code left out."""
    card = parsed(report_html(report))
    finding = next(part for part in card.iter("div") if part.get("class") == "tw-finding")
    words: list[str] = []
    for part in finding:
        if part.get("class") == "tw-next":
            return words
        if part.get("class") != "tw-where":
            words += "".join(part.itertext()).split()
    raise AssertionError("the card says no next step")


def test_a_card_is_short_before_its_next_step():
    """Title and one sentence; the rest of the message is folded, as are gates and tables."""
    long = "The first sentence. " + "More words about what was seen. " * 30
    told = failed_report()
    finding = dataclasses.replace(told.findings[0], message=f"{long}\n\nSeen with x.")
    report = failed_report(findings=(finding,))
    assert len(words_before_next(report)) < 60
    assert "The first sentence." in " ".join(words_before_next(report))
    card = parsed(report_html(report))
    folded = " ".join("".join(part.itertext()) for part in card.iter("details"))
    for words in ("More words", "Seen with x.", "What each program stored", "read: passed"):
        assert words in folded, words


def test_the_original_message_is_shown_where_it_says_more():
    finding = dataclasses.replace(failed_report().findings[0], original="Second  paragraph.")
    assert "The original message" in words_of(report_html(failed_report()))
    assert "The original message" not in words_of(report_html(failed_report(findings=(finding,))))


def test_the_line_stands_among_its_neighbours_and_links_to_its_cell():
    quoted = (Quoted(6, "    a = 1"), Quoted(7, "    b = <2>", True), Quoted(8, "c = 3"))
    finding = dataclasses.replace(failed_report().findings[0], quoted=quoted, cell="0a1b2c3d")
    card = parsed(report_html(failed_report(findings=(finding,), cells=("0a1b2c3d", "ff"))))
    assert card.get("data-cells") == "0a1b2c3d ff"
    (link,) = [item for item in card.iter("a") if item.get("class") == "tw-jump"]
    assert (link.get("data-cell"), link.get("data-line")) == ("0a1b2c3d", "7")
    assert link.text == "cell [3], line 7"
    lines = [item for item in card.iter("span") if item.get("class") == "tw-line"]
    assert ["".join(line.itertext()) for line in lines] == ["6    a = 1", "7    b = <2>", "8c = 3"]
    assert [mark.text for mark in card.iter("mark")] == ["    b = <2>"]


def test_sentences():
    assert first_sentence("One. Two.") == ("One.", "Two.")
    assert first_sentence("Write `a. B` first. Then `c`.") == ("Write `a. B` first.", "Then `c`.")
    assert first_sentence("About e.g. This.\n\nMore.") == ("About e.g. This.", "More.")
    assert first_sentence("Only one") == ("Only one", "")


def test_fault_of_ours_is_no_blame():
    for told in (
        words_of(report_html(could_not_check("vector_add", "It died.", "Try again.", "trace"))),
        report_text(could_not_check("vector_add", "It died.", "Try again.", "trace")),
    ):
        assert "could not be checked" in told
        assert "no fault of your code" in told
        assert "Try again." in told
        assert "trace" in told
        assert "gates" not in told.lower()


@pytest.mark.parametrize("change", [{"verdict": "great"}, {"gates": None}, {"findings": [{}]}, {}])
def test_malformed_answer(change):
    answer = {
        "exercise": "x", "verdict": "passed", "gates": {}, "findings": [], "submission": "cell",
        "points": 1, "max_points": 1, "sandbox": "A", "seconds": 0.1,
    }  # fmt: skip
    if change:
        with pytest.raises(MalformedReport):
            read_report({**answer, **change})
        with pytest.raises(MalformedReport):
            read_report({key: value for key, value in answer.items() if key not in change})
    else:
        assert read_report(answer).state == "passed"


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_can_be_read(palette):
    """WCAG 2.2 AA: 4.5 for text; 3 for the lines of a plot."""
    pairs = [("ink", ground) for ground in ("paper", "raised")]
    pairs += [("ink", f"{state}-soft") for state in ("good", "bad", "warn", "accent")]
    pairs += [("muted", f"{state}-soft") for state in ("good", "bad", "warn", "accent")]
    pairs += [(state, f"{state}-soft") for state in ("good", "bad", "warn", "accent")]
    pairs += [(state, "paper") for state in ("good", "bad", "warn", "accent", "muted")]
    for front, ground in pairs:
        assert contrast(palette[front], palette[ground]) >= 4.5, (front, ground)
    for name in palette:
        if name.startswith("series-"):
            assert contrast(palette[name], palette["paper"]) >= 3, name


def test_both_palettes_name_the_same_colours_once():
    assert theme.LIGHT.keys() == theme.DARK.keys()
    # A plot is recoloured by value, so no two names may share one.
    assert len(set(theme.LIGHT.values())) == len(theme.LIGHT)


def test_plot_follows_the_theme():
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(theme.plot_style()):
        figure = Figure()
        axes = figure.subplots()
        axes.plot([0, 1], [1, 0], label="one")
        axes.set_title("Bytes & <time>")
        html = theme.figure_html(figure, alt='Falls from "1" to 0')
    assert f"var(--tw-series-1, {theme.SERIES[0]})" in html
    assert 'aria-label="Falls from &quot;1&quot; to 0"' in html
    assert "Bytes &amp; &lt;time&gt;" in html
    assert html.count("<style") == 1  # matplotlib's own would restyle the page


def test_progress_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path / "new" / "folder"))
    assert attempts.load() == {}
    assert attempts.record(failed_report())
    assert attempts.record(failed_report(cases_passed=9))
    assert attempts.record(failed_report(state="passed", cases_passed=25, findings=()))
    assert attempts.record(failed_report(cases_passed=1))
    assert not attempts.record(failed_report(state="untouched"))  # a stub that Run All has checked
    assert not attempts.record(could_not_check("vector_add", "", ""))
    kept = attempts.load()["vector_add"]
    assert (kept.checks, kept.best_cases, kept.cases_total) == (4, 25, 25)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", kept.passed)
    assert [path.name for path in attempts.folder().iterdir()] == ["progress.json"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"exercises": 3}', '{"exercises": {"x": {}}}', "\x00\xff"]
)
def test_damaged_progress_is_set_aside(tmp_path, monkeypatch, content):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    (tmp_path / "progress.json").write_bytes(content.encode("latin-1"))
    assert attempts.load() == {}
    assert (tmp_path / "progress.damaged.json").read_bytes() == content.encode("latin-1")
    assert attempts.record(failed_report())
    assert attempts.load()["vector_add"].checks == 1


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    assert attempts.record(failed_report())
    before = (tmp_path / "progress.json").read_text()

    def full(*_args):
        raise OSError("no space left on device")

    monkeypatch.setattr(attempts.os, "replace", full)
    assert not attempts.record(failed_report())
    assert (tmp_path / "progress.json").read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["progress.json"]


def test_progress_folder_is_found_from_below(tmp_path, monkeypatch):
    monkeypatch.delenv("TILEWISE_HOME", raising=False)
    (tmp_path / ".tilewise").mkdir()
    (tmp_path / "lessons" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lessons" / "deep")
    assert attempts.folder() == tmp_path / ".tilewise"


def test_progress_is_shown():
    listed = [
        attempts.Listed("vector_add", "vector_add", "Add two vectors", "01"),
        attempts.Listed("softmax", "reductions", "Row-wise softmax", "07"),
        attempts.Listed("copy", "debugging", "Copy", "02"),
    ]
    recorded = {
        "vector_add": attempts.Attempts(3, "2026-11-02T10:00:00+00:00", 25, 25),
        "softmax": attempts.Attempts(1, "", 4, 30),
    }
    answered = {"vector_add": (2, 4), "debugging": (3, 3)}
    for told in (
        attempts.progress_text(listed, recorded, answered),
        words_of(attempts.progress_html(listed, recorded, answered)),
    ):
        assert "1 of 3 exercises passed, 0 of 3 lessons done" in told  # its quiz is still open
        assert "2 of 4 questions right" in told
        assert "passed on 2026-11-02" in told
        assert "under way: 1 check, at best 4 of 30 cases" in told
        assert "not tried yet" in told
        assert "Next: softmax" in told or "Next: copy" in told


def test_progress_is_a_map_with_the_next_step_on_top(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "02_debugging.ipynb").write_text("{}")
    listed = [
        attempts.Listed("vector_add", "vector_add", "Add two vectors", "01"),
        attempts.Listed("copy", "debugging", "Copy", "02"),
        attempts.Listed("softmax", "reductions", "Row-wise softmax", "07"),
    ]
    recorded = {
        "vector_add": attempts.Attempts(3, "2026-11-02T10:00:00+00:00", 25, 25),
        "softmax": attempts.Attempts(1, "", 4, 30),
    }
    places = [f"{number:02d}_lesson_{number}" for number in range(3, 6)]
    card = parsed(attempts.progress_html(listed, recorded, {"debugging": (1, 3)}, places))
    tiles = [item for item in card.iter("li") if "tw-tile" in item.get("class", "")]
    states = {"".join(tile.itertext())[:2]: tile.get("class", "").split()[1:] for tile in tiles}
    assert states == {
        "01": ["tw-t-done"],
        "02": ["tw-t-begun", "tw-t-next"],
        "03": ["tw-t-none"],
        "04": ["tw-t-none"],
        "05": ["tw-t-none"],
        "07": ["tw-t-begun"],
    }
    (step,) = [item for item in card.iter("p") if item.get("class") == "tw-goal"]
    assert "".join(step.itertext()).startswith("Next: copy, Copy, in lesson 02_debugging")
    assert {link.get("href") for link in card.iter("a")} == {"02_debugging.ipynb"}
    told = attempts.progress_text(listed, recorded, {})
    assert told.split("\n")[1] == "Next: copy, Copy (lesson 02_debugging)"


def test_hints_come_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    steps = ["a nudge", "an idea", "nearly the line"]
    assert [hints.choose("vector_add", steps, None) for _ in range(5)] == [1, 2, 3, 3, 3]
    assert hints.choose("vector_add", steps, 1) == 1
    assert hints.choose("softmax", steps, 2) == 2
    assert hints.choose("softmax", steps, None) == 3
    for wrong in (0, 4, "2", 1.0, True):
        with pytest.raises(ValueError, match="hints 1 to 3"):
            hints.choose("vector_add", steps, wrong)
    assert "last hint" in hints.hint_text("vector_add", steps, 3)
    assert "Run the cell again" in words_of(hints.hint_html("vector_add", steps, 1))


QUESTION = quizzes.Question(
    "Why `mask`?",
    (quizzes.Choice("speed", "No: it costs.", False), quizzes.Choice("end", "Yes.", True)),
)


def test_quiz_in_words():
    told = quizzes.quiz_text("vector_add", (QUESTION,))
    assert "1. Why `mask`?" in told
    assert "b) end" in told
    assert 'quiz("vector_add", 1, "a")' in told
    assert quizzes.pick("vector_add", (QUESTION,), 1, "B").right
    wrong = [(0, "a", "questions 1 to 1"), (True, "a", "questions"), (1, "c", "choices a, b")]
    for number, letter, words in [*wrong, (1, "ab", "choices"), (1, None, "choices a, b")]:
        with pytest.raises(ValueError, match=words):
            quizzes.pick("vector_add", (QUESTION,), number, letter)
    assert quizzes.verdict_text(QUESTION.choices[0]) == "✗ Not quite. No: it costs."


def test_quiz_without_widgets_opens_answers():
    told = words_of(quizzes.quiz_html("vector_add", (QUESTION,)))
    assert "✓ Right." in told
    assert "Yes" not in told
    assert "No: it costs." in told


def test_right_choices_stand_at_all_places_and_each_time_at_the_same():
    items = [
        {
            "prompt": f"question {number}",
            "choices": [
                {"text": text, "answer": "Yes: so.", "right": text == "b"} for text in "abc"
            ],
        }
        for number in range(6)
    ]
    made = [quizzes.read_questions({"questions": items}, "vector_add") for _ in range(2)]
    assert made[0] == made[1]
    places = [[choice.right for choice in question.choices].index(True) for question in made[0]]
    assert sorted(places) == [0, 0, 1, 1, 2, 2]
    assert {choice.text for choice in made[0][0].choices} == set("abc")
    right = made[0][0].choices[places[0]]
    assert quizzes.verdict_text(right) == "✓ Right. So."


def test_quiz_keeps_its_answers_through_a_restart(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    _, buttons, _ = quizzes.quiz_widget("vector_add", (QUESTION,)).children[0].children
    buttons.value = 1
    assert quizzes.answered({"vector_add": 1, "strides": 2}) == {
        "vector_add": (1, 1),
        "strides": (0, 2),
    }
    _, again, answer = quizzes.quiz_widget("vector_add", (QUESTION,)).children[0].children
    assert again.value == 1
    assert "Right" in answer.value
    (tmp_path / "remembered.json").write_text("[broken")
    assert quizzes.kept("vector_add", QUESTION) is None


def test_quiz_widget_answers_each_choice(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    box = quizzes.quiz_widget("vector_add", (QUESTION, QUESTION))
    assert len(box.children) == 2
    _, buttons, answer = box.children[0].children
    assert answer.value == ""
    buttons.value = 0
    assert "Not quite" in answer.value
    assert "No: it costs." in answer.value
    buttons.value = 1
    assert "Right" in answer.value
    assert json.dumps(buttons.get_state()["_options_labels"]) == '["a)  speed", "b)  end"]'
    assert box.children[1].children[2].value == ""


def test_fenced_lines_of_a_question_are_code():
    prompt = "What does `x` become?\n```python\nif x < 1:\n    x = 2\n```\nTake care."
    question = quizzes.Question(
        prompt, (quizzes.Choice("2", "Yes.", True), quizzes.Choice("1", "No.", False))
    )
    shown = quizzes.quiz_html("tour", (question,))
    code = "<pre>if x &lt; 1:\n    x = 2</pre><p>Take care.</p>"
    assert f"<p><b>1.</b> What does <code>x</code> become?</p>{code}" in shown
    text = quizzes.quiz_text("tour", (question,))
    assert "1. What does `x` become?\n    if x < 1:\n        x = 2\nTake care." in text
    assert "```" not in shown + text


def test_a_question_without_fences_is_one_line():
    assert head_and_rest("What is `x`?") == ("What is <code>x</code>?", "")
