"""What others rely on, and what changes by decision only: names, commands, exceptions."""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import graders
import triton_util
from graders.authoring.setup_cell import imports_source
from graders.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent

# A name that goes is a breaking change: it needs a fragment `*.removed.md` in newsfragments/.
PUBLIC = {
    "triton_util": """
        answer breakpoint_if catch cdiv check check_tensors_gpu_ready get_1d_mask get_1d_offset
        get_2d_mask get_2d_offset hint interpreted practice predict print_if progress quiz review
        speed time_beside trace validate
    """,
    "triton_util.client": """
        CheckResult answer catch check hint practice predict progress quiz review speed
        validate
    """,
    "triton_util.explain": "Comparison ExplainError Explanation Listing compare explain show_ptx",
    "triton_util.tracing": "Record trace",
    "triton_util.bench": """
        GPUS Check Clock Contender CudaClock Gpu GpuState Interval Limit Measurement NoGpuError
        Timing TimingPlan compare find_gpu floor_of limit_of measure_mine median_interval
        percentage_of_limit ratio_interval
    """,
}
COMMANDS_KNOWN = "autograde bench build check course demo doctor export feedback grade new report"


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_stay(name: str) -> None:
    module = importlib.import_module(name)
    missing = sorted(set(PUBLIC[name].split()) - set(module.__all__))
    assert not missing, f"{name} lost {missing}: others import them; say so in newsfragments/"
    new = sorted(set(module.__all__) - set(PUBLIC[name].split()))
    assert not new, f"{name} has new names: {new}: if they are to stay, add them to this test"


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    assert [one for one in module.__all__ if not hasattr(module, one)] == []


def test_the_commands_stay() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"tilewise": "graders.cli.main:main"}
    assert set(COMMANDS_KNOWN.split()) <= set(COMMANDS)
    for name, (module, help_text) in COMMANDS.items():
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name!r}"
        assert help_text.endswith(".")


def exceptions() -> dict[str, str]:
    """The exception classes of the rooms, each with its base."""
    classes: dict[str, str] = {}
    for room in ("graders", "triton_util"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ClassDef) and node.bases:
                    classes.setdefault(node.name, ast.unparse(node.bases[0]))
    raised = re.compile(r"(Error|Exception|Warning|Interrupt|Exit)$")

    def is_exception(name: str) -> bool:
        return name in classes and (
            bool(raised.search(classes[name])) or is_exception(classes[name])
        )

    return {name: base for name, base in classes.items() if is_exception(name)}


def drawn() -> Iterator[tuple[str, str]]:
    """The classes of the tree, each with what it hangs on."""
    above = ["Exception"]
    for line in (graders.__doc__ or "").splitlines():
        found = re.match(r"    ((?:│   |    )*)[├└]── (\w+)", line)
        if found:
            depth = len(found[1]) // 4 + 1
            above[depth:] = [found[2]]
            yield found[2], above[depth - 1]


def test_the_tree_of_exceptions_is_true() -> None:
    """It stands in the docstring of `graders`: add a new one, and say whose fault it is."""
    tree = dict(drawn())
    ours = exceptions()
    assert {name: base for name, base in tree.items() if name in ours} == ours
    builtin = set(tree) - set(ours)
    assert builtin <= set(ours.values()), f"no exception of ours: {builtin - set(ours.values())}"


def called(code: str) -> set[str]:
    """The names that a text calls as functions."""
    nodes = ast.walk(ast.parse(code))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def test_what_the_readme_calls_is_imported_by_every_lesson() -> None:
    shown = "\n".join(re.findall(r"`(\w+\(.*?\))`", (ROOT / "README.md").read_text()))
    imports = ast.walk(ast.parse(imports_source("")))
    brought = {
        alias.name
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module == "triton_util"
        for alias in node.names
    }
    missing = (called(shown) | {"practice", "review"}) - brought  # `progress()` names these two
    assert called(shown)
    assert not missing, f"README.md calls {missing}: import it in graders/authoring/setup_cell.py"


def test_the_names_of_a_learner_are_those_of_the_documentation() -> None:
    text = (ROOT / "README.md").read_text() + (ROOT / "docs" / "learn.md").read_text()
    for name in ("check", "hint", "quiz", "progress", "speed", "trace"):
        assert name in triton_util.__all__
        assert f"{name}(" in text, f"README.md and docs/learn.md do not show {name}()"
