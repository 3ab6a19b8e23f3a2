"""A mutation score of the judge: single edits of correct kernels, each judged like a submission.

    python benchmarks/mutants.py [--exercise NAME ...] [--sample 2000 --seed 1] [--jobs N]
                                 [--minutes 8] [--json FILE]

Every edit of `mutant_edits.py` is made in every correct kernel and launcher of `tests/course` and
`solutions`. An edit is left out if the judge reads the same text as without it, or as with another
one. A mutant survives if it gets all points, those of the hidden cases included. Of the survivors

- some are equivalent: all specialisations of the public cases compile to the same PTX;
- some are allowed: `tests/course/survivors.toml` says why;
- the others are unexplained, and listed with file, line and edit.

With `--json` each result is written at once, and a later call judges only what the file lacks.
`--minutes 0` judges nothing and prints what the file says. Exit code 1: a survivor is unexplained.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import multiprocessing
import random
import re
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.mutant_edits import Edit, applied, edits  # noqa: E402
from graders.authoring.kernels import correct_kernels  # noqa: E402
from graders.authoring.lesson import read_solutions  # noqa: E402
from graders.authoring.rooms import Rooms  # noqa: E402
from graders.judge import discovery  # noqa: E402
from graders.judge.compiling.gate import asked, items_of  # noqa: E402
from graders.judge.launch_trace.gate import FILENAME  # noqa: E402
from graders.judge.pipeline import Judge  # noqa: E402
from graders.judge.plan.specialising import specialising  # noqa: E402
from graders.judge.plan.steps import kernels_to_json, launches_of  # noqa: E402
from graders.judge.records import Exercise, GraderError  # noqa: E402
from graders.judge.submission.canonical import canonical  # noqa: E402
from graders.judge.submission.loading import SubmissionError, from_text  # noqa: E402
from graders.judge.submission.program import Program  # noqa: E402
from graders.judge.submission.python_text import Cell  # noqa: E402
from triton_util.report import Report, Verdict  # noqa: E402

ROOMS = Rooms(ROOT)
SURVIVORS = ROOT / "tests" / "course" / "survivors.toml"
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"
LATE_SECONDS = 60.0  # after --minutes, for the mutants that are being judged
STATES = ("refused", "equivalent", "allowed", "unexplained", "ungraded")
# what PTX says about lines of the source
PLACES = re.compile(r"//.*|^\s*(\.loc|\.file)\b.*|^\$L__(tmp|func_\w+?)\d+:", re.MULTILINE)


@dataclass(frozen=True)
class Kernel:
    """A correct submission. `first_line`: of the text, in the file."""

    exercise: str
    name: str  # "solution", or that of its file
    path: str
    text: str
    first_line: int = 1


@dataclass(frozen=True)
class Mutant:
    """A correct submission with one edit; `before` and `after` are the changed statement."""

    exercise: str
    kernel: str
    path: str
    line: int
    kind: str
    function: str
    in_kernel: bool
    before: str
    after: str
    original: str
    text: str

    @property
    def key(self) -> str:
        """Exercise, kernel and text as one word."""
        said = json.dumps([self.exercise, self.kernel, self.text])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


# ---------------------------------------------------------------- the mutants


def kernels(exercise: str) -> Iterator[Kernel]:
    """The model solution and the correct kernels of an exercise."""
    path = discovery.model_path(discovery.exercise(exercise))
    if path is not None:
        cell = read_solutions(path)[exercise]
        before = path.read_text(encoding="utf-8").partition(cell)[0]
        first = before.count("\n") + 1 - IMPORTS.count("\n")
        yield Kernel(exercise, "solution", _named(path), IMPORTS + cell, first)
    for name, known in correct_kernels(ROOMS.kernels(exercise)).items():
        yield Kernel(exercise, name, _named(known.path), known.text)


def _named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def mutants(kernel: Kernel) -> list[Mutant]:
    """The mutants of a kernel whose text differs from its own and from one another."""
    tree = needed(kernel.text, discovery.exercise(kernel.exercise))
    texts = [ast.unparse(statement) for statement in tree.body]
    original = "\n\n".join(texts) + "\n"
    places = {id(node): n for n, top in enumerate(tree.body) for node in ast.walk(top)}
    made: dict[str, Mutant] = {}
    for edit in list(edits(tree)):
        place = places.get(id(edit.owner))
        if place is None:
            continue
        with applied(edit.owner, edit.field, edit.new):
            changed = ast.unparse(tree.body[place])
        text = "\n\n".join([*texts[:place], changed, *texts[place + 1 :]]) + "\n"
        if text != original:
            made.setdefault(text, _mutant(kernel, edit, original, text))
    return list(made.values())


def needed(text: str, exercise: Exercise) -> ast.Module:
    """The part of a submission that its launcher needs, which is what the judge reads."""
    program = Program([Cell(0, text)])
    return ast.parse(program.slice(exercise.name, exercise.parameters).source)


def _mutant(kernel: Kernel, edit: Edit, original: str, text: str) -> Mutant:
    return Mutant(
        kernel.exercise,
        kernel.name,
        kernel.path,
        kernel.first_line + edit.line - 1,
        edit.kind,
        edit.function,
        edit.in_kernel,
        edit.before,
        edit.after,
        original,
        text,
    )


def meaning(text: str) -> str:
    """A digest of what the judge makes of a text: canonical functions, and all else as written."""
    parts: list[str] = []
    for top in ast.parse(text).body:
        functions = [node for node in ast.walk(top) if isinstance(node, ast.FunctionDef)]
        codes = canonical([top])
        if not isinstance(top, ast.FunctionDef) or len(codes) != len(functions):
            parts.append(ast.unparse(top))
            continue
        for node in functions:
            around = (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults)
            parts += [ast.unparse(part) for part in around if part is not None]
        parts += [code.text for code in codes]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


# ---------------------------------------------------------------- judging them


@cache
def _judge() -> Judge:
    """One judge for each process; its warm workers end with it."""
    return Judge(official=True, allow_unsandboxed=True, timed=False)


def judged(mutant: Mutant) -> dict[str, Any]:
    """What the judge says of a mutant, as a line of the file."""
    judge, exercise = _judge(), discovery.exercise(mutant.exercise)
    said = {key: value for key, value in asdict(mutant).items() if key not in ("original", "text")}
    try:
        means = meaning(mutant.text)
    except SyntaxError:  # of an edit that Python cannot read back
        means = ""
    row = {"key": mutant.key, "meaning": means, **said}
    if means == meaning(mutant.original):
        return {**row, "verdict": "same", "points": None, "max_points": None}
    report = judge.judge_text(mutant.text, exercise, "<mutant>")
    return {
        **row,
        "verdict": str(report.verdict),
        "points": report.points,
        "max_points": report.max_points,
        "public_points": report.public_points,
        "code": next((finding.code for finding in report.findings), ""),
        "same_ptx": survives(report) and mutant.in_kernel and same_ptx(judge, mutant, exercise),
        "seconds": round(report.seconds, 2),
    }


def survives(report: Report) -> bool:
    return report.verdict is Verdict.PASSED and report.points == report.max_points


def same_ptx(judge: Judge, mutant: Mutant, exercise: Exercise) -> bool:
    """Whether an edit of a kernel changes no instruction; False if that is not known."""
    made = ptx_of(judge, mutant.text, exercise)
    return bool(made) and made == ptx_of(judge, mutant.original, exercise)


def ptx_of(judge: Judge, text: str, exercise: Exercise) -> list[str] | None:
    """The PTX of each launch in the public cases, without places of the source; None if not all."""
    try:
        submission = from_text(text, exercise, "<mutant>")
        plan = judge.runtime.capture(submission, exercise).plan
        launches = [launch for case in plan.cases for launch in launches_of(case.steps)]
        raws = {
            json.dumps(specialising(launch), sort_keys=True): {
                **specialising(launch),
                "tuned": False,
                "line": None,
            }
            for launch in launches
        }
        request = {
            "task": "compile",
            "every": True,
            "targets": [90],
            "source": submission.source,
            "filename": FILENAME,
            "kernels": kernels_to_json(plan.kernels),
            "launches": list(raws.values()),
        }
        report = asked(request, judge.runtime.compiler()).report
    except (GraderError, SubmissionError):
        return None
    if report is None or report.get("left"):
        return None
    return [
        PLACES.sub("", f"{item.get('of')}\n{item.get('ptx')}".partition("\t.section")[0])
        for item in items_of(report, "compiled")
    ]


def _in_time(deadline: float, mutant: Mutant) -> dict[str, Any] | None:
    """None if the time was over before this mutant's turn."""
    return judged(mutant) if time.time() < deadline else None


def judge_all(todo: Sequence[Mutant], jobs: int, minutes: float) -> Iterator[dict[str, Any]]:
    """Yield what is said of each mutant until the time is over."""
    deadline = time.time() + 60 * minutes
    if not todo or not minutes:
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        results = pool.imap_unordered(partial(_in_time, deadline), todo)
        for _ in todo:
            try:
                said = results.next(max(1.0, deadline + LATE_SECONDS - time.time()))
            except multiprocessing.TimeoutError:
                break
            if said is not None:
                yield said


# ---------------------------------------------------------------- what is known


@dataclass(frozen=True)
class Survivor:
    """Mutants that may get all points. In each text, `…` stands for anything."""

    of: tuple[str, ...]  # exercise/kernel
    edit: str  # before => after
    why: str

    def matches(self, row: Mapping[str, Any]) -> bool:
        name, edit = f"{row['exercise']}/{row['kernel']}", f"{row['before']} => {row['after']}"
        return any(fits(of, name) for of in self.of) and fits(self.edit, edit)


def fits(pattern: str, text: str) -> bool:
    """Whether the text is the pattern, in which `…` stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), text, re.DOTALL) is not None


def survivors(path: Path = SURVIVORS) -> list[Survivor]:
    """The entries of the file of allowed survivors."""
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])
    return [Survivor(tuple(table["of"]), table["edit"], table["why"]) for table in tables]


def state(row: Mapping[str, Any], known: Iterable[Survivor]) -> str:
    """One of STATES."""
    if row["verdict"] == Verdict.UNGRADED:
        return "ungraded"
    if row["verdict"] != Verdict.PASSED or row["points"] != row["max_points"]:
        return "refused"
    if row["same_ptx"]:
        return "equivalent"
    return "allowed" if any(one.matches(row) for one in known) else "unexplained"


def distinct(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows without mutants that the judge reads as the original, or as an earlier mutant."""
    found = {}
    for row in rows:
        if row["verdict"] != "same":
            found.setdefault((row["exercise"], row["meaning"] or row["key"]), row)
    return list(found.values())


def summary(rows: Sequence[Mapping[str, Any]], known: Sequence[Survivor]) -> tuple[list[str], int]:
    """The lines to print, and how many survivors are unexplained."""
    rows = distinct(rows)
    states = [state(row, known) for row in rows]
    count = Counter(states)
    lines = []
    for wanted in ("ungraded", "unexplained"):
        places = [
            f"  {row['path']}:{row['line']} [{row['kind']}] {row['before']}  =>  {row['after']}"
            + (f"  ({row['code']})" if row["code"] else "")
            for row, found in zip(rows, states, strict=True)
            if found == wanted
        ]
        lines += [f"{wanted}:", *sorted(places)] if places else []
    hidden = sum(
        row["public_points"] == row["max_points"] and found == "refused"
        for row, found in zip(rows, states, strict=True)
    )
    numbers = ", ".join(f"{count[name]} {name}" for name in STATES)
    lines.append(f"{len(rows)} mutants: {numbers}")
    lines.append(f"of the refused ones, {hidden} only by hidden cases")
    return lines, count["unexplained"]


# ---------------------------------------------------------------- the command


def known_rows(path: Path | None) -> dict[str, dict[str, Any]]:
    """The lines of the file, by their keys. A last line that was cut off is left out."""
    if path is None or not path.is_file():
        return {}
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows[row["key"]] = row
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exercise", action="append", help="only this one; may be repeated")
    parser.add_argument("--sample", type=int, help="judge that many, drawn from all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample, and of the order")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with its own judge")
    parser.add_argument("--minutes", type=float, default=1e6, help="then begin no further mutant")
    parser.add_argument("--json", type=Path, help="keep the results in this file, and go on there")
    options = parser.parse_args()
    names = options.exercise or list(discovery.of_kernels())
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        known = [kernel for name in names for kernel in kernels(name)]
        every = [mutant for found in pool.imap_unordered(mutants, known) for mutant in found]
    every.sort(key=lambda mutant: mutant.key)
    random.Random(options.seed).shuffle(every)
    chosen = every[: options.sample]
    rows = known_rows(options.json)
    todo = [mutant for mutant in chosen if mutant.key not in rows]
    print(f"{len(every)} mutants of {len(names)} exercises, {len(chosen)} chosen, {len(todo)} new")
    for said in judge_all(todo, options.jobs, options.minutes):
        rows[said["key"]] = said
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said, ensure_ascii=False) + "\n")
    judged_now = [rows[mutant.key] for mutant in chosen if mutant.key in rows]
    print(f"judged {len(judged_now)} of {len(chosen)}")
    lines, unexplained = summary(judged_now, survivors())
    print("\n".join(lines))
    raise SystemExit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
