"""What a card shows of a check that passed."""

import json
from xml.etree import ElementTree

import pytest

from triton_util.client import attempts
from triton_util.client.attempts import Attempts, Listed
from triton_util.client.card import report_html
from triton_util.client.cards.style import style
from triton_util.client.passed import passing, passing_html, passing_lines
from triton_util.client.report import Checked, read_report
from triton_util.client.text import report_text
from triton_util.report import BytesMoved, KernelResources

LISTED = [
    Listed("double", "tour", "Double a vector", "00", "Launch one program fewer?"),
    Listed("rgb2grey", "tiles_2d", "A picture in grey", "05", "Take the `mask` off?"),
    Listed("bias_relu", "tiles_2d", "Bias & ReLU", "05"),
    Listed("gelu", "fusion", "GELU", "06"),
    Listed("ahead", "of_its_time", "No lesson asks for it", ""),
]
DONE = Attempts(2, "2026-11-02T10:00:00+00:00", 9, 9, 1000, "n=64")


def passed(exercise: str = "rgb2grey", **changes) -> Checked:
    made = Checked(exercise, "passed", {}, (), 9, 9, moved=BytesMoved("n=64", 800, 400))
    return Checked(**{**vars(made), **changes})


def told(report: Checked, recorded: dict[str, Attempts] | None = None) -> list[str]:
    found = passing(report, recorded or {}, LISTED)
    return [] if found is None else passing_lines(found)


def test_the_first_pass_has_a_challenge_and_a_way_on():
    assert told(passed()) == [
        "In the case `n=64` it moves 800 bytes; the model solution 400.",
        "Break it: Take the `mask` off?",
        "Solved! 1 of 4 exercises done.",
        "Next: `bias_relu`, in this lesson: Bias & ReLU.",
    ]
    assert told(passed(), {"bias_relu": DONE})[-1] == "Next: lesson 06_fusion: GELU."


def test_later_ones_have_figures_and_the_way_on_alone():
    figures, onward = told(passed(), {"rgb2grey": DONE})
    assert onward == "Next: `bias_relu`, in this lesson: Bias & ReLU."
    assert figures.endswith("That is your best so far: it was 1,000.")


@pytest.mark.parametrize(
    ("own", "before", "words"),
    [
        (400, Attempts(), "it moves 400 bytes; the model solution as many."),
        (900, DONE, "That is your best so far: it was 1,000."),
        (1100, DONE, "Your best so far is 1,000."),
        (1000, DONE, "the model solution 400."),
        (900, Attempts(fewest_bytes=1000, bytes_case="another"), "the model solution 400."),
    ],
)
def test_bytes_stand_beside_the_models_and_the_best(own, before, words):
    report = passed(moved=BytesMoved("n=64", own, 400))
    assert told(report, {"rgb2grey": before})[0].endswith(words)


def test_registers_are_those_of_the_newest_target_and_the_hungriest_kernel():
    kernels = [("small", 90, 16, 0), ("large", 90, 40, 0), ("old", 80, 255, 64)]
    resources = tuple(
        KernelResources(name, t, regs, 0, spilled) for name, t, regs, spilled in kernels
    )
    report = passed(moved=None, resources=resources)
    expected = "`large` takes 40 registers a thread on sm_90, nothing spilled."
    assert told(report, {"rgb2grey": DONE})[0] == expected
    spilling = passed(moved=None, resources=(KernelResources("k", 90, 255, 0, 64),))
    assert told(spilling, {"rgb2grey": DONE})[0].endswith("on sm_90, 64 bytes spilled.")


def test_a_check_that_failed_shows_none_of_it():
    assert passing(passed(state="failed"), {}, LISTED) is None


def test_the_last_exercise_leads_to_what_is_open_and_then_nowhere():
    assert told(passed("gelu"))[-1] == "Next: lesson 00_tour: Double a vector."
    everything = dict.fromkeys(("double", "rgb2grey", "bias_relu"), DONE)
    assert all("Next" not in line for line in told(passed("gelu"), everything))
    assert all("Next" not in line for line in told(passed("ahead")))


def test_a_notebook_beside_this_one_is_linked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recorded = {"bias_relu": DONE}
    for linked in (False, True):
        found = passing(passed(), recorded, LISTED)
        card = report_html(passed(), passing_html(found)).removeprefix(style())
        links = [link.get("href") for link in ElementTree.fromstring(card).iter("a")]
        assert links == (["06_fusion.ipynb"] if linked else [])
        (tmp_path / "06_fusion.ipynb").write_text("{}")


def test_the_fewest_bytes_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWISE_HOME", str(tmp_path))
    for own in (800, 900, 700):
        attempts.record(passed(moved=BytesMoved("n=64", own, 400)))
    attempts.record(passed(moved=None))
    attempts.record(passed(state="failed", moved=BytesMoved("n=64", 1, 400)))
    kept = attempts.load()["rgb2grey"]
    assert (kept.fewest_bytes, kept.bytes_case, kept.checks) == (700, "n=64", 5)
    attempts.record(passed(moved=BytesMoved("n=128", 900, 400)))
    assert attempts.load()["rgb2grey"].fewest_bytes == 900


def test_a_file_from_before_is_read(tmp_path):
    path = tmp_path / "progress.json"
    old = {"checks": 3, "passed": "", "best_cases": 4, "cases_total": 9}
    path.write_text(json.dumps({"version": 1, "exercises": {"gelu": old}}))
    assert attempts.load(path) == {"gelu": Attempts(3, "", 4, 9)}


def test_the_judges_figures_are_read():
    answer = {
        "submission": "cell",
        "exercise": "gelu",
        "verdict": "passed",
        "gates": {},
        "findings": [],
        "points": 1,
        "max_points": 1,
        "sandbox": "A",
        "seconds": 0.1,
    }
    assert read_report(answer).moved is None
    moved = {"case": "n=64", "own": 800, "model": 400}
    assert read_report({**answer, "moved": moved}).moved == BytesMoved("n=64", 800, 400)


ROWS = [
    {"program": "0", "lanes": 8, "on": 8, "aimed": [[0, 7]], "stored": [[0, 7]]},
    {"program": "1", "lanes": 8, "on": 2, "aimed": [[8, 15]], "stored": [[8, 9]]},
]
ACCESS = {"case": "n=10", "shape": [10], "programs": 2, "rows": ROWS}
TILES = {
    **ACCESS,
    "shape": [2, 5],
    "programs": 4,
    "rows": [
        {"program": "(0, 0)", "lanes": 8, "on": 8, "aimed": [[0, 3], [5, 8]],
         "stored": [[0, 3], [5, 8]]},
        {"program": "(0, 1)", "lanes": 8, "on": 2, "aimed": [[4, 7], [9, 12]],
         "stored": [[4, 4], [9, 9]]},
    ],
}  # fmt: skip


def shown(access: dict) -> str:
    found = passing(passed(), {}, LISTED, {"access": access, "registers": None})
    assert found is not None
    return passing_html(found)


def test_the_picture_shows_what_each_program_stores_and_which_lanes_are_off():
    page = ElementTree.fromstring(shown(ACCESS))
    (picture,) = page.iter("svg")
    assert "program 1 stores 8 to 9 (2 of 8 lanes)" in picture.attrib["aria-label"]
    kinds = [bar.attrib["class"] for bar in picture.iter("rect")]
    assert kinds == ["tw-lanes", "tw-run"] * 2
    stored, aimed = (
        [float(b.attrib["width"]) for b in picture.iter("rect") if b.attrib["class"] == kind]
        for kind in ("tw-run", "tw-lanes")
    )
    assert stored[1] == pytest.approx(aimed[1] / 4, rel=1e-2)
    text = told_with(ACCESS)
    assert text.startswith("In the case `n=10` program 0 stores 0 to 7 (all 8 lanes); program 1")


def told_with(access: dict) -> str:
    found = passing(passed(), {}, LISTED, {"access": access})
    assert found is not None
    return passing_lines(found)[0]


def test_tiles_are_cut_at_the_ends_of_rows():
    (picture,) = ElementTree.fromstring(shown(TILES)).iter("svg")
    tiles = [b for b in picture.iter("rect") if b.attrib["class"].startswith("tw-run")]
    columns = {(b.attrib["x"], b.attrib["y"]) for b in tiles}
    assert len(columns) == len(tiles) == 4
    assert "and 2 more." in picture.attrib["aria-label"]


def test_what_cannot_be_drawn_is_left_out():
    found = passing(passed(), {}, LISTED, {"access": None, "registers": None})
    assert found is not None
    assert found.access is None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"registers": 20, "spill_bytes": 0}, "; the model solution as many ("),
        ({"registers": 18, "spill_bytes": 0}, "; the model solution 18 ("),
        ({"registers": 18, "spill_bytes": 8}, "the model solution 18, 8 bytes spilled ("),
        ({"registers": 18, "spill_bytes": 0, "target": 80}, "nothing spilled."),
    ],
)
def test_registers_stand_beside_the_models(model, words):
    report = passed(
        resources=(KernelResources("k", 90, 20, 0, 0), KernelResources("k", 80, 30, 0, 0))
    )
    model = {"target": 90, "triton": "3.9", **model}
    found = passing(report, {}, LISTED, {"registers": model})
    assert found is not None
    assert words in found.figures[1]


MODEL = {"source": "@triton.jit\ndef k(x):\n    y = x < 1", "differs": ["You use `exp`."]}


def test_the_model_kernel_is_folded_beside_what_differs():
    found = passing(passed(), {}, LISTED, {"model": MODEL})
    card = passing_html(found)
    folded = card.partition('<details class="tw-model"><summary>')[2]
    assert "<li>You use <code>exp</code>.</li>" in folded
    assert "    y = x &lt; 1</pre></details>" in folded
    ElementTree.fromstring(card)


def test_as_text_the_model_kernel_keeps_its_lines_and_comes_once():
    first = passing(passed(), {}, LISTED, {"model": MODEL})
    shown = report_text(passed(), passing_lines(first))
    assert "  - You use `exp`.\n" in shown
    assert "\n    @triton.jit\n    def k(x):\n        y = x < 1" in shown
    later = passing(passed(), {"rgb2grey": DONE}, LISTED, {"model": MODEL})
    assert "def k" not in "\n".join(passing_lines(later))
    assert "def k" in passing_html(later)


@pytest.mark.parametrize("answer", [{}, {"model": None}])
def test_without_a_model_there_is_nothing_to_fold(answer):
    assert "tw-model" not in passing_html(passing(passed(), {}, LISTED, answer))
