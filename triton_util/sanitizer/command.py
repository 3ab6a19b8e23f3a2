"""`tilewise run script.py …`: run a program and check every kernel that it launches."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path

import click

from triton_util.sanitizer.checking import CannotCheckError, checking, prepare
from triton_util.sanitizer.findings import Findings, read_baseline, wants_annotations


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--baseline", type=click.Path(dir_okay=False, path_type=Path), help="Known findings.")
@click.option("--write-baseline", is_flag=True, help="Write what is found to the baseline file.")
@click.option("--github", is_flag=True, help="Annotate a pull request, as in GitHub's actions.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(
    baseline: Path | None,
    write_baseline: bool,
    github: bool,
    script: Path,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT on the CPU and check every kernel launch.

    Out of bounds, races, lanes masked off, memory never written, 32-bit offsets. Ends with 1 if
    something was found that the baseline does not know, or if the script failed.
    """
    if write_baseline and baseline is None:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    findings = Findings()
    if baseline is not None and baseline.exists() and not write_baseline:
        try:
            findings.known = read_baseline(baseline)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
    try:
        prepare()
    except CannotCheckError as error:
        raise click.ClickException(str(error)) from error
    status = _execute(script, arguments, findings)
    click.echo(findings.text(), err=True)
    if github or wants_annotations():
        click.echo(findings.annotations())
    if write_baseline and baseline is not None:
        findings.write_baseline(baseline)
        sys.exit(0)
    sys.exit(1 if findings.new else status)


def _execute(script: Path, arguments: tuple[str, ...], findings: Findings) -> int:
    """The exit status of the script, which runs as if Python had been given it."""
    from triton_util.interpreter import KernelFault

    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        with checking(findings):
            runpy.run_path(str(script), run_name="__main__")
    except KernelFault:
        return 1  # it is in the report
    except SystemExit as end:
        if isinstance(end.code, str):
            click.echo(end.code, err=True)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path[:] = argv, path
    return 0
