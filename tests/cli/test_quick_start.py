"""What the commands of a class do not import, because it costs seconds in each of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.small_course import ASSIGNMENT, make

GRAMMARS = "rfc3987_syntax"


def imported(code: str, *names: str) -> list[str]:
    """Which of these modules a fresh Python has imported after it ran the code."""
    shown = f"import sys\n{code}\nprint(*(n for n in {names!r} if n in sys.modules))"
    command = [sys.executable, "-c", shown]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_notebooks_are_read_without_the_grammars_of_addresses() -> None:
    pytest.importorskip(GRAMMARS)
    plain = imported("import nbformat", GRAMMARS)
    assert plain == [GRAMMARS], "nbformat no longer needs help: delete quick_jsonschema"
    assert imported("import graders.quick_jsonschema, nbformat", GRAMMARS) == []
    after = imported(f"import graders.quick_jsonschema, nbformat, {GRAMMARS}", GRAMMARS)
    assert after == [GRAMMARS], "whoever asks for the package itself still gets it"


def test_nbgraders_own_commands_import_no_torch() -> None:
    """What the configuration of a class names, and what all commands or `export` load."""
    modules = ("configure", "collect", "export")
    code = "\n".join(f"import graders.grading.plugins.{name}" for name in modules)
    assert imported(code, "torch") == []


@pytest.mark.slow
def test_report_and_table_import_no_torch(tmp_path: Path) -> None:
    """Whole commands, to what they write."""
    course, table = make(tmp_path), tmp_path / "canvas.csv"
    for words, path in (
        (["report", ASSIGNMENT, "--to", str(tmp_path)], tmp_path / f"{ASSIGNMENT}.html"),
        (["export", "canvas", "--to", str(table)], table),
    ):
        command = [*words, "--course", str(course.folder)]
        code = f"from graders.cli.main import main\nmain({command!r}, standalone_mode=False)"
        assert imported(code, "torch", GRAMMARS)[-1] not in ("torch", GRAMMARS)
        assert path.is_file()
