"""Figures of the lessons, drawn by code; each is a `Drawing` with alternative text.

from triton_util import figures
figures.blocks_1d(7, 4)          # the last expression of a cell: shown, with words
print(figures.blocks_1d(7, 4).alt)
"""

from triton_util.figures.attention import attention_walk, causal_tiles
from triton_util.figures.blocks import (
    blocks_1d,
    fusion_trips,
    machine,
    moving_costs,
    scalars_or_blocks,
)
from triton_util.figures.chain import chain
from triton_util.figures.drawing import Drawing
from triton_util.figures.launches import launches
from triton_util.figures.matmul import matmul_tiles, tile_reuse
from triton_util.figures.orders import launch_order, launch_orders
from triton_util.figures.roofline import roofline
from triton_util.figures.strides import memory, sectors, stride_trap
from triton_util.figures.tiles import lake, pointer_tile, show, tiles_2d
from triton_util.figures.touches import touches

__all__ = [
    "Drawing",
    "attention_walk",
    "blocks_1d",
    "causal_tiles",
    "chain",
    "fusion_trips",
    "lake",
    "launch_order",
    "launch_orders",
    "launches",
    "machine",
    "matmul_tiles",
    "memory",
    "moving_costs",
    "pointer_tile",
    "roofline",
    "scalars_or_blocks",
    "sectors",
    "show",
    "stride_trap",
    "tile_reuse",
    "tiles_2d",
    "touches",
]
