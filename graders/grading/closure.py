"""Finds the modules of ours that some modules import, and computes a digest of them.

The imports are read from the sources, so no list of them can be out of date. Comments and
docstrings do not change a digest. The text of a kernel does, with its comments, because Triton
reads it as text. What was read of a file is cached for the next process, by the file's content.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graders.grading.atomic_files import write_atomically

ROOT = Path(__file__).resolve().parents[2]
OURS = ("graders", "solutions", "triton_util")
FORMAT = 1  # of the cache between processes; a new number discards old caches

_STRING = r'"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''|"
_STRING += r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
# the end of a line with its comment, and all following lines that are empty or only a comment
_TOKENS = re.compile(rf"({_STRING})|(?<![ \t])((?:[ \t]*+(?:#[^\n]*+)?(?:\n|\Z))+)", re.DOTALL)
_MODULE = re.compile(rf"""["']((?:{"|".join(OURS)})(?:\.\w+)+)["']""")
_FILE = re.compile(r"""["']([\w-]+(?:\.[\w-]+)+)["']""")
_KERNEL = re.compile(r"^[ \t]*+@(?:triton\.)?(?:jit|autotune|heuristics)\b", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """What is read of one file: its digest, the modules it may import, the files it names.

    `imports` has (level, module, names) of each import statement. `modules` are names of our
    modules in string literals, for importlib. `files` are other literals that look like a
    file name.
    """

    digest: str
    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    modules: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class ImportClosure:
    """Some modules with all modules that they need, and the files that these read."""

    modules: dict[str, Path]
    files: tuple[Path, ...]

    def digest(self) -> str:
        """Return a digest that ignores comments and docstrings."""
        parts = [(name, source_of(path).digest) for name, path in sorted(self.modules.items())]
        parts += [(path.name, digest_of(path.read_bytes())) for path in self.files]
        return digest_of(json.dumps(parts).encode())


def closure(
    names: Iterable[str],
    root: Path = ROOT,
    without: Sequence[str] = (),
) -> ImportClosure:
    """Return all modules that `names` import, directly or indirectly, also inside functions.

    root: the folder that contains our packages. without: modules and packages to leave out.
    """
    modules: dict[str, Path] = {}
    files: set[Path] = set()
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        path = path_of(name, root)
        if path is None or _within(name, without):
            continue
        modules[name] = path
        source = source_of(path)
        waiting += _parents(name)
        waiting += _imported(name, path.name == "__init__.py", source)
        beside = (path.parent / file for file in source.files)
        files |= {file for file in beside if file != path and file.is_file()}
    return ImportClosure(modules, tuple(sorted(files)))


def _within(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def path_of(name: str, root: Path = ROOT) -> Path | None:
    """Return the file of one of our modules; None for any other name."""
    if name.partition(".")[0] not in OURS:
        return None
    place = os.path.join(root, *name.split("."))  # strings, for speed: called 100,000 times
    found = (f"{place}.py", os.path.join(place, "__init__.py"))
    return next((Path(path) for path in found if os.path.isfile(path)), None)


def _parents(name: str) -> Iterator[str]:
    """Yield the packages that contain a module, because importing it runs them."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _imported(name: str, is_package: bool, source: Source) -> Iterator[str]:
    """Yield every module that the imports may mean: `from a import b` gives a and a.b."""
    yield from source.modules
    for level, module, names in source.imports:
        if level:
            package = name.split(".") if is_package else name.split(".")[:-1]
            base = package[: len(package) - level + 1]
            module = ".".join([*base, module] if module else base)
        yield module
        yield from (f"{module}.{imported}" for imported in names)


def digest_of(data: bytes) -> str:
    """Return a digest that is short enough to print."""
    return hashlib.sha256(data).hexdigest()[:16]


def source_of(path: Path) -> Source:
    """Return what is read of a file; SyntaxError if it is not Python."""
    return _memory().source(path.read_bytes())


def read_source(text: str) -> Source:
    """Return the digest and the imports of a module's text."""
    tree = ast.parse(text)
    bare = without_remarks(text, tree)
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            imports += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            imports.append((node.level, node.module or "", names))
    return Source(
        digest_of((text if _KERNEL.search(text) else bare).encode()),
        tuple(imports),
        tuple(sorted(set(_MODULE.findall(bare)))),
        tuple(sorted(set(_FILE.findall(bare)))),
    )


def without_remarks(text: str, tree: ast.Module) -> str:
    """Return the text without comments, docstrings and empty lines; strings stay unchanged."""
    lines = text.splitlines(keepends=True)
    for node in _statements(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            _blank_docstring(lines, body)
    return _TOKENS.sub(lambda found: found[1] or "\n", "".join(lines))


def _blank_docstring(lines: list[str], body: Any) -> None:
    first = body[0] if body else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return
    start, end = first.lineno - 1, first.end_lineno or first.lineno
    alone = not lines[start][: first.col_offset].strip()
    # if code follows on the docstring's last line, the docstring stays as well
    behind = lines[end - 1].encode()[first.end_col_offset or 0 :].strip()
    if isinstance(first.value.value, str) and alone and (not behind or behind.startswith(b"#")):
        lines[start:end] = ["\n"] * (end - start)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the tree's statements at any depth; expressions are skipped, which saves time.

    The body of `if TYPE_CHECKING:` is skipped because it never runs.
    """
    yield tree
    if isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING"):
        return
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(tree, field, ())
        for child in inner if isinstance(inner, list) else ():
            yield from _statements(child)


# ---------------------------------------------------------------- kept between processes


class DigestMemory:
    """A cache of what was read of files, by their content; stored in `path` for later runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Source] = {}
        self._used: dict[str, Source] = {}
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            for content, said in data["sources"].items() if data["format"] == FORMAT else ():
                self._known[content] = _from_json(said)
        except (OSError, ValueError, KeyError, TypeError):
            self._known = {}  # damaged or missing: read the files again

    def source(self, data: bytes) -> Source:
        """Return what is read of a file with this content."""
        content = digest_of(data)
        if content not in self._used:
            known = self._known.get(content)
            self._used[content] = known or read_source(data.decode("utf-8"))
        return self._used[content]

    def keep(self) -> None:
        """Write the entries that this process used, if there are new ones; ignore failure."""
        if self._used.keys() <= self._known.keys():
            return
        sources = {content: asdict(source) for content, source in self._used.items()}
        try:
            write_atomically(self._path, {"format": FORMAT, "sources": sources})
        except OSError:
            return
        self._known = dict(self._used)


def _from_json(said: dict[str, Any]) -> Source:
    imports = tuple((level, module, tuple(names)) for level, module, names in said["imports"])
    return Source(said["digest"], imports, tuple(said["modules"]), tuple(said["files"]))


@cache
def _memory() -> DigestMemory:
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home: no cache
        home = Path(os.devnull)
    return DigestMemory(home / "tilewise" / "sources.json")


def remember() -> None:
    """Store the cache of what was read of the sources, for the next process."""
    _memory().keep()
