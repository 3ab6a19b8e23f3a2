"""Things to manipulate in the lessons: controls with a text that follows them.

Every explorer `name(...)` has a plain function `name_text(...)` that returns the same text, for
terminals and for notebooks in which widgets do not render. `reveal` shows a measurement only
to somebody who has predicted it.
"""

from triton_util.explore.blocks import blocks_1d, blocks_1d_text
from triton_util.explore.prediction import reveal
from triton_util.explore.strides import strides, strides_text

__all__ = ["blocks_1d", "blocks_1d_text", "reveal", "strides", "strides_text"]
