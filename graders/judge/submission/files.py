"""Converts a file's bytes to cells of Python text. A script is one cell.

The judge opens the file here; a separate process reads it: see `reader`.
"""

from __future__ import annotations

import io
import os
import stat
import tokenize
from pathlib import Path

from graders.judge.plain_text import one_line
from graders.judge.submission.notebooks import code_cells, not_utf8
from graders.judge.submission.python_text import Cell, normalised
from graders.judge.submission.refusals import SubmissionError, refusal

SOURCE_LIMIT = 20_000_000  # bytes, without a notebook's outputs
FILE_LIMIT = 200_000_000  # bytes, with outputs
MEMORY_BYTES = 512 << 20  # of address space for reading, including the interpreter's own


def opened(path: Path) -> int:
    """Open a regular file that is small enough to be read; return its descriptor."""
    shown = one_line(str(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise refusal(
            "file-missing",
            "There is no such file",
            f"{shown} does not exist.",
            "Check the spelling of the path.",
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise refusal("file-missing", "The file cannot be opened", f"{shown}: {reason}.") from None
    try:
        _refuse_by_kind(os.fstat(descriptor), shown)
    except SubmissionError:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_by_kind(found: os.stat_result, shown: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise refusal(
            "file-missing",
            f"This is {kind}",
            f"{shown} is {kind}.",
            "Name the notebook or the .py file.",
        )
    if found.st_size > FILE_LIMIT:
        raise too_large(found.st_size, "Clear its outputs and save it again.")


def too_large(size: int, next_step: str) -> SubmissionError:
    """Return the refusal of a file of that many bytes."""
    return refusal(
        "too-large",
        "The file is too large",
        f"It holds {size / 1e6:.0f} MB; at most {SOURCE_LIMIT / 1e6:.0f} MB of text are read.",
        next_step,
    )


def cells_of(data: bytes, is_notebook: bool, encoded: bool = True) -> list[Cell]:
    """Return the code cells of a notebook, or a script as one cell.

    `encoded`: a script may declare its encoding; what was already text is UTF-8.
    """
    if is_notebook or encoded:
        refuse_binary(data)
    if is_notebook:
        return [Cell(number, normalised(text)) for number, text in code_cells(data, SOURCE_LIMIT)]
    if len(data) > SOURCE_LIMIT:
        raise too_large(len(data), "A kernel is never this large: hand in only the .py file.")
    return [Cell(0, normalised(_decoded_script(data) if encoded else data.decode()))]


def _decoded_script(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError, OSError):  # OSError: its codec is denied
        raise not_utf8() from None


def refuse_binary(data: bytes) -> None:
    """Raise a refusal if the bytes cannot be text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise not_utf8()
    if b"\0" in data:
        raise refusal(
            "binary",
            "This is a binary file",
            "The file has bytes that no text file has.",
            "Hand in a .py file or a notebook.",
        )
