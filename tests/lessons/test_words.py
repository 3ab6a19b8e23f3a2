"""What lessons, solutions and documents must say, and what was false and must not come back.

A row names a text, what it is about, words that must stand there, and words that must not. Blanks
and line ends do not count. What a lesson claims of Triton itself is in test_claims.py.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from graders.authoring.lesson import read_lesson, read_solutions, stub

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "lessons").glob("[0-9][0-9]_*.py"))
TEXT = ("markdown", "case_study", "model_answer")


class Row(NamedTuple):
    """`text` is a file below the repository, or the number of a lesson."""

    text: str
    about: str
    said: tuple[str, ...] = ()
    not_said: tuple[str, ...] = ()


FALSEHOODS = (
    Row(
        "02",
        "a variable that is set too late",
        ("| after the import, before `@triton.jit` | this kernel is interpreted", "active drivers"),
        ("changes nothing, and says nothing",),
    ),
    Row(
        "03",
        "the dtype and the roof of ReLU's intensity",
        (
            "`max(x, 0)`, in fp32: one operation",
            "drawn for **fp16**, with the roofs of the tensor cores. There an element has 2 bytes, "
            "so ReLU has 1 operation for 4 bytes, 0.25:",
        ),
        ("ReLU is far on the memory side everywhere",),
    ),
    Row(
        "06",
        "how much the kernel for tanh computes",
        ("The kernel for tanh does a dozen or two operations per element",),
        ("None of them does more than one operation",),
    ),
    Row(
        "07",
        "whose speed of layer norm it is",
        (
            "Layer norm: {h200: layernorm 65536×4096 | plain | GB/s} GB/s for the model solution",
            "{h200: layernorm 65536×4096 | fast | GB/s} GB/s for the course's fast form",
        ),
    ),
    Row(
        "08",
        "how short the sides of a dot may be",
        (
            "K, must be at least 16 in fp16 and bf16 and at least 8 in fp32",
            "the other two may be as short as 1",
        ),
        ("The sides of the tiles must be at least 16",),
    ),
    Row(
        "08",
        "what becomes of a float32 factor",
        ("does not even round: the other 13 bits are cut off",),
        ("may round them to **TF32**",),
    ),
    Row(
        "11",
        "what more warps mean",
        (
            "more threads share one tile, so each needs fewer registers",
            "less independent work in each thread, more exchange between the warps",
        ),
        ("registers' worth of work",),
    ),
    Row(
        "solutions/fast/hopper.py",
        "what Triton uses of Hopper by itself",
        (
            "Triton turns `tl.dot` into wgmma by itself, and uses TMA only where a kernel loads "
            "through tensor descriptors",
        ),
        ("uses both by itself",),
    ),
    Row(
        "docs/architecture.md",
        "what becomes of a float32 factor",
        ("cut its factors off to TF32",),
        ("rounded to TF32",),
    ),
)
PROMISED = (
    Row(
        "01",
        "how the steps of another program are printed",
        ("`print(watch().steps_text(1))` gives the steps of program 1 as text",),
        ("(`print(...)` around the last line gives the same as text.)",),
    ),
    Row(
        "02",
        "the helpers of the course, shown",
        (
            "`print_if(text, conditions)`",
            'the line `breakpoint_if("=2")` comes after the offsets of a correct copy kernel',
            "(Pdb) p offsets array([4, 5], dtype=int32)",
        ),
    ),
    Row("02", "helpers that a learner fixes", ("fix the helpers until all three are correct",)),
    Row(
        "02",
        "what prints in a compiled kernel",
        ("`tl.static_print(", "`tl.device_print(", "`tl.device_assert("),
        ("nobody can print from inside one",),
    ),
    Row(
        "06",
        "torch.compile",
        (
            "It sees the chain and generates one fused kernel, in Triton.",
            "{h200: gelu 65536×4096 | torch.compile | µs} µs",
            "Its first call compiles, which takes seconds.",
            "Lesson 12 reads what it generates.",
        ),
    ),
    Row("07", "a layer norm of one walk", ("**Welford's** method", "Chan,", "`tl.reduce`")),
    Row(
        "09",
        "a measured A/B of GROUP",
        tuple(
            f"| {{h200: order {tile} at {n} | GROUP 1 | TFLOP/s}} "
            f"| {{h200: order {tile} at {n} | GROUP 8 | TFLOP/s}} |"
            for tile in ("64×64×32", "128×256×64")
            for n in (2048, 4096, 8192)
        ),
    ),
    Row(
        "11",
        "what the compiler did, and not a formula",
        ("`kernel.warmup(...)` compiles without a launch", "`.n_regs` and `.n_spills`"),
    ),
    Row(
        "graders/course/common/rounding.py",
        "what tensor cores do to float32",
        ("cut both inputs off to TF32",),
        ("rounded to TF32", "round both inputs"),
    ),
    Row("11", "a tuner outlives what does not fit", ("it catches `OutOfResources`",)),
    Row(
        "11",
        "when nothing is reset",
        ("With a key that is already known, or with a single candidate, nothing is cleared",),
    ),
    Row("11", "how to see the choice", ("`TRITON_PRINT_AUTOTUNING=1` prints what was chosen",)),
    Row(
        "11",
        "ways to few candidates",
        ('{"perf_model": model, "top_k": 4}', "`@triton.heuristics`"),
    ),
    Row("11", "why GROUP is not tuned", ("The model solution leaves `GROUP` at 8",)),
    Row(
        "docs/learn.md",
        "how Colab is used",
        ("*Runtime → Change runtime type*", "Colab forgets everything", "`make colab`"),
    ),
    Row("README.md", "which lesson opens", ("on lesson 00, a tour",), ("the first lesson",)),
    Row("docs/teach.md", "where own settings go", ("imports our settings, and your own stand",)),
    Row(
        "docs/teach.md",
        "how formgrader starts",
        ("Start it in the folder of the class: ``` jupyter lab", "choose *Nbgrader → Formgrader*"),
    ),
    Row("docs/teach.md", "rosters", ("id,first_name,last_name,email,lms_user_id",)),
    Row("docs/teach.md", "the course id", ("The course id is the folder's name, or `--id`.",)),
    Row(
        "docs/teach.md",
        "a gradebook in another place",
        ("`nbgrader generate_assignment 01_vector_add --force` once with the new `TILEWISE_DB`",),
    ),
    Row("docs/docker.md", "a file that libpq ignores", (), ("printf 'database",)),
)


@cache
def text_of(name: str) -> str:
    """All text of a file, without the marks of its comments; of a lesson the figures stay marks."""
    path = next((p for p in LESSONS if p.stem.startswith(f"{name}_")), ROOT / name)
    text = path.read_text(encoding="utf-8")
    lines = (re.sub(r"^# ?", "", line) if path in LESSONS else line for line in text.splitlines())
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("row", FALSEHOODS + PROMISED, ids=lambda row: f"{row.text}: {row.about}")
def test_what_is_said_and_what_is_not(row: Row) -> None:
    text = text_of(row.text)
    for words in row.said:
        assert " ".join(words.split()) in text, f"{row.text}, {row.about}: say again {words!r}"
    for words in row.not_said:
        assert words not in text, f"{row.text}, {row.about}: {words!r} is not so, or led astray"


# A word that a learner has not met, and the words that explain it where it comes first.
EXPLAINED = {
    r"\blanes?\b": ("is called a **lane**",),
    r"\bgates?\b": ("**gates**, which are the steps of the judge", "lists five **gates** through"),
    r"\bmeta-parameters?\b": ("are called **meta-parameters**",),
    r"\bsm_80\b": ("`sm_80`, the generation of the A100",),
    r"FLOP": ("is one **FLOP** (*floating-point operation*), and a TFLOP/s is a million million",),
}


def first_use(word: str, lessons: list[Path]) -> tuple[Path, str]:
    """The lesson where a word comes first, and its text from a little before there."""
    for path in lessons:
        cells = (cell.source for cell in read_lesson(path).cells if cell.kind in TEXT)
        text = " ".join(" ".join(cells).split())
        if found := re.search(word, text):
            return path, text[max(0, found.start() - 40) :]
    raise AssertionError(f"no lesson has {word}")


@pytest.mark.parametrize("start", [0, 1], ids=["with the tour", "without it"])
@pytest.mark.parametrize("word", EXPLAINED)
def test_a_word_is_explained_where_it_comes_first(word: str, start: int) -> None:
    path, text = first_use(word, LESSONS[start:])
    assert any(words in text[:200] for words in EXPLAINED[word]), (
        f"{path.name}: {word} comes first in {text[:90]!r} and is not explained there"
    )


# What is left to the learner of a launcher, by exercise: what its stub must not hold.
LEFT_TO_THE_LEARNER = {
    ("memory_vs_compute", "relu2d"): ("empty_like", "cdiv", "["),
    ("strides", "strided_copy"): ("x.stride(", "_kernel["),
    ("tiles_2d", "rgb2grey"): ("cdiv", "_kernel["),
    ("tiles_2d", "bias_relu"): ("cdiv", "_kernel["),
}


@pytest.mark.parametrize(("lesson", "name"), LEFT_TO_THE_LEARNER)
def test_a_launcher_is_left_to_the_learner(lesson: str, name: str) -> None:
    path = ROOT / "solutions" / f"{lesson}.py"
    given = stub(read_solutions(path)[name])
    (launcher,) = (
        node
        for node in ast.parse(given).body
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    body = "\n".join(ast.unparse(statement) for statement in launcher.body[1:])
    for part in LEFT_TO_THE_LEARNER[lesson, name]:
        assert part not in body, f"{path.name}: the launcher of {name} gives {part!r} away"


SOLUTIONS = sorted((ROOT / "solutions").rglob("*.py"))


@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)
def test_numbers_are_written_in_one_way(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert '-float("inf")' not in text, f'{path.name}: write float("-inf"), as everywhere'
    assert not re.search(r"1\.4426|0\.6931", text), f"{path.name}: write math.log2(math.e)"


HEADS = {"attention": 17, "fusion": 7}  # the arguments that a kernel of a solution takes at most


@pytest.mark.parametrize("name", HEADS)
def test_the_head_of_a_kernel_is_short(name: str) -> None:
    path = ROOT / "solutions" / f"{name}.py"
    kernels = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.endswith("_kernel")
    ]
    assert kernels
    for kernel in kernels:
        names = [arg.arg for arg in kernel.args.args]
        assert not [name for name in names if name.startswith("stride_")], (
            f"{path.name}: hand the strides of a tensor over as one tuple"
        )
        assert len(names) <= HEADS[name], f"{path.name}: {kernel.name} takes {len(names)} arguments"
    assert "(0,) * missing" not in path.read_text()
