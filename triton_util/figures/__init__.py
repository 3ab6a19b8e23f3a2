"""Figures of the lessons, made by code; each is a `Drawing` with alternative text.

from triton_util import figures
figures.blocks_1d(7, 4)          # the last expression of a cell: shown, with words
print(figures.blocks_1d(7, 4).alt)
"""

from triton_util.figures.blocks import (
    blocks_1d,
    fusion_trips,
    machine,
    moving_costs,
    scalars_or_blocks,
)
from triton_util.figures.drawing import Drawing
from triton_util.figures.matmul import matmul_tiles, tile_reuse
from triton_util.figures.roofline import roofline
from triton_util.figures.strides import memory, sectors, stride_trap

__all__ = [
    "Drawing",
    "blocks_1d",
    "fusion_trips",
    "machine",
    "matmul_tiles",
    "memory",
    "moving_costs",
    "roofline",
    "scalars_or_blocks",
    "sectors",
    "stride_trap",
    "tile_reuse",
]
