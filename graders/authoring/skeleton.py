"""The files of a new lesson: a small working example, with TODO where the author writes."""

from __future__ import annotations

import re
from pathlib import Path

from graders.authoring.rooms import Rooms, slug_of
from graders.judge.records import GraderError

_LESSON = """\
# %% [markdown]
# # TODO: the title of the lesson
#
# TODO: what the learner can do afterwards. It takes about 30 minutes. One idea at a time: short
# text, a picture made by code, a prediction, something to try, then the exercise.

# %% setup
from triton_util import figures, time_beside
from triton_util.environment import interpreting

ON_GPU = torch.cuda.is_available() and not interpreting()

# %% [markdown]
# ## TODO: the idea
#
# TODO: explain the picture.

# %%
figures.blocks_1d(10, 4)

# %% [markdown]
# **Predict.** TODO: ask for a number. How many programs does the picture have?

# %%
predict("{slug}_programs", None)

# %% [markdown]
# ## Exercise: `{exercise}`
#
# **The contract.** `{exercise}(x)` returns TODO. x: TODO, shapes and dtypes.
#
# `hint("{exercise}")` helps.

# %% exercise="{exercise}"

# %% [markdown]
# ## Quiz

# %%
quiz("{slug}")

# %% [markdown] case_study="{slug}-case" points=5
# ## Case study: TODO
#
# TODO: a question that has to be answered in words.

# %%
answer("{slug}-case")

# %% [markdown] model_answer="{slug}-case"
# TODO: the answer that gets all points.
#
# **Rubric (5 points)**
#
# - 3 points: TODO.
# - 2 points: TODO.

# %% [markdown]
# ## For the GPU
#
# TODO: what the time shows.

# %% gpu
if ON_GPU:
    x = torch.randn(2**26, device="cuda")
    time_beside({exercise}, {{"torch": lambda x: x + x}}, x, n_bytes=2 * x.nbytes)
else:
    print("Not run: there is no GPU here, and the interpreter's time says nothing about a GPU.")

# %% [markdown]
# Papers and other code use other names:
#
# | in this course | elsewhere |
# |---|---|
# | TODO | TODO |
#
# References:
#
# - TODO: a paper or a tutorial, with its link.

# %%
progress()
"""

_SOLUTION = '''\
"""Model solution of the lesson {slug}: TODO in one line."""

import torch
import triton
import triton.language as tl


# %% {exercise}
@triton.jit
def {exercise}_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """TODO: what one program does.

    x_ptr and output_ptr point to the first of `n_elements` contiguous elements.
    """
    # 1. The offsets of my block, and a mask for those inside the vector.
    # 2. Load, compute, store.
    ### BEGIN SOLUTION
    pid = tl.program_id(axis=0)
    offsets = pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + x, mask=mask)
    ### END SOLUTION


def {exercise}(x: torch.Tensor) -> torch.Tensor:
    """TODO: return 2 x.

    x: 1D, contiguous, float32, float16 or bfloat16. The result is a new tensor like x.
    """
    # 1. Allocate the output. 2. Launch enough programs. 3. Return the output.
    ### BEGIN SOLUTION
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    {exercise}_kernel[grid](x, output, x.numel(), BLOCK_SIZE=1024)
    return output
    ### END SOLUTION
'''

_EXERCISE = '''\
"""What counts as solved in the lesson {slug}: TODO in one line."""

from graders.course.common import shared
from graders.judge.cases.builders import FLOATS, VECTOR_SIZES, cases, one
from graders.judge.records import Exercise

EXERCISES = (
    Exercise(
        name="{exercise}",
        lesson="{slug}",
        title="TODO: the title of the exercise",
        parameters=("x",),
        reference=lambda x: x + x,
        cases=(
            *cases(one, "n", [1000, 5000], why="TODO: what a failure here usually means."),
            *cases(one, "n", VECTOR_SIZES, part="edges", why="None, few, or near a power of two."),
            *cases(one, "n", [1000, 0], part="types", dtypes=FLOATS[1:], why="Keep the dtype."),
        ),
        hints=(
            "TODO: a nudge. Which elements belong to which program?",
            "TODO: more than a nudge. The offsets of a block start at pid * BLOCK_SIZE.",
            "TODO: nearly the line. offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
        ),
        challenge="TODO: what to break. Remove the mask of the store: which size fails first?",
        misconceptions=(shared.missing_mask("a vector"), shared.offset_ignores_pid()),
        parts={{"core": 4, "edges": 3, "types": 3}},
    ),
)
'''

_CONTRACT = '''\
"""What the launchers of this lesson must accept."""

from graders.judge.cases.builders import FLOATS
from graders.judge.cases.contract import ORDINARY, Axis, Contract, Tensor, Values

LINE = Tensor("n", ("contiguous", "offset"), (ORDINARY, Values("specials")))

CONTRACTS = {{"{exercise}": Contract({{"n": Axis()}}, {{"x": LINE}}, FLOATS)}}
'''

_QUIZ = '''\
"""The questions of the lesson {slug}."""

from graders.judge.records import Choice, Question

QUIZ = tuple(
    Question(
        f"TODO: question {{number}} about the idea of the lesson",
        (
            Choice("TODO: the correct choice", "TODO: why it is correct.", right=True),
            Choice("TODO: a wrong choice", "TODO: what this choice overlooks."),
            Choice("TODO: another wrong choice", "TODO: what this choice overlooks."),
            Choice("TODO: a third wrong choice", "TODO: what this choice overlooks."),
        ),
    )
    for number in (1, 2, 3)
)
'''

_HIDDEN = '''\
"""Hidden cases of the lesson {slug}: other sizes and seeds of the public kinds."""

from graders.judge.cases.builders import FLOATS, cases, one
from graders.judge.records import Hidden

HIDDEN = {{
    "{exercise}": Hidden(
        cases=(
            *cases(one, "n", [997, 3000]),
            *cases(one, "n", [33, 2047], part="edges"),
            *cases(one, "n", [1009], part="types", dtypes=FLOATS[1:]),
        )
    )
}}
'''

_PACKAGE = '"""All that counts in the lesson {slug}."""\n'

_PREDICTIONS = '''\
"""Predictions of the lesson {slug}."""

from __future__ import annotations

from graders.judge.predictions import Prediction

PREDICTIONS = {{
    "{slug}_programs": Prediction(
        3, "programs", "TODO: 3 programs of 4 lanes cover 10 numbers.", quantity=False
    ),
}}
'''

_CORRECT = '''\
"""The kernel as in the textbook."""

import torch
import triton
import triton.language as tl


@triton.jit
def {exercise}_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + x, mask=mask)


def {exercise}(x):
    output = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    {exercise}_kernel[grid](x, output, x.numel(), BLOCK_SIZE=1024)
    return output
'''

_WRONG = """\
# Wrong kernels, each as edits (old, new) of a whole one. docs/author.md explains the format.

[missing_mask]
says = "The store has no mask: the last block writes past the end."
of = "correct/textbook"
edits = [["x + x, mask=mask)", "x + x)"]]

[missing_mask__load]
says = "Neither load nor store has a mask."
of = "correct/textbook"
edits = [["x_ptr + offsets, mask=mask", "x_ptr + offsets"], ["x + x, mask=mask", "x + x"]]

[offset_ignores_pid]
says = "Every program works on the first block."
of = "correct/textbook"
edits = [["pid.to(tl.int64) * BLOCK_SIZE + tl.arange", "tl.arange"]]

[first_block_only]
says = "The grid is rounded down, so the last block has no program."
of = "correct/textbook"
edits = [["triton.cdiv(x.numel(), 1024)", "max(1, x.numel() // 1024)"]]

[nothing_stored]
says = "The program stores nothing."
of = "correct/textbook"
edits = [["tl.store(output_ptr + offsets, x + x, mask=mask)", "pass"]]

[wrong_return]
says = "The launcher returns its argument."
of = "correct/textbook"
edits = [["return output", "return x"]]

[constant_factor]
says = "TODO: replace this by a mistake that learners make here. It adds x once too often."
of = "correct/textbook"
edits = [["x + x,", "x + x + x,"]]
"""

_SLUG = re.compile(r"[a-z][a-z0-9_]*\Z")


def new_lesson(rooms: Rooms, number: int, slug: str, exercise: str) -> list[Path]:
    """Write the files of a lesson; a GraderError if a name is taken or invalid."""
    _check_names(rooms, number, slug, exercise)
    texts = {
        rooms.lessons / f"{number:02d}_{slug}.py": _LESSON,
        rooms.solutions / f"{slug}.py": _SOLUTION,
        rooms.exercise(slug): _EXERCISE,
        rooms.contract(slug): _CONTRACT,
        rooms.hidden(slug): _HIDDEN,
        rooms.course / slug / "__init__.py": _PACKAGE,
        rooms.course / slug / "predictions.py": _PREDICTIONS,
        rooms.course / slug / "quiz.py": _QUIZ,
        rooms.kernels(exercise, slug) / "correct" / "textbook.py": _CORRECT,
        rooms.kernels(exercise, slug) / "wrong.toml": _WRONG,
    }
    taken = [rooms.name(path) for path in texts if path.exists()]
    if taken:
        raise GraderError(f"already there, and never overwritten: {', '.join(taken)}")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(slug=slug, exercise=exercise), encoding="utf-8")
    return list(texts)


def _check_names(rooms: Rooms, number: int, slug: str, exercise: str) -> None:
    for name in (slug, exercise):
        if not _SLUG.match(name):
            raise GraderError(f"{name!r} is no name: small letters, digits and _, a letter first")
    if not 0 <= number <= 99:
        raise GraderError(f"{number} is no lesson number: 0 to 99")
    for path in rooms.lesson_files():
        if path.stem.startswith(f"{number:02d}_"):
            raise GraderError(f"number {number:02d} is taken by {rooms.name(path)}")
        if slug_of(path) == slug:
            raise GraderError(f"the slug {slug!r} is taken by {rooms.name(path)}")
