"""The table of error messages: what Triton says, and a tutor's words for it.

Each row is (kind, pattern, sentence, advice).  The pattern is searched in the text of the error;
its named groups may be used in the sentence and the advice.  The first row that matches wins.
"""

from __future__ import annotations

from triton_util.interpreter.messages.blocks import DOTS, INDEXING, RANGES, SHAPES, TYPES
from triton_util.interpreter.messages.python import CALLS, LAUNCHES, NAMES, PYTHON
from triton_util.interpreter.messages.values import VALUES

Row = tuple[str, str, str, str]
ROWS: tuple[Row, ...] = (
    *VALUES,
    *INDEXING,
    *RANGES,
    *SHAPES,
    *DOTS,
    *TYPES,
    *PYTHON,
    *NAMES,
    *CALLS,
    *LAUNCHES,
)
