"""Each row about an error of the launcher's own Python is shown by a statement that raises it."""

from __future__ import annotations

import re

import pytest
import torch
import triton

from graders.judge.diagnosis.raised import ROWS, TITLE, raised_text

# A statement of a launcher, and words that its finding must have.
STATEMENTS = {
    "from . import helpers": "Copy the functions that you need from that file into this one",
    "torch.xpu.get_device_properties(0)": "which the judge's torch does not have",
    'meta["BLOCK_SIZ"]': 'meta["BLOCK_SIZE"] needs a parameter',
    "n_rows, n_cols = x.shape[:1]": "n_rows, n_cols = x.shape for a matrix",
    "n_rows, = x.shape": "differs from the number of values",
    "x.shape[2]": "x.shape[1] the second",
    "x.stride(2)": "Axes count from 0",
    "grid = otput": "otput has no value yet when this line runs",
    "from helpers import allocate": "without your own files beside it",
    "from torch import allocate_it": "Copy the functions that you need from allocate_it",
    "n_rows, n_cols = x.size": "A method is used here without its round brackets",
    "print(*x.stride)": "A method is used here without its round brackets",
    "block_m, block_n = 16": "only one value on its right (int)",
    "print(*16)": "The star unpacks several values",
    "x.numel()[0]": "this is a single value (int)",
    "launch[4](x)": "only a kernel is launched with [ ]",
    "{1, 2}[0]": "a set has no entries",
    "nothing.numel()": "The value before .numel is None",
    "torch.empty(x)": "torch.empty_like(x)",
    "x.numel()()": "here they follow a value (int)",
    "(4,)()": "kernel[grid]",
    "x.stride[0]": "A method is used here without its brackets",
    "triton.cdiv(x.numel, 4)": "the brackets are missing",
    "launch(x)": "launch is called with too few arguments",
    "x.shape(0)": "x.shape is a tuple",
    "x.shape + 1": "There is a tuple of numbers where one number is needed",
    "triton.cdiv(x.stride(), 4)": "There is a tuple of numbers where one number is needed",
}
# What torch says on a machine that has no GPU.
NO_GPU = "RuntimeError: No CUDA GPUs are available"


def raised(statement: str) -> str:
    """`Type: text` of what a statement raises."""

    def launch(x: torch.Tensor, y: torch.Tensor) -> None:
        """Takes two arguments."""

    names = {"x": torch.ones(3, 4), "meta": {"BLOCK_SIZE": 16}, "nothing": None}
    names |= {"torch": torch, "triton": triton, "launch": launch, "__package__": ""}
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(statement, names)
    return f"{caught.type.__name__}: {caught.value}".replace(f"{raised.__name__}.<locals>.", "")


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_the_mistake_is_named(statement: str) -> None:
    found = raised_text(raised(statement))
    assert found.title == TITLE
    assert STATEMENTS[statement] in f"{found.message} {found.next_step}"
    assert "{" not in found.message + found.next_step


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_every_row_is_the_first_that_fits_some_statement() -> None:
    errors = [NO_GPU, *map(raised, STATEMENTS)]
    patterns = [pattern for pattern, _, _ in ROWS]
    first = {next(p for p in patterns if re.search(p, error)) for error in errors}
    assert [pattern for pattern in patterns if pattern not in first] == []
