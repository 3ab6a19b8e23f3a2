"""`tilewise autograde`: grades all submissions of an assignment, in parallel and resumable."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from graders.authoring import class_folder
from graders.grading import fork_server
from graders.grading.finished import Finished
from graders.judge.plain_text import one_line, quoted

if TYPE_CHECKING:  # torch and nbgrader take seconds to import
    from graders.grading.autograde import Autograder, GradedStudent
    from graders.grading.parallel import Judging


NAMED = 5  # students named in one line, if many are ungraded for one reason
PLATFORMS = ("canvas", "moodle", "gradescope", "nbgrader", "folders")
LEFT_OUT = 2  # the exit code of `nbgrader collect` if it left out a submission
LONGEST_REASON = 600  # characters

_ADDRESS = re.compile(r"(?:(?:tcp|tls|ws|wss|ucx)://)?[^\s/:]+:\d{1,5}/?|inproc://\S+")


def _address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return a scheduler's address; a one-line error if it is malformed."""
    if value is not None and not _ADDRESS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no address: it looks like tcp://host:8786")
    return value


@click.command()
@click.argument("assignment")
@click.option("--course", type=click.Path(path_type=Path), help="Default: the one that you are in.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="A folder, or an LMS zip.")
@click.option(
    "--lms",
    type=click.Choice(PLATFORMS),
    default=PLATFORMS[-1],
    help="Who packed what --from names. Default: a folder or a file for each student.",
)
@click.option("--times", is_flag=True, help="With --from: the files' dates are when they came.")
@click.option("--collect", is_flag=True, help="First run `nbgrader collect`.")
@click.option("--watch", is_flag=True, help="Grade what arrives in the exchange, until Ctrl-C.")
@click.option("--workers", type=click.IntRange(1), help="Processes (default: one per core).")
@click.option(
    "--scheduler", metavar="URL", callback=_address, help="A Dask scheduler, tcp://host:8786."
)
@click.option("--db", metavar="URL", help="The gradebook, e.g. postgresql+psycopg://…")
@click.option("--only", multiple=True, metavar="STUDENT", help="These students only.")
@click.option("--force", is_flag=True, help="Judge again what has not changed.")
@click.option("--mode", type=click.Choice(["interpret", "gpu", "all"]), help="Where kernels run.")
@click.option("--allow-unsandboxed", is_flag=True, help="Grade below sandbox tier A; stamped.")
def autograde(
    assignment: str,
    course: Path | None,
    source: Path | None,
    lms: str,
    times: bool,
    collect: bool,
    watch: bool,
    workers: int | None,
    scheduler: str | None,
    db: str | None,
    only: tuple[str, ...],
    force: bool,
    mode: str | None,
    allow_unsandboxed: bool,
) -> None:
    """Grade every submission of ASSIGNMENT that is new or has changed.

    You can stop it at any time: a second run continues where the first one stopped. Exit code 0
    if all are graded, 2 if a submission was left out or could not be graded. Such submissions
    are named, and do not get a zero.
    """
    left_out = False
    with _told_in_one_line():
        place = class_folder.find(course)
        new = _without_grade(place, assignment, only, force)
        if scheduler is None and (new or watch or collect or source is not None):
            fork_server.start()  # it imports torch while this process imports nbgrader
        from graders.grading.judging import MODE, need_gpu
        from graders.grading.marks import UNSANDBOXED

        if allow_unsandboxed:
            os.environ[UNSANDBOXED] = "1"
        if mode is not None:
            os.environ[MODE] = mode
        if scheduler is None:
            need_gpu()
        if watch:
            if source is not None or only or force:
                raise click.UsageError("--watch grades what arrives: no --from, --only or --force")
            _watch(place, assignment, db, lambda: _judging(scheduler, workers, 0))
            return
        grader = None
        if source is not None or collect:
            # first, because it reports what is missing before anything is unpacked
            grader = _grader(place, assignment, db)
            left_out = _fetch(place, assignment, source, lms, times, collect)
            new = _without_grade(place, assignment, only, force)
        judging = _judging(scheduler, workers, new)
        grader = grader or _grader(place, assignment, db)
        results = _grade(grader, grader.students(only), judging, force)
    sys.exit(max(_summary(results), 2 if left_out else 0))


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    """Turn errors such as a full disk into one line: what is wrong, and what to do."""
    try:
        yield
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        raise click.ClickException(
            f"{error.strerror or error}{place}: grading stopped, and nobody has lost a grade. "
            "Mend that, then run the same command again: it goes on where this one was."
        ) from error
    except Exception as error:
        from graders.judge.records import GraderError

        if isinstance(error, GraderError):
            raise click.ClickException(str(error)) from error
        raise


def _grader(course: Path, assignment: str, db: str | None) -> Autograder:
    from graders.grading.autograde import Autograder

    return Autograder(course, assignment, db)


def _fetch(
    course: Path, assignment: str, source: Path | None, lms: str, times: bool, collect: bool
) -> bool:
    """Copy submissions to where nbgrader looks for them; return whether any was left out."""
    from graders.grading.plugins.commands import Nbgrader

    left_out = False
    if collect:
        done = Nbgrader().run(course, "collect", assignment, "--update", may_fail=True)
        click.echo(done.output, nl=False)
        if done.code not in (0, LEFT_OUT):
            raise click.ClickException("nothing was collected: see above")
        left_out = done.code == LEFT_OUT
    if source is not None:
        left_out |= _take(course, assignment, source, lms, times)
    return left_out


def _take(course: Path, assignment: str, source: Path, lms: str, times: bool) -> bool:
    """Copy submissions from a platform's zip or folder; return whether any was left out."""
    from graders.grading.intake import elsewhere, origins, platforms
    from graders.grading.intake.roster import read_roster
    from graders.grading.intake.submissions import take
    from graders.grading.intake.teams import instructors_teams, note_groups

    roster = read_roster(course)
    teams = instructors_teams(course, roster)
    taken = take(source, course / "submitted", assignment, times, roster, lms, teams)
    origins.keep(course, assignment, taken.found)
    unread = {found.student: taken.unread.get(found.student, []) for found in taken.found}
    elsewhere.note_unread(course, assignment, unread)
    if lms in platforms.GROUPED:
        note_groups(course, assignment, lms, taken.groups)
    in_groups = sum(bool(group) for group in taken.groups.values())
    told = f" (groups handed in for {in_groups} of the students)" if in_groups else ""
    click.echo(f"{len(taken.found)} submissions from {source}{told}")
    late = [found.student for found in taken.found if found.late]
    if late and not times:
        click.echo(f"  late, says the LMS, and taken without penalty: {', '.join(late)}")
    if taken.beside:
        named = ", ".join(map(quoted, taken.beside[:NAMED]))
        more = f" and {len(taken.beside) - NAMED} more" if len(taken.beside) > NAMED else ""
        click.echo(f"  handed in beside a notebook, and not looked at: {named}{more}")
    if taken.replaced:
        who = ", ".join(map(one_line, taken.replaced[:NAMED]))
        more = f" and {len(taken.replaced) - NAMED} more" if len(taken.replaced) > NAMED else ""
        click.echo(f"  replaced a hand-in that had a time, with one that has none: {who}{more}")
    for left in taken.left_out:
        click.echo(f"  left out: {quoted(left.path)}: {one_line(left.why, LONGEST_REASON)}")
    if not taken.found:
        click.echo(f"  nothing was taken with --lms {lms}: name the platform that packed it")
    return bool(taken.left_out) or not taken.found


def _without_grade(course: Path, assignment: str, only: tuple[str, ...], force: bool) -> int:
    """Return how many submissions will certainly be judged."""
    finished = Finished(course, assignment)
    students = [path.parent.name for path in course.glob(f"submitted/*/{assignment}")]
    chosen = [student for student in students if not only or student in only]
    return sum(force or not finished.get(student) for student in chosen)


def _judging(scheduler: str | None, workers: int | None, new: int) -> Judging:
    from graders.grading.parallel import DaskCluster, LocalProcesses

    if scheduler is not None:
        return DaskCluster(scheduler)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    processes = LocalProcesses(workers or cores or 1)
    processes.start(new)
    return processes


def _watch(course: Path, assignment: str, db: str | None, judging: Callable[[], Judging]) -> None:
    """Watch and print results until you stop it; when started again, it continues."""
    from graders.grading.watching import Watcher

    watcher = Watcher(course, assignment, db, judging)
    click.echo(f"watching {watcher.exchange} for {assignment}; Ctrl-C ends it")
    try:
        for look in watcher.looks():
            if look.problem:
                click.echo(f"  {look.problem}", err=True)
            if look.graded:
                _summary(list(look.graded))
            if look.published:
                click.echo(f"  public findings for {', '.join(map(one_line, look.published))}")
    except KeyboardInterrupt:
        click.echo("ended; nothing is lost, the same command goes on")


def _grade(
    grader: Autograder, students: list[str], judging: Judging, force: bool
) -> list[GradedStudent]:
    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        bar = progress.add_task(grader.assignment, total=len(students))
        for result in grader.grade(students, judging, force):
            results.append(result)
            progress.advance(bar)
            if result.tampered:
                line = f"{one_line(result.student)}: {'; '.join(result.tampered)}"
                progress.console.print(line, markup=False)
    return results


def _summary(results: list[GradedStudent]) -> int:
    counts = Counter(result.status for result in results)
    parts = [f"{counts[status]} {status}" for status in ("graded", "unchanged", "ungraded")]
    click.echo(f"{len(results)} submissions: {', '.join(parts)}")
    if not results:
        click.echo("  nothing is in submitted/: --collect fetches it, --from takes a folder or zip")
    alike: dict[str, list[str]] = {}
    for result in results:
        if result.status == "ungraded":
            alike.setdefault(result.reason, []).append(one_line(result.student))
    for reason, students in alike.items():
        more = f" and {len(students) - NAMED} more" if len(students) > NAMED else ""
        click.echo(f"  {', '.join(sorted(students)[:NAMED])}{more}: {reason}")
    return 2 if counts["ungraded"] else 0
