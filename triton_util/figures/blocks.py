"""Figures of the machine, of moving data, and of a vector split into blocks."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from triton_util.figures.drawing import Drawing, Look, arrow, cell, frame, label, panel, spoken
from triton_util.hardware import GPUS

H200 = GPUS["H200"]


def machine() -> Drawing:
    """The GPU from the outside in: processors, blocks, warps, threads, and the memory."""
    figure, axes = panel(8.6, 4.3, 17.2, 8.6)
    frame(axes, 0.3, 0.3, 16.6, 6.0, "GPU: many streaming multiprocessors (SMs); an H200 has 132")
    for index in range(2):
        _draw_multiprocessor(axes, 0.7 + index * 7.3, index)
    label(axes, 15.9, 3.6, "… 130\nmore", size=11)
    cell(axes, 0.3, 7.1, "global memory (HBM): large, shared by all, far away", "second", 16.6, 1.1)
    for x in (4.0, 11.3):
        arrow(axes, (x, 6.15), (x, 7.05))
        arrow(axes, (x + 0.5, 7.05), (x + 0.5, 6.15))
    alt = (
        "Nested boxes. The outer box is the GPU. Inside it stand streaming multiprocessors, two "
        "of 132 are drawn. Inside each multiprocessor lie two blocks and a fast on-chip memory. "
        "Each block holds warps, and each warp is a row of 32 threads. Below the GPU lies one "
        "wide box, the global memory; arrows go from it to every multiprocessor and back."
    )
    return Drawing(figure, alt)


def _draw_multiprocessor(axes: Axes, x: float, index: int) -> None:
    """One SM with two blocks of two warps and its own fast memory."""
    frame(axes, x, 1.0, 6.9, 5.1, f"SM {index}")
    for number in range(2):
        left = x + 0.3 + number * 3.25
        frame(axes, left, 1.7, 3.05, 2.9, f"block {2 * index + number}", size=9)
        for warp in range(2):
            top = 2.45 + warp * 1.05
            label(axes, left + 0.15, top, f"warp {warp}: 32 threads", size=7.5, align="left")
            for thread in range(32):
                cell(axes, left + 0.15 + thread * 0.086, top + 0.25, "", "active", 0.086, 0.4)
    cell(axes, x + 0.3, 4.85, "shared memory and L1: small, near, fast", "third", 6.3, 0.95, 9)


def moving_costs() -> Drawing:
    """How many gigabytes per second pass through each of four channels (logarithmic)."""
    channels = (
        ("network between machines\n(400 Gbit/s)", 50),
        ("CPU memory to GPU memory\n(PCIe 5, 16 lanes, one way)", 64),
        ("global memory to the SMs\n(HBM of an H200)", round(H200.gbytes_per_second)),
        (f"shared memory to the cores\n({H200.processors} SMs of an H200 together)", 33_000),
    )
    figure, axes = panel(8.6, 2.9, 17.2, 5.8)
    label(
        axes,
        0.3,
        0.5,
        "Gigabytes per second by data sheet; each grid line is 10 times the one before",
        size=9.5,
        align="left",
    )
    left, decade = 6.1, 2.35
    for power in range(1, 5):
        x = left + (power - 1) * decade
        axes.plot([x, x], [1.0, 5.2], color="#b9b5aa", lw=0.8, zorder=0)
        label(axes, x, 5.45, f"{10**power:,}", size=8.5, quiet=True)
    for row, (name, speed) in enumerate(channels):
        y = 1.05 + row * 1.05
        label(axes, left - 0.2, y + 0.4, name, size=9, align="right")
        width = (np.log10(speed) - 1) * decade
        cell(axes, left, y, "", ("idle", "second", "active", "third")[row], float(width), 0.75)
        label(axes, left + float(width) + 0.15, y + 0.38, f"{speed:,}", 10, True, "left")
    alt = (
        "Bar chart of data-sheet bandwidths on a logarithmic scale, in gigabytes per second. "
        "Network between machines 50. CPU memory to GPU memory over PCIe 5: 64. Global memory "
        f"to the multiprocessors of an H200: {H200.gbytes_per_second:,.0f}. Shared memory to the "
        "cores, all multiprocessors together: about 33,000."
    )
    return Drawing(figure, alt)


def fusion_trips() -> Drawing:
    """relu(x @ W) as two kernels and as one: which arrays pass through global memory."""
    figure, axes = panel(8.6, 2.9, 17.2, 5.8)
    label(axes, 0.4, 0.5, "Two kernels", bold=True, align="left")
    label(axes, 10.6, 0.5, "One fused kernel", bold=True, align="left")
    cell(axes, 0.4, 4.3, "global memory", "second", 9.2, 0.9)
    cell(axes, 10.6, 4.3, "global memory", "second", 6.2, 0.9)
    _draw_trip(axes, 0.8, "matmul", ("x, W",), ("a",), 3.6)
    _draw_trip(axes, 5.6, "ReLU", ("a",), ("y",), 3.6)
    _draw_trip(axes, 11.2, "matmul, then ReLU\nbefore the store", ("x, W",), ("y",), 5.0)
    alt = (
        "Left, two kernels: the matmul loads x and W from global memory and stores a; the ReLU "
        "loads a again and stores y. Right, one fused kernel: it loads x and W and stores y. "
        "The intermediate result a never travels."
    )
    return Drawing(figure, alt)


def _draw_trip(
    axes: Axes, x: float, name: str, loads: tuple[str, ...], stores: tuple[str, ...], width: float
) -> None:
    """One kernel with an arrow for what it loads and one for what it stores."""
    cell(axes, x, 1.2, name, "active", width, 1.3)
    arrow(axes, (x + width * 0.25, 4.25), (x + width * 0.25, 2.6))
    arrow(axes, (x + width * 0.75, 2.6), (x + width * 0.75, 4.25))
    label(axes, x + width * 0.25, 3.4, "load " + spoken(loads), size=9, halo=True)
    label(axes, x + width * 0.75, 3.4, "store " + spoken(stores), size=9, halo=True)


def scalars_or_blocks() -> Drawing:
    """The sum of 8 elements: CUDA threads with one number each, Triton programs with a block."""
    figure, axes = panel(8.6, 3.0, 17.2, 6.0)
    label(axes, 0.4, 0.6, "CUDA C++: 8 threads, each holds one number", bold=True, align="left")
    label(axes, 0.4, 3.4, "Triton: 2 programs, each holds a block of 4", bold=True, align="left")
    for block in range(2):
        left = 0.4 + block * 8.4
        label(axes, left + 0.05, 1.3, f"block {block}", size=9, align="left", quiet=True)
        label(axes, left + 0.05, 4.1, f"program {block}", size=9, align="left", quiet=True)
        for lane in range(4):
            text = f"thread {lane}\nz[{4 * block + lane}]"
            cell(axes, left + lane * 2.0, 1.6, text, "active", 1.75, 1.1, 9)
        cell(axes, left, 4.4, f"z[{4 * block}:{4 * block + 4}]", "active", 7.75, 1.1, 11)
        for lane in range(1, 4):
            x = left + lane * 7.75 / 4
            axes.plot([x, x], [4.4, 5.5], color="#5a5a5f", lw=0.7, ls=":")
    alt = (
        "Two rows. Above, CUDA: two blocks of four threads; each of the eight threads computes "
        "one element, z 0 to z 7. Below, Triton: two programs; program 0 computes z 0 to 3 in "
        "one piece, program 1 computes z 4 to 7 in one piece."
    )
    return Drawing(figure, alt)


def blocks_1d(n_elements: int, BLOCK_SIZE: int) -> Drawing:
    """A vector of `n_elements` split into blocks: offsets and mask of every program.

    Up to 8 programs of up to 16 lanes are readable; more raises ValueError.
    """
    n_programs = max(1, -(-n_elements // BLOCK_SIZE))
    if n_programs > 8 or BLOCK_SIZE > 16:
        raise ValueError("this picture shows at most 8 programs of at most 16 lanes")
    figure, axes = panel(8.6, 0.85 + 0.48 * n_programs, 17.2, 1.7 + 0.96 * n_programs)
    label(
        axes,
        0.3,
        0.5,
        f"n_elements = {n_elements}, BLOCK_SIZE = {BLOCK_SIZE}: {n_programs} programs",
        bold=True,
        align="left",
    )
    width = min(1.4, 13.3 / BLOCK_SIZE)
    sentences = []
    for pid in range(n_programs):
        y = 1.0 + 0.96 * pid
        label(axes, 3.3, y + 0.4, f"program {pid}", align="right")
        for lane in range(BLOCK_SIZE):
            offset = pid * BLOCK_SIZE + lane
            inside = offset < n_elements
            look: Look = "active" if inside else "idle"
            cell(axes, 3.5 + lane * width, y, str(offset), look, width, 0.8, 10 if inside else 9)
        sentences.append(_describe_program(pid, n_elements, BLOCK_SIZE))
    label(
        axes,
        3.5,
        1.3 + 0.96 * n_programs,
        "plain: mask true      hatched: mask false",
        size=8.5,
        align="left",
        quiet=True,
    )
    alt = f"{n_elements} elements in blocks of {BLOCK_SIZE}. " + " ".join(sentences)
    return Drawing(figure, alt)


def _describe_program(pid: int, n_elements: int, BLOCK_SIZE: int) -> str:
    """The offsets of one program, and how many of its lanes are masked off."""
    offsets = range(pid * BLOCK_SIZE, (pid + 1) * BLOCK_SIZE)
    kept = [offset for offset in offsets if offset < n_elements]
    off = BLOCK_SIZE - len(kept)
    tail = f"; the mask switches off {off} of its {BLOCK_SIZE} lanes" if off else ""
    return f"Program {pid} has the offsets {spoken(kept) or 'none'}{tail}."
