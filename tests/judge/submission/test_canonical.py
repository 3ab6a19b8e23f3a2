"""One canonical text: checker, interpreter and compiler read the same tree, however odd it is."""

from __future__ import annotations

import ast
import textwrap
from types import CodeType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.judge.plan.code import Code
from graders.judge.plan.kernels import Kernels
from graders.judge.plan.steps import Kernel
from graders.judge.submission.canonical import canonical
from triton_util.interpreter.control.sources import parsed

PREFIXES = (
    "",
    "PAD = '\f\f'\n",
    "'''text\f\n\f'''\n",
    "x = 1; y = 2\n",
    "def other(): return 1\n",
    "\f\n",
    "# \f comment\n",
    "if True:\n    def k(a): return 'another'\n",
)
DEFINITIONS = (
    "def k(a, b):\n",
    "def\\\n k(a, b):\n",
    "@jit\ndef k(a,\n      b):\n",
    "@jit(\n  debug=True,\n)\n# comment\ndef k(a, b=[1, 2], *, c: int = (lambda: 1)()):\n",
    "@one\n@two\ndef k ( a ,b ) -> 'text' :\n",
)
STATEMENTS = (
    "'''doc \\\\ \f string'''",
    "z = a +\\\n    b",
    "z = (a\n     + b)",
    "if a is b: z = 1",
    "if 1000 is 1000:\n    z = tl.load(a)\nelse:\n    z = b",
    "z: tl.constexpr = 1; w = f'{a}\\n'",
    "for i in range(3):\n    if i == 1: break; z = 2\n    z = i",
    "while a < b:\n    a += 1\n    continue\n    exec = 1",
    "return a\nexec = 0",
    "pass",
    "z = [c for c in (a, b)]",
    "z = a if a is not None else b",
    "λ = tl.load(a)",
)


@st.composite
def sources(draw: st.DrawFn) -> str:
    """A module with one function `k` that is as odd as Python allows."""
    body = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5))
    indent = draw(st.sampled_from(("  ", "    ", "\t")))
    before = "".join(draw(st.lists(st.sampled_from(PREFIXES), max_size=3)))
    text = textwrap.indent("\n".join(body), indent, lambda line: True)
    return f"{before}{draw(st.sampled_from(DEFINITIONS))}{text}\n"


def codes_of(source: str) -> list[Code]:
    return canonical(ast.parse(source).body)


@given(sources())
def test_checker_interpreter_and_compiler_read_the_same_tree(source: str) -> None:
    code = next(code for code in reversed(codes_of(source)) if code.name == "k")
    checked = code.tree()
    kernel = Kernel(code.line, code.name, {}, (), code=code)
    made = Kernels(source, "<odd>", [kernel]).get(0)
    tree = made.parse() if hasattr(made, "parse") else parsed(made.fn)[0]
    assert ast.dump(tree.body[0]) == ast.dump(checked)
    again = compile(ast.Module([checked], []), "<odd>", "exec", dont_inherit=True)
    (body,) = (part for part in again.co_consts if isinstance(part, CodeType))
    assert body.co_code == made.fn.__code__.co_code  # what Python itself would run


@given(sources())
def test_lines_are_those_of_the_submission(source: str) -> None:
    lines = source.split("\n")
    for code in codes_of(source):
        for node in ast.walk(code.tree()):
            if isinstance(node, ast.Name) and node.id.isascii():
                assert node.id in lines[node.lineno - 1]


@given(sources())
def test_nothing_is_left_of_what_cannot_be_reached(source: str) -> None:
    for code in codes_of(source):
        assert "exec" not in code.text
        assert " is b" not in code.text
        assert "\f" not in code.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if a is None: return b", "if a is None:\n        return b"),
        ("if a is not 3: return b", "if a != 3:\n        return b"),
        ("'only a text'", "pass"),
        ("return 1\nreturn 2", "return 1"),
        ("if a:\n    return 1\n    b\nreturn 2", "if a:\n        return 1\n    return 2"),
    ],
)
def test_canonical_form(before: str, after: str) -> None:
    (code,) = codes_of(f"def k(a, b):\n{textwrap.indent(before, '  ')}\n")
    assert code.text == f"def k(a, b):\n    {after}\n"


def test_names_are_those_from_around_and_no_others() -> None:
    text = "def k(a, n: C):\n  b: D = tl.load(a) + E\n  c = [i for i in F]\n  __builtins__\n  b.x\n"
    (code,) = codes_of(text)
    assert code.names == {"tl", "D", "E", "F", "__builtins__"}


def test_a_name_that_no_assembler_knows_is_written_in_ascii() -> None:
    (code,) = codes_of("def сума(a): return a\n")
    assert code.name == "сума"
    assert code.text.isascii()
