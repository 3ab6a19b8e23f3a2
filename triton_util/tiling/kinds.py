"""The kinds of tiles that a causal mask makes of the scores."""

from __future__ import annotations

from typing import Literal

TileKind = Literal["full", "diagonal", "skipped"]


def tile_kinds(m: int, n: int, BLOCK_M: int, BLOCK_N: int, causal: bool) -> list[list[TileKind]]:
    """What a program must do with each tile of the scores, by row of tiles, then column.

    "full": every query sees every existing key. "diagonal": only some keys are seen, so the mask
    must compare positions. "skipped": no key is seen. Without `causal` every tile is full; the
    bounds of the last rows and columns are a separate check.
    """
    return [
        [
            _kind(range(row, min(row + BLOCK_M, m)), range(col, min(col + BLOCK_N, n)), causal)
            for col in range(0, n, BLOCK_N)
        ]
        for row in range(0, m, BLOCK_M)
    ]


def _kind(queries: range, keys: range, causal: bool) -> TileKind:
    if not causal or keys[-1] <= queries[0]:
        return "full"
    return "diagonal" if keys[0] <= queries[-1] else "skipped"
