"""Figures of two-dimensional tiles, and an image to work on."""

from __future__ import annotations

from typing import Any

import torch
from matplotlib.figure import Figure

from triton_util.figures.drawing import INK, PANEL, Drawing, Look, cell, label, panel

MAX_SIDE = 12


def tiles_2d(
    height: int,
    width: int,
    BLOCK_H: int,
    BLOCK_W: int,
    chosen: tuple[int, int] | None = None,
) -> Drawing:
    """A matrix split into tiles: which program has which elements, and what the mask excludes.

    With a `chosen` program its tile is filled, and shows the offsets of its lanes. Raises
    ValueError for more than 12 rows or columns.
    """
    tiles = (-(-height // BLOCK_H), -(-width // BLOCK_W))
    rows, cols = tiles[0] * BLOCK_H, tiles[1] * BLOCK_W
    if max(rows, cols) > MAX_SIDE:
        raise ValueError(f"this picture shows at most {MAX_SIDE} rows and columns")
    figure, axes = panel(8.6, 0.75 + 0.4 * rows, 17.2, 1.5 + 0.8 * rows)
    title = f"{height} x {width} elements in tiles of {BLOCK_H} x {BLOCK_W}"
    label(axes, 0.3, 0.45, f"{title}: grid ({tiles[0]}, {tiles[1]})", bold=True, align="left")
    for row in range(rows):
        for col in range(cols):
            pid = (row // BLOCK_H, col // BLOCK_W)
            inside = row < height and col < width
            look: Look = ("active", "second")[sum(pid) % 2] if inside else "idle"
            text = f"{pid[0]},{pid[1]}"
            if chosen is not None:
                mine = pid == chosen
                look = ("active" if mine else "plain") if inside else ("wrong" if mine else "idle")
                text = str(row * width + col) if mine else ""
            x = 1.0 + col * 1.2 + 0.15 * pid[1]
            cell(axes, x, 1.0 + row * 0.75 + 0.12 * pid[0], text, look, 1.2, 0.75, 9)
    x = 1.6 + cols * 1.2 + 0.15 * tiles[1]
    told = ["a,b: program (a, b) of the grid", "striped: outside, mask is false"]
    if chosen is not None:
        first, last = chosen[0] * BLOCK_H, chosen[1] * BLOCK_W
        told = [
            f"program ({chosen[0]}, {chosen[1]}) and its offsets",
            f"rows {first} to {first + BLOCK_H - 1}, columns {last} to {last + BLOCK_W - 1}",
            "crossed: outside, its mask is false",
        ]
    for number, line in enumerate(told):
        label(axes, x, 1.4 + 0.6 * number, line, 9, align="left")
    lost = rows * cols - height * width
    alt = (
        f"{title}. The grid has {tiles[0]} times {tiles[1]} programs; program (0, 0) has the top "
        f"left tile, program (0, 1) the tile to its right. {lost} lanes lie outside the matrix."
    )
    return Drawing(figure, alt)


def pointer_tile(
    rows: tuple[int, ...] = (2, 3),
    cols: tuple[int, ...] = (3, 4, 5, 6),
    stride_row: int = 7,
    stride_col: int = 1,
) -> Drawing:
    """A column of row offsets and a row of column offsets, added to a tile of offsets."""
    figure, axes = panel(8.6, 1.0 + 0.45 * len(rows), 17.2, 2.0 + 0.9 * len(rows))
    label(axes, 1.3, 0.5, f"rows[:, None] * {stride_row}", 9.5)
    label(axes, 5.2, 0.5, f"cols[None, :] * {stride_col}", 9.5)
    label(axes, 11.8, 0.5, "the tile of offsets", 9.5, bold=True)
    for index, row in enumerate(rows):
        y = 1.0 + 0.9 * index
        cell(axes, 0.6, y, f"{row * stride_row}", "second", 1.4, 0.9)
        for place, col in enumerate(cols):
            total = row * stride_row + col * stride_col
            cell(axes, 9.0 + 1.4 * place, y, f"{total}", "active", 1.4, 0.9)
    for place, col in enumerate(cols):
        cell(axes, 2.6 + 1.3 * place, 1.0, f"{col * stride_col}", "third", 1.3, 0.9)
    label(axes, 2.3, 1.4, "+", 14)
    label(axes, 8.4, 1.4, "=", 14)
    sums = " / ".join(" ".join(str(r * stride_row + c * stride_col) for c in cols) for r in rows)
    alt = (
        f"A column with the row offsets {', '.join(str(r * stride_row) for r in rows)} plus a row "
        f"with the column offsets {', '.join(str(c * stride_col) for c in cols)} gives a tile of "
        f"offsets, row by row: {sums}."
    )
    return Drawing(figure, alt)


def lake(height: int = 90, width: int = 150) -> torch.Tensor:
    """A small generated image: a sun over a lake. Shape (3, height, width), uint8."""
    rows = torch.linspace(0, 1, height)[:, None].expand(height, width)
    cols = torch.linspace(-0.5, 0.5, width)[None, :].expand(height, width) * width / height
    sky = torch.stack((120 + 120 * rows, 150 + 20 * rows, 220 - 90 * rows))
    waves = 20 * torch.sin(60 * rows**2 + 3 * torch.sin(9 * cols))
    water = torch.stack((40 + waves, 90 + waves, 130 + waves))
    picture = torch.where(rows > 0.6, water, sky)
    sun = (rows - 0.42) ** 2 + cols**2 < 0.02
    mirrored = (rows > 0.62) & (cols.abs() < 0.12) & (waves > 4)
    picture = torch.where(sun, torch.tensor([255.0, 220.0, 90.0])[:, None, None], picture)
    picture = torch.where(mirrored, torch.tensor([240.0, 190.0, 100.0])[:, None, None], picture)
    return picture.clamp(0, 255).to(torch.uint8)


def show(*images: Any, titles: tuple[str, ...] = ()) -> Drawing:
    """Images side by side: tensors of shape (3, h, w) in colour or (h, w) in grey, uint8."""
    figure = Figure(figsize=(8.6, 2.6), facecolor=PANEL)
    words = []
    for index, image in enumerate(images):
        axes = figure.add_subplot(1, len(images), index + 1)
        image = image.cpu()
        pixels = image.permute(1, 2, 0) if image.ndim == 3 else image
        axes.imshow(pixels.numpy(), cmap="gray", vmin=0, vmax=255)
        axes.axis("off")
        title = titles[index] if index < len(titles) else f"picture {index + 1}"
        axes.set_title(title, fontsize=10, color=INK)
        kind = "colour" if image.ndim == 3 else "grey"
        size = f"{image.shape[-2]} rows and {image.shape[-1]} columns"
        words.append(
            f"{title}: {size} in {kind}, mean brightness {image.float().mean():.0f} of 255"
        )
    return Drawing(figure, "; ".join(words) + ".", photograph=True)
