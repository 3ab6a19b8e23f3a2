"""Write the puzzles of `practice()`, from the model solutions and from known wrong kernels.

A plain function gives puzzles as a kernel does. They contain only what every clone shows:
solutions, the kernels of tests/, and the words of misconceptions. Texts are compared and shown as
Python unparses them: each statement is one line, and comments, which may reveal the mistake, are
removed.
"""

from __future__ import annotations

import ast
import difflib
import gzip
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graders.authoring.distractors import made_wrong
from graders.authoring.kernels import correct_kernels, wrong_kernels
from graders.authoring.lesson import read_solutions
from graders.authoring.rooms import Rooms
from graders.judge import discovery
from graders.judge.records import Exercise
from triton_util.puzzles.items import FILE, Item, Lines, MendItem, OrderItem, compressed, to_data

MOST_WRONG = 2  # lines in which a wrong kernel differs from a correct one
LONGEST, SHORTEST = 10, 4  # number of lines to order at once
MOST_TRAPS = 3  # puzzles of the same lines, each with other lines that do not belong
_TOKEN = re.compile(r"\w+|\S")
Edits = dict[str, list[str]]  # a correct line, and what wrong kernels have in its place


def items(rooms: Rooms) -> list[Item]:
    """All puzzles of the course, always in the same order."""
    found: list[Item] = []
    for _, exercise in sorted(discovery.exercises().items()):
        solution = rooms.solutions / f"{exercise.lesson}.py"
        if solution.is_file():
            model = read_solutions(solution)[exercise.name]
            mends = list(_mends(rooms, exercise, model))
            found += [*_orders(exercise, model, _edits(mends)), *mends]
    return found


def write(rooms: Rooms) -> bool:
    """Bring the file up to date; True if it changed."""
    content = compressed(to_data(items(rooms)))
    # versions of zlib may compress differently, so compare the uncompressed content
    if FILE.is_file() and gzip.decompress(FILE.read_bytes()) == gzip.decompress(content):
        return False
    FILE.write_bytes(content)
    return True


def statements(source: str) -> Lines:
    """The text as lines of one statement each, without comments, docstrings and imports."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    own = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if ast.get_docstring(tree) is not None:
        own = own[1:]
    return tuple(line for part in own for line in [*ast.unparse(part).split("\n"), ""])[:-1]


# ---------------------------------------------------------------- fix the bug


def _mends(rooms: Rooms, exercise: Exercise, model: str) -> Iterator[MendItem]:
    """One puzzle for each wrong kernel with one wrong line, or with the same slip in two lines.

    Equal texts, for example of two variants, give one puzzle.
    """
    right = [statements(model)]
    folder = rooms.kernels(exercise.name)
    right += [statements(kernel.text) for kernel in correct_kernels(folder).values()]
    titles = {one.code: one for one in exercise.misconceptions}
    seen: set[Lines] = set()
    for name, kernel in wrong_kernels(folder).items():
        lines = statements(kernel.text)
        wrong = _nearest(lines, right)
        if not wrong or lines in seen:
            continue
        seen.add(lines)
        told = (ast.get_docstring(ast.parse(kernel.text)) or "").strip()
        named = titles.get(name.partition("__")[0].replace("_", "-"))
        message = f"{told}\n\n{named.message}" if named else told
        title = named.title if named else "A mistake that the judge refuses"
        yield MendItem(f"{exercise.name}/mend/{name}", exercise.name, lines, wrong, title, message)


def _nearest(lines: Lines, right: Sequence[Lines]) -> tuple[tuple[int, str], ...]:
    """The lines that differ from the most similar correct kernel, with its text; () for none.

    Two differing lines count only if the same was changed in both; otherwise one of them may be
    a matter of style.
    """
    counted = Counter(lines)
    best: tuple[tuple[int, str], ...] = ()
    for other in right:
        if len(other) != len(lines) or sum((Counter(other) - counted).values()) > MOST_WRONG:
            continue
        differing = tuple((i, other[i]) for i, line in enumerate(lines) if line != other[i])
        if len(differing) <= MOST_WRONG and (not best or len(differing) < len(best)):
            best = differing
    if len(best) < MOST_WRONG or len({_edit(lines[i], mended) for i, mended in best}) == 1:
        return best
    return ()


def _edit(wrong: str, right: str) -> tuple[tuple[str, ...], ...]:
    """The tokens that were changed."""
    before, after = _TOKEN.findall(right), _TOKEN.findall(wrong)
    matched = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = [op for op in matched if op[0] != "equal"]
    return tuple((*before[a:b], "→", *after[c:d]) for _, a, b, c, d in changed)


def _edits(mends: Sequence[MendItem]) -> Edits:
    found: Edits = {}
    for item in mends:
        for number, mended in item.wrong:
            found.setdefault(mended, []).append(item.lines[number])
    return found


# ---------------------------------------------------------------- put in order


def _orders(exercise: Exercise, model: str, edits: Edits) -> Iterator[OrderItem]:
    """Puzzles of the functions of a model solution; a long function gives several."""
    for function in _functions(statements(model)):
        body = next(i for i, line in enumerate(function) if line.startswith("def ")) + 1
        name = function[body - 1].removeprefix("def ").partition("(")[0]
        for number, (first, last) in enumerate(_parts(body, len(function)), start=1):
            traps = _traps(function, function[first:last], edits)
            for turn, extra in enumerate(traps, start=1):
                given = f"{exercise.name}/order/{name}-{number}-{turn}"
                yield OrderItem(given, exercise.name, function, first, last, extra)


def _functions(lines: Lines) -> Iterator[Lines]:
    """Each function with its decorators."""
    text = "\n".join(lines)
    for part in text.split("\n\n"):
        if re.search(r"^def ", part, re.MULTILINE):
            yield tuple(part.split("\n"))


def _parts(first: int, last: int) -> list[tuple[int, int]]:
    """Parts of about equal length that are short enough to order; [] for a short text."""
    length = last - first
    if length < SHORTEST:
        return []
    count = -(-length // LONGEST)
    cuts = [first + length * part // count for part in range(count + 1)]
    return list(pairwise(cuts))


def _traps(function: Lines, asked: Lines, edits: Edits) -> list[Lines]:
    """For each puzzle, the one or two lines that do not belong.

    They come from kernels that the judge rejects; if there are none, one is made.
    """
    known = [wrong for line in dict.fromkeys(asked) for wrong in edits.get(line, ())]
    known = [wrong for wrong in dict.fromkeys(known) if wrong not in function]
    if not known:
        made = [wrong for line in asked if (wrong := made_wrong(line)) and wrong not in function]
        known = made[:2]
    random.Random("\n".join(asked)).shuffle(known)
    pairs = [tuple(known[i : i + 2]) for i in range(0, len(known), 2)]
    return pairs[:MOST_TRAPS]
