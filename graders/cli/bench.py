"""`tilewise bench`: times kernels on this machine's GPU, and shows what limits them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from graders.cli import reports
from graders.cli.judging import exercises_in, known_exercise
from graders.judge import discovery
from graders.judge.pipeline import Judge
from graders.judge.records import Exercise, GraderError, Workload
from graders.judge.speed import limits
from graders.judge.submission.loading import Submission, load
from triton_util.bench import phrases
from triton_util.bench.page import comparison_html, modelled_html, page
from triton_util.bench.speed_comparison import Modelled, SpeedComparison
from triton_util.client.attempts import folder
from triton_util.figures.drawing import Drawing
from triton_util.figures.roofline import roofline
from triton_util.figures.speed_comparison import speed_comparison as comparison_drawing
from triton_util.report import Verdict

Target = tuple[Exercise, Path]
Found = SpeedComparison | Modelled


@click.command()
@click.argument("names", nargs=-1, metavar="[EXERCISE | FILE]...")
@click.option("--exercise", metavar="NAME", help="Of each FILE only this exercise.")
@click.option("--output", type=click.Path(path_type=Path), help="A folder for pictures and a page.")
@click.option("--seconds", default=6.0, show_default=True, help="Patience for each exercise.")
@click.option("--no-compile", is_flag=True, help="Leave torch.compile out.")
@click.option("--measure", is_flag=True, help="Measure this GPU's own limits, and keep them.")
def bench(
    names: tuple[str, ...],
    exercise: str | None,
    output: Path | None,
    seconds: float,
    no_compile: bool,
    measure: bool,
) -> None:
    """Time kernels against torch, torch.compile and the model solution, in one run.

    An EXERCISE means its model solution (in the instructor's clone), a FILE the launchers in it;
    without either, all model solutions are timed. A FILE is checked first and then runs with
    your rights, so use only your own. `tilewise grade --mode gpu` times in the sandbox.
    """
    console = Console()
    if measure:
        _measure(console)
        if not names:
            return
    targets = [target for name in names for target in _targets(name, exercise)]
    found = [
        result
        for wanted, path in (targets if names else _all_solutions())
        if (result := _one(console, wanted, path, seconds, not no_compile)) is not None
    ]
    if output is not None and found:
        console.print(f"{_write(output, found)}: pictures and a page")
    if len(found) < len(targets):
        raise SystemExit(1)


def _measure(console: Console) -> None:
    if not limits.has_gpu():
        raise click.ClickException(f"{phrases.NO_GPU} --measure needs one.")
    try:
        device, gpu = limits.measure_gpu(folder())
    except GraderError as error:
        raise click.ClickException(str(error)) from error
    console.print(
        f"{device}: {gpu.gbytes_per_second:,.0f} GB/s copied, "
        f"{gpu.fp16_tflops:,.0f} TFLOP/s in fp16 and {gpu.fp32_tflops:,.1f} in fp32 by "
        f"torch.matmul. Kept for later runs in {folder()}."
    )


def _targets(name: str, exercise: str | None) -> list[Target]:
    """Return the targets that a name on the command line means."""
    path = Path(name)
    if path.suffix in (".py", ".ipynb"):
        if not path.is_file():
            raise click.BadParameter(f"there is no file {name}")
        found = exercises_in(path) if exercise is None else [known_exercise(exercise)]
        if not found:
            raise click.BadParameter(f"{name} defines no function that the course asks for")
        return [(one, path) for one in found]
    try:
        wanted = discovery.exercise(name)
    except KeyError as error:
        raise click.BadParameter(str(error.args[0])) from None
    model = discovery.model_path(wanted)
    if model is None:
        raise click.BadParameter(f"there is no model solution here: give a file with your {name}")
    return [(wanted, model)]


def _all_solutions() -> list[Target]:
    known = discovery.exercises().values()
    found = [(e, path) for e in known if (path := discovery.model_path(e)) is not None]
    if not found:
        raise click.UsageError("give a file: there are no model solutions here")
    return [(e, path) for e, path in found if discovery.workload(e.name) is not None]


def _one(
    console: Console, exercise: Exercise, path: Path, seconds: float, compiled: bool
) -> Found | None:
    """Time and print one exercise; return None if there is nothing to time."""
    work = discovery.workload(exercise.name)
    if work is None:
        small = "is too small a thing for its speed to be measured"
        plain = "is plain Python: it launches no kernel whose speed could be measured"
        console.print(f"{exercise.name} {small if exercise.function is None else plain}.")
        return None
    model = path == discovery.model_path(exercise)
    if not model:
        with Judge() as judge:
            report = judge.judge(path, exercise)
            right = report.verdict is Verdict.PASSED
            moved = judge.moved(load(path, exercise), exercise) if right else None
        if not right:
            console.print(reports.panel(report))
            console.print("Only the speed of a correct kernel means anything: fix it first.")
            return None
    submission = load(path, exercise)
    if not limits.has_gpu():
        said = "" if model else limits.describe_traffic(moved)
        modelled = replace(limits.modelled(exercise, work), moved=said)
        console.print(_modelled_table(modelled))
        return modelled
    return _time(console, exercise, work, submission, model, seconds, compiled)


def _time(
    console: Console,
    exercise: Exercise,
    work: Workload,
    submission: Submission,
    model: bool,
    seconds: float,
    compiled: bool,
) -> SpeedComparison | None:
    try:
        with console.status(f"timing {exercise.name} …"):
            found = limits.compare_speed(
                exercise,
                folder(),
                source=None if model else submission.source,
                name=submission.name,
                seconds=seconds,
                compiled_too=compiled,
            )
            told = limits.compiler_remarks(
                submission.source, exercise.name, work, found.gpu.capability
            )
    except GraderError as error:
        console.print(f"{exercise.name} was not timed: {error}", markup=False)
        return None
    found = replace(found, remarks=told)
    console.print(_table(found))
    return found


def _table(found: SpeedComparison) -> Table:
    notes = [f"Note: {line}" for line in phrases.doubts(found)]
    notes += [f"What may help: {remark}" for remark in found.remarks]
    caption = "\n".join([*notes, phrases.limit(found), phrases.method(found)])
    return _rich(
        f"{found.exercise}: {phrases.headline(found)}",
        phrases.COLUMNS,
        phrases.rows(found),
        caption,
    )


def _modelled_table(found: Modelled) -> Table:
    title = f"{found.exercise}: {phrases.NO_GPU}"
    lines = [f"{found.workload}: {phrases.work(found)}.", found.moved, phrases.MODELLED]
    caption = "\n".join(line for line in lines if line)
    return _rich(title, phrases.MODELLED_COLUMNS, phrases.modelled_rows(found), caption)


def _rich(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], caption: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        title_style="bold",
    )
    for column in columns:
        table.add_column(column, justify="left" if column in ("", "GPU") else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _write(output: Path, found: list[Found]) -> Path:
    """Write one picture and its text for each exercise, and one page with all of them."""
    output.mkdir(parents=True, exist_ok=True)
    cards = []
    for one in found:
        drawing = _drawing(one)
        stem = re.sub(r"\W", "_", one.exercise)
        (output / f"{stem}.png").write_bytes(drawing.png())
        (output / f"{stem}.txt").write_text(drawing.alt + "\n", encoding="utf-8")
        cards.append(
            comparison_html(one) if isinstance(one, SpeedComparison) else modelled_html(one)
        )
    place = output / "index.html"
    place.write_text(page("How fast are these kernels?", cards), encoding="utf-8")
    return place


def _drawing(found: Found) -> Drawing:
    if isinstance(found, SpeedComparison):
        return comparison_drawing(found)
    points = {found.exercise: found.intensity} if found.operations else {}
    return roofline(points, found.tensor_cores)
