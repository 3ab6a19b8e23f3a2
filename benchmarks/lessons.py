"""The figures that lessons quote and benchmarks/solutions.py does not time: one command, one GPU.

    python benchmarks/lessons.py --output benchmarks/results/lessons_h200.json

Timed as there: new inputs and a cold cache for each call, the median of shuffled rounds. What a
lesson shows is what is timed: its kernels are taken from its own cells. A lesson quotes a figure
by a mark, `{h200: name of the result | timing | unit}`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch
import triton

if __name__ == "__main__":
    # In place of this folder, whose solutions.py would hide the package of that name.
    sys.path[0] = str(Path(__file__).parents[1])

from benchmarks.solutions import kept, surroundings
from solutions.matmul import matmul
from solutions.memory_vs_compute import relu2d
from solutions.swizzling import grouped_matmul_kernel
from solutions.tiles_2d import rgb2grey
from triton_util.bench import CudaClock, TimingPlan, compare

ROOT = Path(__file__).parents[1]
HALF = torch.float16
TILES = {"64×64×32": (64, 64, 32, 4, 3), "128×256×64": (128, 256, 64, 8, 3)}
STEPS = (1, 4, 16, 64, 256)


class Quoted(NamedTuple):
    """One result: its name, bytes and operations of the problem, contenders, inputs by seed."""

    name: str
    n_bytes: float
    flops: float
    contenders: Mapping[str, Callable[..., Any]]
    make_inputs: Callable[[int], tuple[Any, ...]]


def cells_of(lesson: str, *needed: str) -> ModuleType:
    """A module with those code cells of a lesson that define what is needed."""
    text = (ROOT / "lessons" / f"{lesson}.py").read_text(encoding="utf-8")
    cells = re.split(r"^# %%.*$", text, flags=re.MULTILINE)
    shown = [
        cell.split("\n\n\n")[:-1] for cell in cells if any(f"def {n}(" in cell for n in needed)
    ]
    source = "\n\n\n".join(part for cell in shown for part in cell if "def " in part)
    path = Path(tempfile.mkdtemp()) / f"cells_{lesson}.py"
    path.write_text(f"import torch\nimport triton\nimport triton.language as tl\n\n{source}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def in_order(group: int, tile: tuple[int, ...]) -> Callable[..., torch.Tensor]:
    """The model solution's kernel with that group and tile."""
    block_m, block_n, block_k, num_warps, num_stages = tile

    def launch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        (m, k), n = a.shape, b.shape[1]
        c = torch.empty((m, n), dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
        grouped_matmul_kernel[grid](
            *(a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride()),
            *(block_m, block_n, block_k, group),
            num_warps=num_warps,
            num_stages=num_stages,
        )
        return c

    return launch


def random(*shape: int, dtype: torch.dtype = torch.float32) -> Callable[[int], tuple[Any, ...]]:
    """A maker of one random tensor."""

    def make(seed: int) -> tuple[Any, ...]:
        generator = torch.Generator("cuda").manual_seed(seed)
        return (torch.randn(shape, dtype=dtype, device="cuda", generator=generator),)

    return make


def squares(size: int) -> Callable[[int], tuple[Any, ...]]:
    """A maker of two square matrices."""
    make = random(2, size, size, dtype=HALF)
    return lambda seed: tuple(make(seed)[0])


def picture(seed: int) -> tuple[Any, ...]:
    """A large picture of bytes."""
    generator = torch.Generator("cuda").manual_seed(seed)
    shape = (3, 4096, 4096)
    whole = torch.randint(0, 256, shape, device="cuda", dtype=torch.uint8, generator=generator)
    return (whole,)


def torch_grey(img: torch.Tensor) -> torch.Tensor:
    """The picture in grey, by one line of PyTorch."""
    r, g, b = img
    return (0.2989 * r + 0.5870 * g + 0.1140 * b).to(img.dtype)


def quoted() -> Iterator[Quoted]:
    """Everything that is timed here."""
    steps = cells_of("03_memory_vs_compute", "apply_steps").apply_steps
    runs = {str(n): (lambda x, n=n: steps(x, n)) for n in STEPS}
    yield Quoted("steps 2^26 fp32", 8 * 2**26, 0, runs, random(2**26))
    yield Quoted("relu2d fp32, 8192²", 8 * 2**26, 2**26, {"plain": relu2d}, random(8192, 8192))
    tiles = cells_of("05_tiles_2d", "tile_transpose").tile_transpose
    matrix = random(16384, 16384)
    yield Quoted("tile_transpose fp32, 16384²", 8 * 16384**2, 0, {"tiles": tiles}, matrix)
    grey = {"plain": rgb2grey, "torch line": torch_grey}
    yield Quoted("rgb2grey 3×4096×4096", 4 * 2**24, 5 * 2**24, grey, picture)
    yield Quoted("matmul 4096", 6 * 2**24, 2 * 2**36, {"plain": matmul}, squares(4096))
    for name, tile in TILES.items():
        for size in (2048, 4096, 8192):
            both = {f"GROUP {group}": in_order(group, tile) for group in (1, 8)}
            flops = 2 * size**3
            yield Quoted(f"order {name} at {size}", 6 * size**2, flops, both, squares(size))


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="where the figures go, as JSON")
    parser.add_argument("--seconds", type=float, default=5.0, help="patience for each result")
    options = parser.parse_args()
    clock = CudaClock()
    plan = TimingPlan(min_rounds=15, max_rounds=200, max_seconds=options.seconds, precision=0.002)
    results = []
    for it in quoted():
        timings = compare(it.contenders, it.make_inputs, plan=plan, clock=clock)
        told = {timing.label: kept(timing) for timing in timings}
        results.append({"name": it.name, "bytes": it.n_bytes, "flops": it.flops, "timings": told})
        print(*(f"{it.name}: {timing}" for timing in timings), sep="\n", flush=True)
        torch.cuda.empty_cache()
    if options.output:
        report = {**surroundings(), "results": results}
        options.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
