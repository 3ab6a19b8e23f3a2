"""The house rules, as tests: which way imports go, how long things are, what stays out."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parent.parent
ROOMS = ("graders", "solutions", "triton_util")
SOLUTIONS = ROOT / "solutions"
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION, LARGEST_FOLDER = 400, 60, 20
# room (longest pattern wins) → rooms that it may import from
ARROWS = {
    "triton_util": {"triton_util"},
    "solutions": {"solutions", "triton_util"},
    "graders/judge/plan": {"graders.judge.plan", "triton_util"},
    "graders/judge/jail": {"graders.judge.jail"},
    "graders/judge/sandbox": {
        "graders.judge.sandbox",
        "graders.judge.jail",
        "graders.judge.plan",
        "graders.judge.bounds",
        "graders.judge.records",
        "triton_util",
    },
    "graders/judge": {"graders.judge", "triton_util"},
    "graders/course/*/reference": {"graders.course.*.reference"},
    "graders/course/*/quiz": {"graders.judge.records"},
    "graders/course/*/predictions": {"graders.judge.predictions", "triton_util"},
    "graders/course/*/workloads": {"graders.course.common.workloads", "graders.judge"},
    "graders/course/*/mistakes": {
        *("graders.course.*.mistakes", "graders.course.common", "graders.course.*.reference"),
        "graders.judge",
        "triton_util.bench.simulated",  # the GPUs on which stopwatches are judged
        "triton_util.mutants",  # the kernels that a learner's test tries
        "triton_util.explain.loads",  # loads as they stand in PTX
    },
    "graders/course/*/hidden": {
        *("graders.course.*.hidden", "graders.course.*.exercise", "graders.judge"),
        "graders.course.low_precision.fp8_cases",
        "triton_util.bench.simulated",
    },
    "graders/course/common": {"graders.course.common", "graders.judge"},
    "graders/course": {
        *("graders.course.*.exercise", "graders.course.*.mistakes", "graders.course.*.reference"),
        *("graders.course.common", "graders.course.low_precision.fp8_cases", "graders.judge"),
        "graders.course.*.contract",
        "triton_util.bench.simulated",
        "triton_util.mutants",  # the kernels that a learner's test tries
    },
    "graders/authoring": {"graders", "triton_util"},
    "graders/grading": {"graders", "triton_util"},
    "graders/service": {"graders", "triton_util"},
    "graders/cli": {"graders", "triton_util", "solutions"},
    "graders": {"graders"},
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_arrows_go_one_way(path: Path) -> None:
    relative = path.relative_to(ROOT).as_posix()
    room = max((room for room in ARROWS if fnmatch(relative, f"{room}[/.]*")), key=len)
    ours = {name for name in imported(path) if name.split(".")[0] in ROOMS}
    allowed = ARROWS[room]
    wrong = {n for n in ours if not any(fnmatch(f"{n}.", f"{a}.*") for a in allowed)}
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


def test_no_test_measures_time() -> None:
    """A machine may be busy: a test waits for what must come, with a deadline, and judges that.

    What an attack may cost at most has a name, `LONGEST_SECONDS`.
    """
    measured = re.compile(r"(?:monotonic|perf_counter|time\.time)\(\) - (?!.*< LONGEST_SECONDS)")
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert):
                assert not measured.search(ast.unparse(node.test)), (
                    f"{path.relative_to(ROOT)}:{node.lineno} asserts how long something took: "
                    "measure that in benchmarks/"
                )


INVENTED = re.compile(r"slug|NN_|style\.py|^learner/|^my_|^submissions?/")  # names in examples


def test_documents_name_files_that_exist() -> None:
    """A module that moves leaves no old path behind in what people read."""
    committed = {f"/{path.relative_to(ROOT).as_posix()}" for path in committed_texts()}
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        if page.name == "CHANGELOG.md":  # tells of what was
            continue
        for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|toml|ya?ml))`", page.read_text()):
            there = any(path.endswith(f"/{name}") for path in committed)
            assert there or INVENTED.search(name), (
                f"{page.relative_to(ROOT)} names {name}, which is not there"
            )


def test_docstrings_name_modules_that_exist() -> None:
    """`room.module` in the text of a module: a room of the house, and what stands in it."""
    rooms: dict[str, list[Path]] = {}
    for path in MODULES:
        if not path.parent.match("graders/course/*"):  # called as lessons, so as other things too
            rooms.setdefault(path.parent.name, []).append(path)
    for path in MODULES:
        for room, name in re.findall(r"`([a-z]\w*)\.([a-z]\w*)(?:\.\w+)*`", path.read_text()):
            if room in rooms:
                inside = {p.stem for p in rooms[room]}
                inside |= {child.parent.name for p in rooms[room] for child in p.parent.glob("*/*")}
                exported = re.search(
                    rf"\b{name}\b", (rooms[room][0].parent / "__init__.py").read_text()
                )
                assert name in inside or exported, (
                    f"{path.relative_to(ROOT)} names {room}.{name}, which is not there"
                )


def test_nothing_is_called_utils() -> None:
    named = [str(path.relative_to(ROOT)) for path in MODULES if path.stem in ("utils", "helpers")]
    assert not named, f"name {named} by what they are for"


def module_name(path: Path) -> str:
    """`a/b/c.py` is `a.b.c`, and `a/b/__init__.py` is `a.b`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, known: set[str]) -> set[str]:
    """Our modules that a module imports, wherever in it, those for types only included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & known
            whole = len(inner) == len(node.names)
            found |= inner if whole else inner | {node.module}
    return (found & known) - {module_name(path)}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, round about (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def test_no_modules_import_each_other() -> None:
    """Not even for types: what two modules need stands in a third."""
    known = {module_name(path) for path in MODULES}
    graph = {module_name(path): imported_modules(path, known) for path in MODULES}
    left = cycles(graph)
    assert not left, f"these modules import each other: {left}"


def test_folders_stay_small() -> None:
    """`solutions` has a module for each lesson, and nothing else."""
    others = (p for p in MODULES if p.stem != "__init__" and not p.is_relative_to(SOLUTIONS))
    counted = Counter(path.parent for path in others)
    large = {str(at.relative_to(ROOT)): n for at, n in counted.items() if n > LARGEST_FOLDER}
    assert not large, f"more than {LARGEST_FOLDER} modules, make rooms by purpose: {large}"


def classes(path: Path) -> set[str]:
    return {
        node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)
    }


def test_no_class_name_occurs_twice_in_a_distribution() -> None:
    """`graders` and `triton_util` each ship by themselves; in one of them a name is one thing."""
    homes: dict[tuple[str, str], list[str]] = {}
    for path in MODULES:
        room = path.relative_to(ROOT).parts[0]
        for name in classes(path):
            homes.setdefault((room, name), []).append(str(path.relative_to(ROOT)))
    twice = {f"{room}: {name}": at for (room, name), at in homes.items() if len(at) > 1}
    assert not twice, f"one name for two things: {twice}"


def test_the_judge_imports_no_course_content() -> None:
    for path in MODULES:
        if path.is_relative_to(ROOT / "graders/judge"):
            wrong = {
                name for name in imported(path) if name.startswith(("graders.course", "solutions"))
            }
            assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}"


def test_the_judge_names_no_lesson() -> None:
    """No launcher of an exercise stands in the judge as a word of its own."""
    slugs = {path.stem for path in (ROOT / "solutions").glob("*.py")} - {"__init__"}
    launchers = {
        node.name
        for slug in slugs
        for node in ast.parse((ROOT / f"solutions/{slug}.py").read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    common = {name for name in launchers if hasattr(torch.Tensor, name)} | {"copy"}
    for path in MODULES:
        if path.is_relative_to(ROOT / "graders/judge"):
            constants = {
                node.value
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            named = constants & launchers - common
            assert not named, f"{path.relative_to(ROOT)} names {sorted(named)}"
