"""The files of a new lesson: complete, working in miniature, with TODO where the author writes."""

from __future__ import annotations

import re
from pathlib import Path

from graders.authoring.rooms import Rooms, slug_of
from graders.judge.records import GraderError

_LESSON = """\
# %% [markdown]
# # TODO: the title of the lesson
#
# TODO: what the learner can do afterwards, and how long it takes. One idea at a time: short
# text, a picture made by code, a prediction, something to try, then the exercise.

# %% setup

# %% [markdown]
# ## Your turn
#
# TODO: the contract of `{exercise}(x)`: shapes, dtypes, what is returned.

# %% exercise="{exercise}"

# %%
hint("{exercise}")

# %%
quiz("{slug}")

# %% [markdown] case_study="{slug}-case" points=5
# ## Case study: TODO
#
# TODO: a question that has to be answered in words.

# %% [markdown] model_answer="{slug}-case"
# TODO: the answer that gets all points.
#
# **Rubric (5 points)**
#
# - TODO: points for what.

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
from graders.judge.records import Choice, Exercise, Question

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
        hints=("TODO: a nudge.", "TODO: more than a nudge.", "TODO: nearly the line."),
        challenge="TODO: one line to break once it passes, and what to look at then.",
        misconceptions=(shared.missing_mask("a vector"), shared.offset_ignores_pid()),
        parts={{"core": 4, "edges": 3, "types": 3}},
    ),
)

QUIZ = (
    Question(
        "TODO: a question about the idea of the lesson",
        (
            Choice("TODO: the right choice", "TODO: why it is right.", right=True),
            Choice("TODO: a wrong choice", "TODO: what to say to somebody who picks it."),
        ),
    ),
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

_WRONG = '''\
"""No mask: the last block reads and writes behind the vector."""

import torch
import triton
import triton.language as tl


@triton.jit
def {exercise}_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets)
    tl.store(output_ptr + offsets, x + x)


def {exercise}(x):
    output = torch.empty_like(x)
    {exercise}_kernel[(triton.cdiv(x.numel(), 1024),)](x, output, BLOCK_SIZE=1024)
    return output
'''

_SLUG = re.compile(r"[a-z][a-z0-9_]*\Z")


def new_lesson(rooms: Rooms, number: int, slug: str, exercise: str) -> list[Path]:
    """Write the files of a lesson; a GraderError when a name is taken or is none."""
    _check_names(rooms, number, slug, exercise)
    texts = {
        rooms.lessons / f"{number:02d}_{slug}.py": _LESSON,
        rooms.solutions / f"{slug}.py": _SOLUTION,
        rooms.exercise(slug): _EXERCISE,
        rooms.hidden(slug): _HIDDEN,
        rooms.kernels(exercise, slug) / "wrong" / "missing_mask.py": _WRONG,
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
