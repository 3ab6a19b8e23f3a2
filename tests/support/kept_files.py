"""Test files that passed before: they run again only where something changed that they depend on.

A file with `pytestmark = pytest.mark.kept(...)` says that its answer follows from sources alone,
not from the machine: from what it imports, and from what the marker names beside.

    exercises   records, hidden cases and figures of these exercises; "all" for those of each
    folders     folders and files below the repository that it reads or starts as processes

`tests/kept_files.json` has, for each pair of versions of triton and torch, the key under which a
file passed. `make test` leaves such a file out, but for one in twenty-four, others with each
commit. Who asks pytest for a file gets it. TILEWISE_KERNELS, as in kept_verdicts, is `all` for
`make nightly`, which forgets what was kept. A run of all tests leaves what passed in
build/verdicts, and `make verdicts` writes it down.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Self

from graders.grading import store
from graders.grading.closure import OURS, closure, digest_of, remember, source_of
from graders.judge import discovery
from tests.support import kept_verdicts
from tests.support.kept_verdicts import JUDGED, MODE, ROOMS, seed

ROOT = ROOMS.root
FILE = ROOT / "tests" / "kept_files.json"
NOTED = JUDGED / "files.json"
MARK = "kept"
KEEPING = ("tests.support.kept_files",)  # conftest.py imports it; no test's answer depends on it
ONE_IN = 24

Keys = Mapping[str, str]  # a test file's name below the repository → the key under which it passed


@dataclass(frozen=True)
class TestFile:
    """A test file whose answer is kept."""

    __test__ = False  # pytest takes classes of this name for tests

    name: str  # below the repository
    exercises: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """What a file's marker says; None where it has none."""
        text = path.read_text(encoding="utf-8")
        if f"mark.{MARK}(" not in text:
            return None
        calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        marks = [call for call in calls if ast.unparse(call.func) == f"pytest.mark.{MARK}"]
        if not marks:
            return None  # the words stand in a string
        said = {word.arg: ast.literal_eval(word.value) for word in marks[0].keywords}
        chosen = said.get("exercises", ())
        exercises = sorted(discovery.exercises()) if chosen == "all" else chosen
        name = path.relative_to(ROOT).as_posix()
        return cls(name, tuple(exercises), tuple(said.get("folders", ())))

    @property
    def key(self) -> str:
        """What its answer depends on."""
        return key_of(self)

    @property
    def sampled(self) -> bool:
        """Whether it runs in any case."""
        drawn = digest_of(f"{seed()} {self.name}".encode())
        return int(drawn, 16) % ONE_IN == 0


@cache
def key_of(file: TestFile) -> str:
    read = [path for folder in file.folders for path in _files(ROOT / folder)]
    code = [ROOT / file.name, *_conftests(ROOT / file.name)]
    code += [path for path in read if path.suffix == ".py"]
    names = [_module(path) for path in code]
    without = (*KEEPING, *_untouched(names))
    needed = closure(names, ROOT, without, (*OURS, "tests")).digest()
    data = [(path.relative_to(ROOT).as_posix(), digest_of(path.read_bytes())) for path in read]
    judged = [store.sources_version(gpu=False)] if file.exercises else []
    judged += [store.exercise_version(name, timed=False) for name in file.exercises]
    remember()
    parts = [needed, data, judged, kept_verdicts.libraries(), sys.version_info[:2]]
    return digest_of(json.dumps(parts).encode())


def _untouched(names: Sequence[str]) -> list[str]:
    """The modules for a GPU alone that no test among `names`, or what it imports, asks for."""
    tests = closure(names, ROOT, OURS, ("tests",)).modules.values()
    said = [source_of(path).imports for path in tests]
    asked = {
        name
        for imports in said
        for _, module, inner in imports
        for name in (module, *(f"{module}.{one}" for one in inner))
    }
    return [name for name in store.GPU_ONLY if name not in asked]


def _files(place: Path) -> list[Path]:
    """The files below a folder in the order of their names, or the file itself."""
    if place.is_file():
        return [place]
    found = sorted(path for path in place.rglob("*") if path.is_file())
    assert found, f"{place} has no files: mend the marker `{MARK}` that names it"
    hidden = ("__pycache__", ".ipynb_checkpoints")
    return [path for path in found if not any(part in hidden for part in path.parts)]


def _conftests(file: Path) -> list[Path]:
    folders = [folder for folder in file.parents if folder.is_relative_to(ROOT / "tests")]
    return [path for folder in folders if (path := folder / "conftest.py").is_file()]


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@cache
def kept() -> Keys:
    """What passed with these versions of triton and torch."""
    if os.environ.get(MODE) == "all":
        return {}
    return _read(FILE).get(kept_verdicts.libraries(), {})


def _read(file: Path) -> dict[str, dict[str, str]]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}  # a half merged file, say: everything runs


def passed_before(file: TestFile) -> bool:
    """Whether a file need not run now."""
    known = kept().get(file.name)
    return known is not None and known == file.key and not file.sampled


@cache
def marked() -> Mapping[str, TestFile]:
    """Every test file with the marker, by its name."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {file.name: file for path in paths if (file := TestFile.read(path))}


# ---------------------------------------------------------------- while tests run


def left_out() -> list[str]:
    """The names of the files that need not run now (tests/conftest.py leaves them out)."""
    return [name for name, file in marked().items() if passed_before(file)]


def note(passed: Iterable[str]) -> None:
    """Leave the keys of files that passed for `make verdicts`."""
    keys = {name: file.key for name, file in marked().items() if name in set(passed)}
    if keys:
        noted, here = _read(NOTED), kept_verdicts.libraries()
        noted[here] = {**noted.get(here, {}), **keys}
        NOTED.parent.mkdir(parents=True, exist_ok=True)
        NOTED.write_text(json.dumps(noted), encoding="utf-8")


# ---------------------------------------------------------------- make verdicts


def _noted(now: Keys) -> Keys:
    """What runs before left of the files as they are now."""
    noted = _read(NOTED).get(kept_verdicts.libraries(), {})
    return {name: key for name, key in noted.items() if now.get(name) == key}


def main(arguments: Sequence[str], within: Sequence[str] = ()) -> int:
    """Run the files whose key has changed, and write down what passed, here and in runs before.

    within: files and folders below the repository; others do not run. Empty: all of them may.
    """
    here, now = kept_verdicts.libraries(), {name: file.key for name, file in marked().items()}
    known = {**_read(FILE).get(here, {}), **_noted(now)}
    chosen = [name for name in now if not within or any(map(Path(name).is_relative_to, within))]
    waiting = sorted(name for name in chosen if known.get(name) != now[name])
    status = 0
    if waiting:
        print(f"{len(waiting)} test files run, because something changed that they depend on")
        asked = [sys.executable, "-m", "pytest", *arguments, *waiting]
        status = subprocess.run(asked, cwd=ROOT).returncode
        known |= _noted(now)
    passed = {name: key for name, key in sorted(now.items()) if known.get(name) == key}
    FILE.write_text(
        json.dumps({**_read(FILE), here: passed}, indent=1, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    print(f"{len(passed)} of {len(now)} test files kept in {FILE.relative_to(ROOT)}")
    return status


if __name__ == "__main__":
    flags = list(takewhile(lambda word: word != "--", sys.argv[1:]))
    raise SystemExit(main(flags, within=sys.argv[len(flags) + 2 :]))
