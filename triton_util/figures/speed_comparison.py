"""Figure of measured kernels: each against the limit, and on the roofline of the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from triton_util.figures.drawing import Drawing
from triton_util.theme import LIGHT, SERIES, plot_style

if TYPE_CHECKING:
    from triton_util.bench.speed_comparison import Runner, SpeedComparison

HATCHES = ("", "////", "....", "----", "xxxx")
MARKERS = "os^Dv"


def speed_comparison(found: SpeedComparison) -> Drawing:
    """Bars of the percentage of the limit that each contender reaches; beside them the roofline.

    Contenders whose time cannot be trusted are omitted. A kernel without arithmetic has no
    position on a roofline, so it gets only the bars.
    """
    runners = [runner for runner in found.runners if runner.believed]
    wide = found.operations > 0
    with mpl.rc_context(plot_style()):
        figure = Figure(figsize=(9.6, 3.7) if wide else (5.6, 3.7), facecolor=LIGHT["paper"])
        left = figure.add_axes((0.135, 0.16, 0.33, 0.7) if wide else (0.24, 0.16, 0.7, 0.7))
        _bars(left, found, runners)
        if wide:
            _roof(figure.add_axes((0.56, 0.16, 0.42, 0.7)), found, runners)
    return Drawing(figure, _alt_text(found, runners))


def _bars(axes: Axes, found: SpeedComparison, runners: list[Runner]) -> None:
    for place, runner in enumerate(runners):
        assert runner.ms is not None
        look = found.runners.index(runner)  # the same look for a contender in every figure
        share = found.percent(runner.ms)
        colour = SERIES[look % len(SERIES)]
        axes.barh(
            place,
            share,
            color=LIGHT["paper"],
            edgecolor=colour,
            hatch=HATCHES[look % len(HATCHES)],
            linewidth=2,
        )
        axes.text(
            4,
            place,
            f"{share:.0f} %",
            va="center",
            fontweight="bold",
            color=LIGHT["ink"],
            bbox={"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.5},
        )
    axes.axvline(100, color=LIGHT["ink"], linestyle="-", marker="", linewidth=1.6)
    axes.set_yticks(range(len(runners)), [runner.label for runner in runners])
    axes.invert_yaxis()
    highest = max([100.0, *(found.percent(r.ms) for r in runners if r.ms is not None)])
    axes.set_xlim(0, 1.08 * highest)
    axes.set_xlabel("% of the limit")
    axes.set_title(f"{found.exercise} on {found.gpu.name.split(',')[0]}", fontsize=11)


def _roof(axes: Axes, found: SpeedComparison, runners: list[Runner]) -> None:
    gpu = found.gpu
    peak, ridge = gpu.peak_tflops(found.tensor_cores), gpu.ridge(found.tensor_cores)
    low, high = min(found.intensity, ridge) / 8, max(found.intensity, ridge) * 8
    reach = np.array([low, ridge, high])
    roof = np.minimum(reach * gpu.gbytes_per_second / 1e3, peak)
    axes.plot(reach, roof, linestyle="-", marker="", color=LIGHT["ink"], lw=2, label="the limit")
    axes.axvline(found.intensity, linestyle=":", marker="", color=LIGHT["muted"], lw=1)
    for runner in runners:
        assert runner.ms is not None
        look = found.runners.index(runner)
        axes.plot(
            [found.intensity],
            [found.operations / runner.ms / 1e9],
            linestyle="",
            marker=MARKERS[look % len(MARKERS)],
            markersize=8,
            markerfacecolor="none" if look else SERIES[0],
            markeredgecolor=SERIES[look % len(SERIES)],
            markeredgewidth=1.8,
            label=runner.label,
        )
    axes.set(xscale="log", yscale="log", ylim=(None, 12 * peak))
    axes.set_xlabel("operations per byte")
    axes.set_title("TFLOP/s, both axes logarithmic", fontsize=11)
    axes.grid(True, which="major", lw=0.6)
    axes.legend(loc="upper left", fontsize=9)


def _alt_text(found: SpeedComparison, runners: list[Runner]) -> str:
    kind = "measured" if found.measured else "data sheet"
    shares = [
        f"{runner.label} takes {runner.ms:.3f} ms, {found.percent(runner.ms):.0f} % of the limit"
        for runner in runners
        if runner.ms is not None
    ]
    return (
        f"{found.exercise}, {found.workload}, on {found.gpu.name} ({kind} rates): at best "
        f"{found.limit.ms:.3f} ms, limited by {_bound(found)}, with {found.intensity:.3g} "
        f"operations per byte. {'; '.join(shares) or 'Nothing was timed'}."
    )


def _bound(found: SpeedComparison) -> str:
    return "memory" if found.limit.bound == "memory" else "arithmetic"
