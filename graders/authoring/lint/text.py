"""The rules for the text of a lesson. Each rule yields messages that name the fix."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterator
from functools import cached_property

import triton_util
from graders.authoring.lesson import Lesson, read_solutions
from graders.authoring.lint.minutes import LessonWork, estimate, is_near, lines_to_write
from graders.authoring.rooms import Rooms
from graders.judge import discovery
from graders.judge.predictions import Prediction, predictions
from triton_util import explore, figures

UNGRADED = {"tour"}  # lessons without an exercise cell, a case study and a part for the GPU
WIDTH = 120  # characters of a code line; wider ones scroll in a notebook
PLACEHOLDERS = ("TODO", "FIXME", "lorem", "click here", "simply ", "obviously")
FIRST_WITH_REFERENCES = "10"  # the earlier lessons teach from nothing
WORDS_BEFORE_CODE = 5 * 150  # five minutes of slow reading


class LessonText:
    """The cells of a lesson, parsed."""

    def __init__(self, rooms: Rooms, lesson: Lesson) -> None:
        self.rooms, self.lesson, self.slug = rooms, lesson, lesson.slug

    @cached_property
    def prose(self) -> str:
        """All that a learner reads: the markdown cells."""
        kinds = ("markdown", "case_study")
        return "\n".join(cell.source for cell in self.lesson.cells if cell.kind in kinds)

    @cached_property
    def code(self) -> list[ast.Module]:
        """The code cells. Raises SyntaxError for one that does not parse."""
        kinds = ("code", "setup", "gpu")
        return [ast.parse(cell.source) for cell in self.lesson.cells if cell.kind in kinds]

    @cached_property
    def calls(self) -> list[ast.Call]:
        nodes = (node for module in self.code for node in ast.walk(module))
        return [node for node in nodes if isinstance(node, ast.Call)]

    def calls_of(self, name: str) -> list[ast.Call]:
        """The calls of the function or method `name`."""
        return [call for call in self.calls if ast.unparse(call.func).rpartition(".")[2] == name]

    def attributes(self, owner: str) -> set[str]:
        """The names that are used as `owner.name`."""
        return {
            node.attr
            for module in self.code
            for node in ast.walk(module)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == owner
        }


Rule = Callable[[LessonText], Iterator[str]]


def lint_text(rooms: Rooms, lesson: Lesson) -> Iterator[str]:
    """A message for each thing that a lesson's text lacks."""
    text = LessonText(rooms, lesson)
    where = rooms.name(lesson.path)
    try:
        _ = text.code
    except SyntaxError as error:
        yield f"{where}: a code cell does not parse: {error.msg}: {(error.text or '').strip()}"
        return
    rules = COMMON if lesson.slug in UNGRADED else (*COMMON, *GRADED)
    for rule in rules:
        for message in rule(text):
            yield f"{where}: {message}"


def _first_cell(text: LessonText) -> Iterator[str]:
    if not text.lesson.cells[0].source.startswith("# "):
        yield "begin the first cell with the title"
    stated = re.search(r"\b(\d+) minutes", text.lesson.cells[0].source)
    if not stated:
        yield "say in the first cell how many minutes the lesson takes"
    elif not is_near(int(stated[1]), minutes := estimate(work(text))):
        yield f"says {stated[1]} minutes; by words, cells and exercises it takes {minutes:.0f}"


def work(text: LessonText) -> LessonWork:
    """What the lesson asks of a learner, counted."""
    lesson, slug = text.lesson, text.slug
    path, known = text.rooms.solutions / f"{slug}.py", discovery.exercises()
    solutions = read_solutions(path) if path.is_file() else {}
    asked = [name for name in lesson.names("exercise") if name in known]
    return LessonWork(
        words=len(text.prose.split()),
        cells=sum(cell.kind == "code" for cell in lesson.cells),
        predictions=len(text.calls_of("predict")),
        questions=len(discovery.quiz(slug)) if slug in discovery.lessons() else 0,
        fixes=len(text.calls_of("catch")),
        case_study_points=sum(cell.points for cell in lesson.cells if cell.kind == "case_study"),
        exercises=tuple(
            (known[name].max_points, lines_to_write(solutions.get(name, ""))) for name in asked
        ),
    )


def _code_comes_soon(text: LessonText) -> Iterator[str]:
    words = 0
    for cell in text.lesson.cells:
        if cell.kind == "code":
            break
        words += len(cell.source.split()) if cell.kind == "markdown" else 0
    if words > WORDS_BEFORE_CODE:
        yield f"{words} words come before the first code; {WORDS_BEFORE_CODE} are enough"


def _predictions(text: LessonText) -> Iterator[str]:
    """Check that each prediction has a record in the judge and no guess in the notebook."""
    if not text.calls_of("predict"):
        yield 'ask for a prediction: **Predict** in the text, then predict("id", None)'
    asked = {str(ast.literal_eval(call.args[0])) for call in text.calls_of("predict")}
    recorded = _recorded_predictions(text.slug)
    records = f"graders/course/{text.slug}/predictions.py"
    for name in sorted(asked - set(predictions())):
        yield f"{name!r} is predicted and has no record in {records}"
    for name in sorted(set(recorded) - asked):
        yield f"nothing asks for the prediction {name!r} of {records}"
    for call in text.calls_of("predict"):
        if not _is_none(call.args[1]):
            yield f"predict({ast.unparse(call.args[0])}, …): leave None for the learner"
    for name, record in recorded.items():
        for sentence in (part for part in record.because.split(". ") if len(part.split()) > 3):
            if sentence in text.prose:
                yield f"{sentence!r} gives away the answer of {name!r}"


def _asked_before(text: LessonText) -> Iterator[str]:
    cells = text.lesson.cells
    for index, cell in enumerate(cells):
        before = "\n".join(other.source for other in cells[max(0, index - 8) : index])
        if "predict(" in cell.source and not ("**Predict" in before or "Try:" in before):
            yield f"cell {index} predicts; ask for it by **Predict** in the text before"


def _recorded_predictions(slug: str) -> dict[str, Prediction]:
    try:
        found: dict[str, Prediction] = importlib.import_module(
            f"graders.course.{slug}.predictions"
        ).PREDICTIONS
    except ModuleNotFoundError:
        return {}
    return found


def _asked_once(text: LessonText) -> Iterator[str]:
    if [ast.unparse(call.args[0]) for call in text.calls_of("quiz")] != [repr(text.slug)]:
        yield f'ask the quiz in one cell: quiz("{text.slug}")'
    if not text.calls_of("progress"):
        yield "end with a cell that calls progress()"
    opened = [ast.literal_eval(call.args[0]) for call in text.calls_of("answer")]
    if opened != text.lesson.names("case_study"):
        yield 'open each case study once, in order, by answer("case-study")'


def _caught(text: LessonText) -> Iterator[str]:
    """Check that each name set to None, for the learner to fill in, is passed to a `catch(…)`."""
    assigned = (
        node for module in text.code for node in module.body if isinstance(node, ast.Assign)
    )
    asked = {
        name.id
        for node in assigned
        if _is_none(node.value)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    used = {
        arg.id for call in text.calls_of("catch") for arg in call.args if isinstance(arg, ast.Name)
    }
    for name in sorted(asked - used):
        yield f"{name} = None asks for something that no catch(…) takes"


def _is_none(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return all(isinstance(part, ast.Constant) and part.value is None for part in parts)


def _contracts(text: LessonText) -> Iterator[str]:
    if not text.lesson.names("exercise"):
        yield "a lesson has an exercise"
    previous = 0
    for index, cell in enumerate(text.lesson.cells):
        if cell.kind == "exercise":
            before = "\n".join(other.source for other in text.lesson.cells[previous:index])
            for words in (
                f"## Exercise: `{cell.name}`",
                "**The contract.**",
                f'hint("{cell.name}")',
            ):
                if words not in before:
                    yield f"write {words} before the cell of {cell.name}"
            previous = index


def _case_studies(text: LessonText) -> Iterator[str]:
    studies = [cell for cell in text.lesson.cells if cell.kind == "case_study"]
    if not studies:
        yield "a lesson has a case study"
    for study in studies:
        answer = text.lesson.model_answer(study.name)
        given = sum(int(n) for n in re.findall(r"^- (\d+) points?:", answer, re.MULTILINE))
        stated = re.search(r"\*\*Rubric \((\d+) points\)\*\*", answer)
        if given != study.points or not stated or int(stated[1]) != study.points:
            yield f"{study.name}: write **Rubric ({study.points} points)** with that many points"


def _gpu_part(text: LessonText) -> Iterator[str]:
    cells = [cell for cell in text.lesson.cells if cell.kind == "gpu"]
    if not cells or "## For the GPU" not in text.prose:
        yield "a lesson has a part `## For the GPU`, with a cell `# %% gpu`"
    exercises = set(text.lesson.names("exercise"))
    for cell in cells:
        if "if ON_GPU:" not in cell.source or 'print("Not run:' not in cell.source:
            yield "guard the GPU cell by a plain `if ON_GPU:`, and print why it was not run"
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("do_bench"):
                names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
                for name in sorted(names & exercises):
                    yield f"time {name} with `time_beside`, which also checks it"


def _names(text: LessonText) -> Iterator[str]:
    for owner in (figures, explore):
        short = owner.__name__.rpartition(".")[2]
        for name in sorted(text.attributes(short)):
            if not hasattr(owner, name):
                yield f"{short}.{name} does not exist"
    imports = (node for module in text.code for node in ast.walk(module))
    for node in imports:
        if isinstance(node, ast.ImportFrom) and node.module == "triton_util":
            for alias in node.names:
                submodule = importlib.util.find_spec(f"triton_util.{alias.name}")
                if alias.name not in triton_util.__all__ and submodule is None:
                    yield f"triton_util.{alias.name} does not exist"


def _pictures(text: LessonText) -> Iterator[str]:
    used = text.attributes("explore")
    with_text = {name.removesuffix("_text") for name in explore.__all__ if name.endswith("_text")}
    for name in sorted(used & with_text):
        if f"{name}_text" not in used:
            yield f"print(explore.{name}_text(…)) after explore.{name}, for screen readers"
    for statement in (one for module in text.code for one in module.body[:-1]):
        if isinstance(statement, ast.Expr) and "figures." in ast.unparse(statement):
            yield f"{ast.unparse(statement)} is not shown: make it the last line of its cell"
    if "![" in text.prose or "<img" in text.prose:
        yield "make pictures by code, with an alternative text, and not by links"


def _plain(text: LessonText) -> Iterator[str]:
    for module in text.code:
        if any(isinstance(node, ast.Assert) for node in module.body):
            yield "assert nothing about a learner's result: use check(…) or print"
    for cell in text.lesson.cells:
        if cell.kind in ("code", "gpu"):
            for line in (line for line in cell.source.splitlines() if len(line) > WIDTH):
                yield f"break the line at {WIDTH} characters: {line}"
    for phrase in PLACEHOLDERS:
        if phrase in text.prose.replace("\n", " ") and phrase != "TODO":
            yield f"write without {phrase.strip()!r}"


def _hardware(text: LessonText) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", text.prose):
        measured = re.search(r"[Mm]easured (on|at)", paragraph)
        if measured and not re.search(r"H200|H100|A100|T4", paragraph):
            yield f"name the GPU of what was measured: {paragraph[:60]!r}"
        if re.search(r"[Mm]easured on an\s+NVIDIA", paragraph) and "Triton 3" not in paragraph:
            yield f"name the versions by {{h200: versions}}: {paragraph[:60]!r}"
    known = {path.stem.partition("_")[0] for path in text.rooms.lesson_files()}
    for number in re.findall(r"[Ll]essons? (\d\d)", text.prose):
        if number not in known:
            yield f"there is no lesson {number}"


def _references(text: LessonText) -> Iterator[str]:
    """Later lessons end with the names that other code uses, and with papers and tutorials."""
    if text.lesson.stem[:2] < FIRST_WITH_REFERENCES:
        return
    if "| in this course | elsewhere |" not in text.prose:
        yield "end with a table `| in this course | elsewhere |`"
    _, found, listed = text.prose.partition("References:\n\n")
    if not found:
        yield "end with `References:` and a list"
    for item in re.split(r"\n(?=- )", listed.partition("\n\n")[0]):
        if found and "](https://" not in item:
            yield f"give the reference a link: {item!r}"


COMMON: tuple[Rule, ...] = (
    _first_cell,
    _predictions,
    _asked_before,
    _asked_once,
    _caught,
    _names,
    _pictures,
    _plain,
    _hardware,
)
GRADED: tuple[Rule, ...] = (_code_comes_soon, _contracts, _case_studies, _gpu_part, _references)
