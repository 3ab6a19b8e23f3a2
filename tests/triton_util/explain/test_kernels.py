"""`explain` on real kernels: compiled for GPUs that are not there, beside ptxas itself."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch

os.environ.setdefault("TRITON_INTERPRET", "1")

import triton

from tests.solutions.solution_cases import SolvedCase, all_cases
from tests.triton_util.explain.explained_kernels import broken, double, double_kernel, idle, square
from triton_util.explain import ExplainError, Explanation, compare, explain
from triton_util.explain.explanation import Made

TOOLS = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
HALVES = torch.empty(256, 256, dtype=torch.float16)


@pytest.fixture(scope="module")
def doubled() -> Explanation:
    return explain(double, torch.empty(4096))


@pytest.fixture(scope="module")
def squared() -> Explanation:
    return explain(square, HALVES)


@pytest.fixture(scope="module")
def crowded() -> Explanation:
    return explain(square, HALVES, block=128, warps=1, stages=2, targets=(80,))


def line_of(explanation: Explanation, text: str) -> int:
    (number,) = (n for n, line in enumerate(explanation.source, 1) if text in line)
    return number


def assembled(made: Made, folder: Path) -> tuple[Path, str]:
    """The binary and ptxas's own report, from a run of ours with Triton's options."""
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(made.ptx)
    arch = f"sm_{made.target.arch}" + ("a" if made.target.arch >= 90 else "")
    ptxas = TOOLS / "ptxas"
    options = ["-v", "-lineinfo", f"--gpu-name={arch}"]
    if triton.__version__ >= "3.9":
        ptxas = TOOLS / ("ptxas-blackwell" if made.target.arch >= 90 else "ptxas")
        options.append("--regAllocOptLevel=2")
    command = [ptxas, *options, source, "-o", cubin]
    return cubin, subprocess.run(command, capture_output=True, text=True, check=True).stderr


def resource_usage(made: Made, folder: Path) -> dict[str, int]:
    """What the assembler writes into the binary, read by another tool than ours."""
    cubin, _ = assembled(made, folder)
    shown = subprocess.run(
        [TOOLS / "cuobjdump", "-res-usage", cubin], capture_output=True, text=True, check=True
    )
    return {
        name: int(value) for name, value in re.findall(r"(REG|STACK|SHARED):(\d+)", shown.stdout)
    }


@pytest.mark.slow
@pytest.mark.parametrize("exercise", sorted({case.exercise for case in all_cases()}))
def test_every_solution_is_explained_with_the_figures_of_ptxas(
    exercise: str, tmp_path: Path
) -> None:
    case = next(case for case in all_cases() if case.exercise == exercise and is_typical(case))
    launcher = getattr(importlib.import_module(f"solutions.{case.lesson}"), exercise)
    explained = explain(launcher, *case.args(torch.Generator().manual_seed(0)), targets=(90,))
    assert explained.made
    for made in explained.made:
        _, report = assembled(made, tmp_path)
        (registers,) = re.findall(r"Used (\d+) registers", report)
        stores, loads = re.findall(r"(\d+) bytes spill", report)
        figures = (made.registers, made.spill_store_bytes, made.spill_load_bytes)
        assert figures == (int(registers), int(stores), int(loads)), made.label


def is_typical(case: SolvedCase) -> bool:
    """Whether the case has something to compute."""
    x = case.args(torch.Generator().manual_seed(0))[0]
    return bool(x.numel() > 1) if isinstance(x, torch.Tensor) else x > 1


@pytest.mark.parametrize("which", ["doubled", "squared", "crowded"])
def test_registers_are_those_of_the_assembler(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    for made in request.getfixturevalue(which).made:
        usage = resource_usage(made, tmp_path)
        assert made.registers == usage["REG"]
        assert bool(made.spill_store_bytes) == bool(usage["STACK"])


def test_spills_are_those_of_ptxas(crowded: Explanation, tmp_path: Path) -> None:
    (made,) = crowded.made
    stores, loads = map(int, re.findall(r"(\d+) bytes spill", assembled(made, tmp_path)[1]))
    assert stores > 0
    assert (made.spill_store_bytes, made.spill_load_bytes) == (stores, loads)
    assert made.registers == 255
    assert "It spills" in str(crowded)


def test_loads_are_as_wide_as_the_compiler_may(doubled: Explanation) -> None:
    line = line_of(doubled, "x = tl.load(x_ptr + offsets")
    for made in doubled.made:
        assert made.lines is not None
        assert {access.bits for access in made.lines[line].accesses} == {128}
    ragged = explain(double, torch.empty(1001), targets=(90,))
    (made,) = ragged.made
    assert {access.bits for access in made.total.accesses} == {32}
    assert "n_elements is not known to be divisible by 16" in str(ragged)
    assert made.arguments["n_elements"] == "i32"


def test_tensor_cores_by_architecture(squared: Explanation) -> None:
    line = line_of(squared, "tl.dot")
    names = {}
    for made in squared.made:
        assert made.lines is not None
        names[made.target.arch] = {name.split()[0] for name in made.lines[line].tensor_cores}
    assert names == {80: {"mma"}, 90: {"wgmma"}}
    assert all(made.shared_bytes > 0 and made.fits for made in squared.made)


def test_shared_memory_beyond_the_limit_is_said() -> None:
    found = explain(square, HALVES, block=128, stages=8, warps=8, targets=(86, 90))
    small, large = found.made
    assert not small.fits
    assert large.fits
    assert "would not start there" in str(found)
    assert small.occupancy.programs == 0


def test_a_kernel_by_itself(doubled: Explanation) -> None:
    x = torch.empty(4096)
    found = explain(double_kernel, x, x, 4096, BLOCK_SIZE=256, num_warps=2, targets=(90,))
    (made,) = found.made
    assert made.kernel == "double_kernel"
    assert made.num_warps == 2
    assert made.constants == {"BLOCK_SIZE": "256"}
    assert "BLOCK_SIZE=256, 2 warps" in made.label
    ((before, after),) = compare(doubled, found).pairs()
    assert before.target.arch == after.target.arch == 90


def test_two_versions_side_by_side(doubled: Explanation) -> None:
    other = explain(double, torch.empty(4096), block_size=128)
    comparison = compare(doubled, other)
    assert len(comparison.pairs()) == 2
    changed = {row[0] for row in comparison.rows() if row[3] == "changed"}
    assert "instructions of PTX" in changed
    assert "BLOCK_SIZE=128" in str(comparison)
    assert "BLOCK_SIZE=1024" in comparison._repr_html_()


def test_the_source_is_shown_where_it_was_written(doubled: Explanation) -> None:
    text = str(doubled)
    assert "x = tl.load(x_ptr + offsets, mask=mask)" in text
    assert "2 loads of 128 bits per thread" in text
    place = doubled.places[line_of(doubled, "x = tl.load(x_ptr + offsets") - 1]
    assert place.startswith("explained_kernels.py, line ")


def test_the_card_stands_alone_in_light_and_dark(squared: Explanation) -> None:
    page = squared._repr_html_()
    assert "prefers-color-scheme" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "wgmma" in page
    assert "&lt;" in page or "<script" not in page
    assert 'scope="row"' in page
    assert page.count("<details") == page.count("</details>") == 4


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: explain(broken, torch.empty(4)), "nothing_here"),
        (lambda: explain(double, torch.empty(4), targets=(91,)), "no target 91"),
        (lambda: explain(3), "launcher or a kernel"),
        (lambda: explain(double, [1, 2]), "list"),
    ],
)
def test_what_cannot_be_explained(call, words: str) -> None:
    try:
        text = str(call())
    except ExplainError as error:
        text = str(error)
    assert words in text


def test_a_launcher_without_kernels() -> None:
    assert "launches no kernel" in str(explain(idle, torch.empty(4)))
