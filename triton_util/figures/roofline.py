"""The roofline: how fast a kernel can be, given how much it computes per byte."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from triton_util.figures.drawing import INK, PANEL, Drawing
from triton_util.hardware import OF_THE_COURSE

LOW, HIGH = 0.004, 20_000.0  # operations per byte; leaves room left of a copy for its label
STYLES = {"T4": ":", "A100": "-.", "H100": "--", "H200": "-"}
MARKS = "osD^vP"


def roofline(points: Mapping[str, float] | None = None, tensor_cores: bool = True) -> Drawing:
    """Attainable TFLOP/s over arithmetic intensity for four GPUs, with kernels marked on it.

    points: operations per byte by name, drawn under the H200's roof. tensor_cores: fp16 on
    tensor cores, else plain fp32. Peaks are data-sheet figures, without sparsity.
    """
    points = dict(points or {})
    figure = Figure(figsize=(8.6, 4.2), facecolor=PANEL)
    axes = figure.add_axes((0.09, 0.14, 0.87, 0.75), facecolor=PANEL)
    reach = np.geomspace(LOW, HIGH, 200)
    sentences = []
    for name, gpu in OF_THE_COURSE.items():
        peak = gpu.fp16_tflops if tensor_cores else gpu.fp32_tflops
        ridge = gpu.ridge(tensor_cores)
        roof = np.minimum(reach * gpu.gbytes_per_second / 1000, peak)
        text = f"{name}: ridge at {ridge:.0f}"
        axes.plot(reach, roof, STYLES[name], color=INK, lw=1.6, label=text)
        sentences.append(f"{name} rises to {peak:g} TFLOP/s at {ridge:.0f} operations per byte")
    for mark, (name, intensity) in zip(MARKS, points.items(), strict=False):
        height = OF_THE_COURSE["H200"].attainable_tflops(intensity, tensor_cores)
        axes.plot([intensity], [height], mark, color="#c2571a", markeredgecolor=INK, ms=9)
        axes.annotate(
            name,
            (intensity, height),
            xytext=(-8, 7),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            color=INK,
        )
        sentences.append(f"{name} has {intensity:g} operations per byte: {height:.3g} TFLOP/s")
    axes.set(xscale="log", yscale="log", xlim=(LOW, HIGH), ylim=(0.01, 8_000))
    axes.set_xlabel("operations per byte", color=INK)
    kind = "fp16, tensor cores" if tensor_cores else "fp32"
    axes.set_title(f"the most that is possible, TFLOP/s ({kind})", fontsize=11, color=INK)
    axes.grid(True, which="major", color="#cfcbc0", lw=0.6)
    axes.legend(loc="lower right", fontsize=9, facecolor=PANEL, edgecolor=INK)
    alt = (
        "Roofline, both axes logarithmic; each line rises with memory bandwidth and is then flat. "
    )
    return Drawing(figure, alt + "; ".join(sentences) + ".")
