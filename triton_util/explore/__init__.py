"""Explorers of the lessons: controls with a text that follows them.

Every explorer `name(...)` has a plain function `name_text(...)` that returns the same text, for
terminals and for notebooks in which widgets do not render. `measure` counts the bytes that kernels
move.
"""

from triton_util.explore.attention import (
    attention_walk,
    attention_walk_text,
    causal_tiles,
    causal_tiles_text,
)
from triton_util.explore.blocks import blocks_1d, blocks_1d_text
from triton_util.explore.budget import budget, tile_budget, tile_budget_text
from triton_util.explore.conditions import conditions, conditions_text
from triton_util.explore.gpus import GPUS, roofline, roofline_text
from triton_util.explore.matmul import matmul_walk, matmul_walk_text
from triton_util.explore.measure import Moved, measure
from triton_util.explore.online import online_softmax, online_softmax_text
from triton_util.explore.orders import orders, orders_text
from triton_util.explore.strides import strides, strides_text
from triton_util.explore.tiles import tiles_2d, tiles_2d_text
from triton_util.tiling.kinds import tile_kinds
from triton_util.tiling.orders import blocks_needed, grouped, hit_rate, row_major

__all__ = [
    "GPUS",
    "Moved",
    "attention_walk",
    "attention_walk_text",
    "blocks_1d",
    "blocks_1d_text",
    "blocks_needed",
    "budget",
    "causal_tiles",
    "causal_tiles_text",
    "conditions",
    "conditions_text",
    "grouped",
    "hit_rate",
    "matmul_walk",
    "matmul_walk_text",
    "measure",
    "online_softmax",
    "online_softmax_text",
    "orders",
    "orders_text",
    "roofline",
    "roofline_text",
    "row_major",
    "strides",
    "strides_text",
    "tile_budget",
    "tile_budget_text",
    "tile_kinds",
    "tiles_2d",
    "tiles_2d_text",
]
