"""`tilewise run script.py …`: run a program and check every kernel that it launches."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from triton_util.sanitizer import reports
from triton_util.sanitizer.findings import Findings, read_baseline
from triton_util.sanitizer.running import Choices, execute, finish_compiling, recording

_FILE = click.Path(dir_okay=False, path_type=Path)


def target_number(text: str) -> int:
    """90 for `sm_90`; ValueError for anything that is not a target."""
    from triton_util.hardware import ARCHITECTURES

    match = re.fullmatch(r"(?:sm_)?(\d{2,3})a?", text)
    if match is None or int(match[1]) not in ARCHITECTURES:
        known = ", ".join(f"sm_{arch}" for arch in ARCHITECTURES)
        raise ValueError(f"{text} is no target that is known here. Choose among {known}.")
    return int(match[1])


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--baseline", type=_FILE, help="Known findings.")
@click.option("--write-baseline", is_flag=True, help="Write what is found to the baseline file.")
@click.option("--json", "json_path", type=_FILE, help="Write the findings as JSON.")
@click.option("--sarif", "sarif_path", type=_FILE, help="Write the findings as SARIF.")
@click.option("--github", is_flag=True, help="Annotate a pull request, as in GitHub's actions.")
@click.option("--target", default="sm_90", show_default=True, help="Compile for this GPU.")
@click.option("--no-compile", is_flag=True, help="Compile nothing; only run.")
@click.option("--no-cuda", is_flag=True, help="Do not answer programs that ask for CUDA.")
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as in python -m.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    baseline: Path | None,
    write_baseline: bool,
    json_path: Path | None,
    sarif_path: Path | None,
    github: bool,
    target: str,
    no_compile: bool,
    no_cuda: bool,
    module: bool,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT on the CPU and check every kernel launch.

    Out of bounds, races, lanes masked off, memory never written, 32-bit offsets, kernels that do
    not compile for a GPU. Ends with 1 if something was found that the baseline does not know, else
    with the status of the program.
    """
    if write_baseline and baseline is None:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    if not module and not Path(script).is_file():
        raise click.UsageError(f"There is no file {script}.")
    findings = Findings()
    try:
        choices = Choices(target_number(target), not no_compile, not no_cuda)
        if baseline is not None and baseline.exists() and not write_baseline:
            findings.known = read_baseline(baseline)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    command = ["-m", script, *arguments] if module else [script, *arguments]
    with recording(choices) as folder:
        status = execute(command, folder, choices)
        finish_compiling(folder)
        findings.read(folder)
        status = _excused(status, findings, folder)
    click.echo(reports.text(findings), err=True)
    if github or reports.wants_annotations():
        click.echo(reports.github(findings))
    reports.write(findings, json_path, sarif_path)
    if write_baseline and baseline is not None:
        findings.write_baseline(baseline)
        sys.exit(0)
    sys.exit(1 if findings.new else status)


def _excused(status: int, findings: Findings, folder: Path) -> int:
    """0 if the program stopped after an unchecked launch, whose results are unknown."""
    stopped = findings.stopped.get(int((folder / "process").read_text()))
    if status != 1 or stopped is None:
        return status
    click.echo(
        "tilewise: the program stopped after a launch that was not checked, so that its results "
        f"are not known ({stopped}). That is no finding.",
        err=True,
    )
    return 0
