"""SpeedComparisons: percentages, words, pictures and pages, from figures that are known."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from graders.judge import discovery
from graders.judge.running.traffic import Moved
from graders.judge.speed import limits
from tests.support.speed_comparisons import h200, runner, softmax_comparison
from triton_util.bench import GPUS, phrases
from triton_util.bench.page import comparison_html, modelled_html, page
from triton_util.bench.speed_comparison import (
    MINE,
    MODEL,
    TORCH,
    Modelled,
    Runner,
    SpeedComparison,
    keep_gpu,
    kept_gpu,
)
from triton_util.figures.roofline import roofline
from triton_util.figures.speed_comparison import speed_comparison as drawing

MATMUL = Modelled("matmul", "4096³, fp16", 100e6, 137e9, True)
COPY = Modelled("copy", "2²⁶ elements, fp32", 537e6, 0, False)
WORKLOADS = {
    name: found
    for name in sorted(discovery.exercises())
    if (found := discovery.workload(name)) is not None
}


def test_percentages_and_rates_follow_from_the_times() -> None:
    found = softmax_comparison()
    assert found.limit.bound == "memory"
    assert found.percent(found.limit.ms) == pytest.approx(100)
    assert found.percent(2 * found.limit.ms) == pytest.approx(50)
    assert found.rate(2.0**28 / 1e9) == "1,000 GB/s"
    product = replace(found, operations=137e9, tensor_cores=True)
    assert product.limit.bound == "compute"
    assert product.rate(1.0) == "137.0 TFLOP/s"


def test_a_comparison_survives_its_json() -> None:
    found = softmax_comparison(
        runner(MINE, 0.13, "too fast"), Runner(TORCH, None, problems=("no",))
    )
    assert SpeedComparison.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_headline_compares_with_the_limit_the_model_and_torch() -> None:
    said = phrases.headline(softmax_comparison())
    assert said == "43 % of the limit, 0.50 of the model solution's speed, 1.50 of torch's speed"


def test_without_a_model_solution_torch_is_the_measure() -> None:
    said = phrases.headline(softmax_comparison(runner(MINE, 0.130), runner(TORCH, 0.195)))
    assert said == "43 % of the limit, 1.50 of torch's speed"


def test_what_is_not_believed_gives_no_figure() -> None:
    forged = softmax_comparison(runner(MINE, 0.001, "less than the hardware needs"))
    assert phrases.headline(forged) == "was timed, but the time is not believed"
    assert "%" not in phrases.rows(forged)[0][1]
    assert forged.runner(MINE) is None
    assert "yours: less than the hardware needs" in phrases.doubts(forged)
    assert "0.001" not in drawing(forged).alt
    broken = softmax_comparison(Runner(MINE, None, problems=("it raised",)), runner(MODEL, 0.065))
    assert phrases.headline(broken) == "could not be timed"


def test_the_picture_says_in_words_what_it_shows() -> None:
    alt = drawing(softmax_comparison()).alt
    assert "yours takes 0.130 ms, 43 % of the limit" in alt
    assert "data sheet rates" in alt
    measured = replace(softmax_comparison(), measured=True, operations=0.0)
    assert "measured rates" in drawing(measured).alt
    assert drawing(measured).png().startswith(b"\x89PNG")


def test_the_page_loads_nothing_and_shows_text_as_text() -> None:
    text = page("How fast?", [comparison_html(softmax_comparison()), modelled_html(MATMUL)])
    assert "default-src 'none'" in text
    assert "<script" not in text
    assert "&lt;128&gt;" in text
    for address in re.findall(r"""(?:src|href)=["']([^"']*)""", text):
        assert address.startswith(("data:", "#")), address
    assert "prefers-color-scheme: dark" in text
    assert 'role="img" aria-label="softmax' in text


def test_bytes_that_were_counted_are_said_to_be_of_a_smaller_case() -> None:
    """The card's headline names the size that is timed, and `b_ptr` was read less often there."""
    moved = Moved(5400, {"a_ptr": 1.0, "b_ptr": 18.0})
    told = limits.describe_traffic((moved, 3000))
    assert told.startswith("On a smaller case, in the interpreter, your kernel moves 1.80 times")
    assert told.endswith("There `b_ptr` is read 18 times over.")
    assert limits.describe_traffic(None) == ""


def test_without_a_gpu_only_limits_are_told() -> None:
    for found in (MATMUL, COPY):
        text = phrases.modelled_text(found)
        assert phrases.NO_GPU in text
        assert "GB/s" not in text
        assert "yours" not in text
        assert len(phrases.modelled_rows(found)) == len(GPUS) >= 7
        assert phrases.NO_GPU in modelled_html(found)
    limits = {row[0]: row[2] for row in phrases.modelled_rows(MATMUL)}
    assert set(limits.values()) == {"arithmetic"}
    assert {row[2] for row in phrases.modelled_rows(COPY)} == {"memory"}
    assert "nothing to compute" in phrases.work(COPY)


def test_the_card_says_that_its_picture_has_fewer_gpus_than_its_table() -> None:
    told = modelled_html(MATMUL)
    assert len(roofline().figure.axes[0].lines) == 4 < len(phrases.modelled_rows(MATMUL))
    assert "The picture shows four of these GPUs." in told
    assert "four of these" not in modelled_html(COPY)  # which has no picture


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_mark_of_an_exercise_does_not_cross_the_axis(name: str) -> None:
    found = limits.modelled(discovery.exercise(name), WORKLOADS[name])
    if not found.operations:
        return
    figure = roofline({name: found.intensity}, found.tensor_cores).figure
    canvas = FigureCanvasAgg(figure)
    (axes,) = figure.axes
    (mark,) = axes.texts
    words = mark.get_window_extent(canvas.get_renderer())
    assert axes.bbox.x0 < words.x0 < words.x1 < axes.bbox.x1


def test_what_was_measured_of_a_gpu_is_kept(tmp_path: Path) -> None:
    assert kept_gpu(tmp_path, "NVIDIA X") is None
    mine = replace(h200(), name="X, measured", gbytes_per_second=4200.0)
    keep_gpu(tmp_path / "new", "NVIDIA X", mine)
    keep_gpu(tmp_path / "new", "NVIDIA Y", h200())
    assert kept_gpu(tmp_path / "new", "NVIDIA X") == mine
    (tmp_path / "new" / "gpus.json").write_text('{"NVIDIA X": {"name')
    assert kept_gpu(tmp_path / "new", "NVIDIA X") is None
    (tmp_path / "new" / "gpus.json").write_text('{"NVIDIA X": {"name": "X"}}')
    assert kept_gpu(tmp_path / "new", "NVIDIA X") is None


@pytest.mark.parametrize("name", WORKLOADS)
def test_each_workload_fits_its_exercise_and_a_gpu_of_16_gb(name: str) -> None:
    work, exercise = WORKLOADS[name], discovery.exercise(name)
    assert len(work.args) == len(exercise.parameters)
    read, written = limits.least_bytes(work)
    assert 2**25 <= read + written <= 2**30
    compute = limits.modelled(exercise, work).limit_on(h200()).bound == "compute"
    assert compute == work.tensor_cores


def test_bars_stand_only_where_there_is_a_workload_and_a_solution() -> None:
    barred = []
    for name, exercise in discovery.exercises().items():
        secret = discovery.hidden(name)
        if secret is not None and secret.speed_bars:
            barred.append(name)
            assert name in WORKLOADS
            assert discovery.model_path(exercise) is not None
            for share, points in secret.speed_bars:
                assert 0 < share < 1
                assert points > 0
    assert {"relu2d", "transpose", "softmax", "grouped_matmul", "autotuned_matmul"} <= set(barred)


def test_the_compiler_tells_narrow_loads() -> None:
    narrow = """
import torch, triton, triton.language as tl

@triton.jit
def relu_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(out_ptr + offsets, tl.maximum(tl.load(x_ptr + offsets, mask=mask), 0.0), mask=mask)

def relu2d(x):
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), SIZE),)](x, out, x.numel(), BLOCK_SIZE=SIZE)
    return out
"""
    work = WORKLOADS["relu2d"]
    (told,) = limits.compiler_remarks(f"SIZE = 128\n{narrow}", "relu2d", work, 90)
    assert "32 bits at a time" in told
    assert limits.compiler_remarks(f"SIZE = 1024\n{narrow}", "relu2d", work, 90) == ()
    assert limits.compiler_remarks("def relu2d(x): return x.nothing", "relu2d", work, 90) == ()
