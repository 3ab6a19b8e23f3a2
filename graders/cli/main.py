"""The command `tilewise`. It imports a subcommand only when it is used, so `--help` is fast."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from typing import Any

import click

from graders.cli.words import did_you_mean

# name → module and one line of help; modules missing in a learner's installation are not shown
COMMANDS = {
    "check": ("graders.cli.grade", "Check your kernels with the public cases."),
    "watch": ("graders.cli.watch", "Check a file each time that it is saved."),
    "grade": ("graders.cli.grade", "Grade submissions with all gates and the hidden cases."),
    "lab": ("graders.cli.lab", "Open JupyterLab on the lessons."),
    "run": ("triton_util.sanitizer.command", "Run any program and check its kernels."),
    "doctor": ("graders.cli.doctor", "Say what works on this machine, and how to fix the rest."),
    "build": ("graders.cli.build", "Build the notebooks of the lessons."),
    "new": ("graders.cli.new", "Make the files of a new lesson."),
    "course": ("graders.cli.course", "Make a class, and keep its assignments up to date."),
    "demo": ("graders.cli.demo", "Take a class of demonstration through nbgrader."),
    "autograde": ("graders.cli.autograde", "Grade all submissions of an assignment."),
    "feedback": ("graders.cli.feedback", "Write everybody's feedback, and one zip of it."),
    "export": ("graders.cli.export", "Write the grades as a learning platform takes them."),
    "gradescope": ("graders.cli.gradescope", "Build an autograder for Gradescope."),
    "report": ("graders.cli.report", "Make the report on a class."),
    "serve": ("graders.cli.serve", "One GPU for a whole class: check(..., gpu=True)."),
    "bench": ("graders.cli.bench", "Measure kernels on a GPU."),
}
# the commands that read notebooks
NOTEBOOKS = {"build", "lab", "new", "course", "demo", "autograde", "feedback", "export", "report"}


class LazyGroup(click.Group):
    """Lists the commands without importing them."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command; after judging files, exit at once, without Python's cleanup.

        Unloading torch and a GPU's context would take a second or two.
        """
        try:
            return super().main(*args, **extra)
        except SystemExit as ended:
            as_program = not args and not extra
            if as_program and "graders.cli.judging" in sys.modules and isinstance(ended.code, int):
                with contextlib.suppress(OSError):  # the reader has closed the pipe
                    sys.stdout.flush()
                    sys.stderr.flush()
                os._exit(ended.code)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does; for an unknown command, suggest a similar one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            told = error.message + did_you_mean(args[0], self.list_commands(ctx))
            raise click.UsageError(told, ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, (module, _) in COMMANDS.items() if _exists(module)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            return None
        if name in NOTEBOOKS:
            importlib.import_module("graders.quick_jsonschema")
        module = importlib.import_module(COMMANDS[name][0])
        command = getattr(module, name)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def _exists(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@click.group(cls=LazyGroup)
@click.version_option(package_name="tilewise")
def main() -> None:
    """Tilewise: learn to write GPU kernels in Triton, graded by a judge that you can trust."""


if __name__ == "__main__":
    main()
