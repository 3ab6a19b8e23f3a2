"""Figures of two-dimensional views in one-dimensional memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, cell, label, panel

MAX_STORAGE = 32


def memory(view: Any) -> Drawing:
    """A small 2D tensor twice: as the matrix that it shows, and as its memory.

    view: a 2D torch.Tensor whose storage has at most 32 elements. Raises ValueError otherwise.
    """
    shape, strides, start = tuple(view.shape), view.stride(), view.storage_offset()
    length = view.untyped_storage().nbytes() // view.element_size()
    if len(shape) != 2 or length > MAX_STORAGE or max(shape) > 12:
        raise ValueError("this picture shows a 2D tensor in a storage of at most 32 elements")

    def address(row: int, col: int) -> int:
        return int(start + row * strides[0] + col * strides[1])

    figure, axes = panel(8.6, 1.75 + 0.36 * shape[0], 17.2, 3.5 + 0.72 * shape[0])
    title = f"shape {shape}, strides {strides}, starts at element {start}"
    label(axes, 0.3, 0.45, title, bold=True, align="left")
    for row in range(shape[0]):
        label(axes, 1.8, 1.3 + 0.72 * row, f"row {row}", 9, align="right", quiet=True)
        for col in range(shape[1]):
            cell(
                axes,
                2.0 + 1.1 * col,
                0.95 + 0.72 * row,
                str(address(row, col)),
                "active",
                1.1,
                0.72,
            )
    label(
        axes,
        2.2 + 1.1 * shape[1],
        1.3,
        "each cell: the address in elements",
        8.5,
        align="left",
        quiet=True,
    )
    strip(axes, 1.5 + 0.72 * shape[0], length, shape, address)
    alt = f"A view with {title}. Addresses row by row: " + " / ".join(
        " ".join(str(address(row, col)) for col in range(shape[1])) for row in range(shape[0])
    )
    return Drawing(figure, f"{alt}. The memory holds {length} elements in one line.")


def strip(
    axes: Axes,
    y: float,
    length: int,
    shape: tuple[int, ...],
    address: Callable[[int, int], int],
    look: Look = "active",
    note: str = "row,column of the view above each address (+3: so many more); hatched: not in it",
) -> None:
    """One line of memory: the element (row, column) at each address; unused cells are hatched."""
    owners: dict[int, list[str]] = {}
    for row in range(shape[0]):
        for col in range(shape[1]):
            owners.setdefault(address(row, col), []).append(f"{row},{col}")
    width = 16.4 / length
    for place in range(length):
        here = owners.get(place, [])
        text = "\n".join([*here[:1], *([f"+{len(here) - 1}"] if len(here) > 1 else [])])
        x = 0.4 + place * width
        cell(axes, x, y, text, look if here else "idle", width, 0.85, 7.5 if length > 24 else 8.5)
        label(axes, x + width / 2, y + 1.15, str(place), 7.5, quiet=True)
    label(axes, 0.4, y + 1.7, f"memory: {note}", 8.5, align="left", quiet=True)


def stride_trap(n_rows: int = 3, n_cols: int = 4, width: int = 8) -> Drawing:
    """A sliced view read with the correct stride, and with the width used as the stride."""
    length = n_rows * width
    if length > MAX_STORAGE:
        raise ValueError("this picture shows at most 32 elements of memory")
    figure, axes = panel(8.6, 3.2, 17.2, 6.4)
    label(axes, 0.3, 0.45, f"right: address = row * {width} + col", bold=True, align="left")
    strip(axes, 0.8, length, (n_rows, n_cols), lambda row, col: row * width + col)
    label(axes, 0.3, 3.45, f"the trap: address = row * {n_cols} + col", bold=True, align="left")
    strip(
        axes,
        3.8,
        length,
        (n_rows, n_cols),
        lambda row, col: row * n_cols + col,
        "wrong",
        "crossed cells: what the trap reads for row,column",
    )
    alt = (
        f"Two lines of memory with {length} elements, that is {n_rows} rows of {width}. Above, "
        f"the view's {n_cols} columns are read with the stride {width}: row 1 starts at address "
        f"{width}. Below, {n_cols} is taken for the stride: row 1 starts at address {n_cols}, in "
        "the part of row 0 that was sliced away, and reads ghost data."
    )
    return Drawing(figure, alt)


def sectors(strides: tuple[int, ...] = (1, 2, 8)) -> Drawing:
    """The cost of 32 neighbouring lanes: memory comes in sectors of 32 bytes, 8 fp32 each.

    strides: distance between two lanes, in elements of 4 bytes.
    """
    shown = 8
    figure, axes = panel(8.6, 0.7 + 0.75 * len(strides), 17.2, 1.4 + 1.5 * len(strides))
    label(
        axes,
        0.3,
        0.45,
        "32 lanes read fp32 numbers; memory is fetched in sectors of 32 bytes",
        bold=True,
        align="left",
    )
    sentences = []
    for index, stride in enumerate(strides):
        y = 1.0 + 1.5 * index
        fetched = {lane * stride // 8 for lane in range(32)}
        label(axes, 0.3, y + 0.4, f"stride {stride}", align="left")
        for number in range(min(shown, max(fetched) + 1)):
            for place in range(8):
                lane, rest = divmod(number * 8 + place, stride)
                wanted = rest == 0 and lane < 32
                x = 2.2 + number * 1.42 + place * 0.165
                cell(axes, x, y, "", "active" if wanted else "idle", 0.165, 0.8)
        percent = f"{100 * 32 / (len(fetched) * 8):g}"
        drawn = f" ({shown} drawn)" if len(fetched) > shown else ""
        more = f"{len(fetched)} sectors{drawn},\n{percent} % used"
        label(axes, 13.8, y + 0.4, more, align="left")
        sentences.append(f"stride {stride}: {len(fetched)} sectors, {percent} percent used")
    alt = (
        "Rows of memory cells in sectors of eight; cells that a lane wants are plain, fetched in "
        "vain are hatched; only the first eight sectors are drawn. " + "; ".join(sentences) + "."
    )
    return Drawing(figure, alt)
