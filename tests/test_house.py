"""The house rules, as tests: which way imports go, how long things are, what stays out."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("graders", "solutions", "triton_util")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60

# room (longest prefix wins) → rooms that it may import from
ARROWS = {
    "triton_util": {"triton_util"},
    "solutions": {"solutions", "triton_util"},
    "graders/judge/sandbox": {"graders.judge.sandbox", "graders.judge.records", "triton_util"},
    "graders/judge": {"graders.judge", "triton_util"},
    "graders/misconceptions": {"graders.misconceptions", "graders.judge"},
    "graders/exercises": {"graders.judge", "graders.misconceptions", "graders.exercises"},
    "graders/hidden": {"graders.judge", "graders.exercises", "graders.hidden"},
    "graders/authoring": {"graders", "triton_util"},
    "graders/grading": {"graders", "triton_util"},
    "graders/cli": {"graders", "triton_util", "solutions"},
    "graders": {"graders"},
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_arrows_go_one_way(path: Path) -> None:
    relative = path.relative_to(ROOT).as_posix()
    room = max((room for room in ARROWS if relative.startswith(f"{room}/")), key=len)
    ours = {name for name in imported(path) if name.split(".")[0] in ROOMS}
    allowed = ARROWS[room]
    wrong = {n for n in ours if not any(n == a or n.startswith(f"{a}.") for a in allowed)}
    assert not wrong, f"{relative} imports {sorted(wrong)}; {room} may only import {allowed}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text()
    relative = path.relative_to(ROOT)
    assert text.count("\n") <= LONGEST_MODULE, (
        f"{relative} has over {LONGEST_MODULE} lines: split it"
    )
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            length = node.end_lineno - node.lineno
            assert length <= LONGEST_FUNCTION, (
                f"{relative}:{node.lineno} {node.name} has {length} lines: split it"
            )


def committed_texts() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    kinds = {".py", ".md", ".toml", ".yml", ".yaml", ".ipynb", ".sh", ".txt", ""}
    return [ROOT / name for name in listed if Path(name).suffix in kinds and (ROOT / name).exists()]


def test_no_path_of_a_machine_is_committed() -> None:
    pattern = re.compile(r"(?<![\w.])/(work|root|home/(?!learner)\w+)/")
    for path in committed_texts():
        found = pattern.search(path.read_text(errors="replace"))
        assert not found, f"{path.relative_to(ROOT)} names {found[0]}: use a relative path"


def test_nothing_is_called_utils() -> None:
    named = [str(path.relative_to(ROOT)) for path in MODULES if path.stem in ("utils", "helpers")]
    assert not named, f"name {named} by what they are for"
