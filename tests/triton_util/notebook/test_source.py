"""Gathering a submission from a session: cells in, one self-sufficient text out."""

import linecache
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from triton_util.notebook.literals import literal, modules_of
from triton_util.notebook.session import Cell, Session, script_cells, unwrap_cell_magic
from triton_util.notebook.source import GatherError, gather

IMPORTS = "import torch, triton\nimport triton.language as tl\n"
KERNEL = """\
@triton.jit
def add_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
    tl.store(output_ptr + offsets, scale(x), mask=offsets < n_elements)
"""
HELPER = "@triton.jit\ndef scale(x):\n    return x * FACTOR\n"
LAUNCHER = """\
def vector_add(x: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    add_kernel[(cdiv(x.numel(), BLOCK),)](x, output, x.numel(), BLOCK_SIZE=BLOCK)
    return output
"""


@dataclass
class Notebook:
    """Runs cells as IPython does: one namespace, sources in the line cache."""

    namespace: dict = field(default_factory=lambda: {"__name__": "__main__"})
    cells: list = field(default_factory=list)

    def run(self, source: str) -> "Notebook":
        filename = f"<test-cell-{id(self)}-{len(self.cells) + 1}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        self.cells.append(Cell(f"cell [{len(self.cells) + 1}]", source, filename))
        exec(compile(source, filename, "exec"), self.namespace)
        return self

    def gather(self, name: str = "vector_add"):
        session = Session(self.namespace, tuple(self.cells))
        return gather(name, self.namespace[name], session)


def notebook(*cells: str) -> Notebook:
    made = Notebook()
    for cell in cells:
        made.run(cell)
    return made


def runs_alone(text: str, expression: str) -> object:
    """The value of an expression after running the gathered text and nothing else."""
    filename = f"<gathered-{abs(hash(text))}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict = {"__name__": "gathered"}
    exec(compile(text, filename, "exec"), namespace)
    return eval(expression, namespace)


def test_kernels_helpers_constants_and_imports_of_other_cells():
    made = notebook(
        IMPORTS + "from triton_util import cdiv\nimport os",
        "FACTOR: tl.constexpr = tl.constexpr(2.0)\nBLOCK = 8\nUNUSED = 3",
        HELPER,
        KERNEL + "\n\n" + LAUNCHER,
    ).gather()
    assert "UNUSED" not in made.text
    assert "import os" not in made.text
    assert runs_alone(made.text, "(BLOCK, FACTOR.value, cdiv(9, 4))") == (8, 2.0, 3)
    assert made.text.index("def scale") < made.text.index("def add_kernel")


def test_places_are_the_learners_own_lines():
    made = notebook(
        IMPORTS + "from triton_util import cdiv\nFACTOR = 2", "BLOCK = 4", HELPER, KERNEL, LAUNCHER
    ).gather()
    lines = made.text.splitlines()
    load = lines.index("    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)") + 1
    assert str(made.place(load)) == "cell [4], line 4"
    assert made.line_text(load).startswith("x = tl.load")
    assert str(made.place(lines.index("BLOCK = 4") + 1)) == "cell [2], line 1"
    assert made.place(None) is None
    assert made.place(10_000) is None
    assert made.line_text(10_000) == ""


def test_the_newest_definition_counts():
    made = notebook(
        "def vector_add(x):\n    return first(x)",
        "def first(x):\n    return 1",
        "def first(x):\n    return 2",
        "SIZE = 1",
    )
    assert runs_alone(made.gather().text, "vector_add(0)") == 2


def test_present_value_of_a_constant_counts():
    made = notebook("SIZE = 1\ndef vector_add(x):\n    return SIZE", "SIZE += 4")
    assert runs_alone(made.gather().text, "vector_add(0)") == 5


def test_locals_of_the_same_name_do_not_pull_globals_in():
    made = notebook(
        "class Big:\n    pass\nmask = Big()",
        "def vector_add(x):\n    mask = x\n    return [offsets for offsets in (mask,)]",
        "offsets = Big()",
    ).gather()
    assert "Big" not in made.text


def test_autotuned_kernel_brings_its_configs():
    made = notebook(
        IMPORTS,
        "CONFIGS = [triton.Config({'BLOCK_SIZE': size}) for size in (64, 128)]",
        "@triton.autotune(configs=CONFIGS, key=['n_elements'])\n"
        "@triton.heuristics({'EVEN': lambda args: args['n_elements'] % 2 == 0})\n" + KERNEL,
        "FACTOR = 2\n" + HELPER,
        "BLOCK = 1\ncdiv = triton.cdiv\n" + LAUNCHER,
    ).gather()
    assert "CONFIGS = [triton.Config" in made.text
    assert made.text.index("CONFIGS =") < made.text.index("@triton.autotune")
    assert runs_alone(made.text, "len(CONFIGS)") == 2


def test_kernel_made_without_a_decorator_line():
    made = notebook(
        IMPORTS,
        "def plain(x_ptr):\n    tl.store(x_ptr, 1.0)\nkernel = triton.jit(plain)",
        "def vector_add(x):\n    kernel[(1,)](x)\n    return x",
    ).gather()
    assert "kernel = triton.jit(plain)" in made.text
    assert "def plain" in made.text


def test_alias_of_a_function():
    made = notebook("def inner(x):\n    return 3", "vector_add = inner").gather()
    assert runs_alone(made.text, "vector_add(0)") == 3


def test_lambda_is_found_as_a_statement():
    made = notebook("double = lambda x: 2 * x; other = 1", "vector_add = lambda x: double(x)")
    assert runs_alone(made.gather().text, "vector_add(4)") == 8


def test_functions_that_call_each_other():
    made = notebook(
        "def vector_add(n):\n    return n if n < 1 else other(n - 1)",
        "def other(n):\n    return vector_add(n)",
    ).gather()
    assert runs_alone(made.text, "vector_add(3)") == 0


def test_imports_under_other_names():
    made = notebook(
        "import triton.language as tl\nfrom math import ceil as up, floor\nimport os.path as p\n"
        "from typing import Optional\nimport json",
        "def vector_add(x: Optional[int]):\n    return up(x), floor(x), p.sep, tl.float32",
    ).gather()
    assert runs_alone(made.text, "vector_add(1.5)[:2]") == (2, 1)
    assert "json" not in made.text
    assert "from math import ceil as up" in made.text


def test_the_learners_own_import_is_kept_while_it_is_true():
    made = notebook(
        "from triton_util import cdiv\nfrom triton_util import cdiv as blocks\n",
        "def vector_add(x):\n    return cdiv(x, 2), blocks(x, 2)",
    )
    text = made.gather().text
    assert "from triton_util import cdiv\n" in text
    assert "from triton_util import cdiv as blocks\n" in text
    made.run("from math import floor\n")
    made.namespace["cdiv"] = made.namespace["floor"]  # no cell says so
    assert "from math import floor as cdiv\n" in made.gather().text


def test_star_import_is_found_at_its_public_path():
    made = notebook("from triton_util import *", "def vector_add(x):\n    return cdiv(x, 2)")
    assert made.gather().text.startswith("from triton_util import cdiv\n")


def test_class_of_the_session_is_a_statement():
    made = notebook(
        "import dataclasses\n\n@dataclasses.dataclass\nclass Tile:\n    m: int = 4\n",
        "def vector_add(x):\n    return Tile().m",
    ).gather()
    assert runs_alone(made.text, "vector_add(0)") == 4


def test_global_that_nobody_can_rebuild_is_said():
    made = notebook("def vector_add(x):\n    return table[x]")
    made.namespace["table"] = object()
    with pytest.raises(GatherError) as caught:
        made.gather()
    assert "`table`" in caught.value.title
    assert "type object" in caught.value.message


def test_function_inside_a_function_is_said():
    made = notebook(
        "def make(size):\n    def vector_add(x):\n        return size\n    return vector_add\n"
        "vector_add = make(3)"
    )
    with pytest.raises(GatherError, match="inside another function"):
        made.gather()


def test_indented_definition_is_dedented():
    made = notebook("if True:\n    def vector_add(x):\n        return 5").gather()
    assert runs_alone(made.text, "vector_add(0)") == 5


def test_missing_name_is_left_to_the_judge():
    made = notebook("def vector_add(x):\n    return not_defined_anywhere(x)").gather()
    assert made.text == "def vector_add(x):\n    return not_defined_anywhere(x)\n"


@pytest.mark.parametrize(
    "expression",
    ["1", "-2.5", "'a\\n'", "None", "True", "(1,)", "[1, (2, 'x')]", "{'a': {1: 2.0}}", "{3, 4}",
     "float('inf')", "b'x'", "torch.float16", "{'dtype': torch.int8}", "()", "tl.float32",
     "tl.bfloat16", "frozenset([1])"],
)  # fmt: skip
def test_literals_come_back_equal(expression):
    import torch
    import triton.language as tl

    value = eval(expression, {"torch": torch, "tl": tl})
    written = literal(value)
    assert written is not None
    names: dict = {}
    for module in modules_of(written):
        exec(f"import {module}", names)
    assert eval(written, names) == value


def test_constexpr_comes_back():
    import triton.language as tl

    assert literal(tl.constexpr(64)) == "triton.language.constexpr(64)"


@pytest.mark.parametrize(
    "value", [object(), [object()], {1: object()}, len, type("N", (int,), {})(3)]
)
def test_values_that_are_no_plain_data(value):
    assert literal(value) is None


def test_endless_list_is_no_literal():
    endless: list = []
    endless.append(endless)
    assert literal(endless) is None


def test_cell_magic_is_taken_off():
    source = "get_ipython().run_cell_magic('time', '', 'def f():\\n    return 1\\n')"
    assert unwrap_cell_magic(source) == ("def f():\n    return 1\n", 2)
    assert unwrap_cell_magic("x = 'run_cell_magic'") == ("x = 'run_cell_magic'", 1)
    assert unwrap_cell_magic("run_cell_magic(") == ("run_cell_magic(", 1)


def test_script_is_one_cell(tmp_path):
    script = tmp_path / "mine.py"
    script.write_text(
        "import functools\nBLOCK = 4\n\ndef vector_add(x):\n    return BLOCK\n\n"
        "from triton_util.notebook.session import of_caller\n"
        "from triton_util.notebook.source import gather\nimport sys\n"
        "made = gather('vector_add', vector_add, of_caller(sys._getframe()))\n"
        "print(made.place(3))\nprint(made.text)\n"
    )
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == ("mine.py, line 4\nBLOCK = 4\n\ndef vector_add(x):\n    return BLOCK\n\n")
    assert script_cells({"__file__": str(tmp_path / "none.py")}) == ()
    assert script_cells({}) == ()
