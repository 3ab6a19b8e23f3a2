"""What counts as solved in the lesson on benchmarking: two functions of plain Python."""

from __future__ import annotations

from typing import Any

import torch

from graders.course.benchmarking.mistakes.stopwatch import MISTAKES as OF_A_STOPWATCH
from graders.course.benchmarking.mistakes.throughput import MISTAKES as OF_A_FIGURE
from graders.course.benchmarking.reference import kernel_ms, throughput
from graders.judge.records import Case, Exercise, PlainFunction
from triton_util.bench.simulated import (
    MODELS,
    TOLERANCE,
    Event,
    Inputs,
    SimulatedGpu,
    models,
)

FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16


def figure(
    kind: str,
    shape: tuple[int, ...],
    milliseconds: float,
    dtype: torch.dtype = FP32,
    part: str = "core",
    why: str = "",
) -> Case:
    """The case of one problem and its time."""
    sizes = "×".join(map(str, shape))
    name = f"{kind} {sizes} {str(dtype).removeprefix('torch.')} {milliseconds:g} ms"
    return Case(name, (kind, shape, dtype, milliseconds), part, why)


def gpu_of(seed: int, name: str, turn: int, disturbed_from: int = 0) -> tuple[Any, ...]:
    """What `fair_ms` is given: a GPU of that name, whose kernel takes a time that is drawn."""
    drawn = seed + turn
    model = next(model for model in models(drawn) if model.name == name)
    gpu = SimulatedGpu(model, drawn, disturbed_from)
    return gpu.run, gpu.fresh_inputs, gpu


PARTS = {
    "asynchronous": "core",
    "compiling": "core",
    "remembering": "inputs",
    "sleepy": "clocks",
    "hot-headed": "clocks",
    "fond of zeros": "inputs",
    "disturbed": "noise",
    "coarse": "noise",
    "short": "noise",
}


def gpus(turn: int = 0) -> tuple[Case, ...]:
    """A case for each simulated GPU. The kernels of another turn take other times.

    One in twenty calls is slow on the disturbed GPU, and one fast. It comes ten times, so that in
    one of them each single call is slow or fast: which one is measured does not matter.
    """
    again = ", with another kernel" if turn else ""
    rest = MODELS
    found = [Case(f"the {m.name} GPU{again}", (m.name, turn), PARTS[m.name], m.trap) for m in rest]
    disturbed = next(model for model in rest if model.outlier_every)
    for first in range(2, disturbed.outlier_every, 2):
        name = f"the {disturbed.name} GPU, {first} calls later{again}"
        args = (disturbed.name, turn, first)
        found.append(Case(name, args, PARTS[disturbed.name], disturbed.trap))
    return tuple(found)


EXERCISES = (
    Exercise(
        name="fair_ms",
        lesson="benchmarking",
        title="A stopwatch that is correct on nine GPUs",
        parameters=("run", "fresh_inputs", "gpu"),
        reference=kernel_ms,
        cases=gpus(),
        hints=(
            "The host's clock measures the launch. Put two events into the queue, right before "
            "and right after the launch, and read them after you have waited.",
            "First warm up with some dozens of launches. Then, in each round: new inputs, *then* "
            "a flush of the cache, then event, launch, event. Wait once, after all rounds. While "
            "the GPU flushes, the host gets ahead, so a short kernel has no gap before it.",
            "Warm up: `for _ in range(50): run(*fresh_inputs())`, then `gpu.synchronize()`. In 51 "
            "rounds: `inputs = fresh_inputs(); gpu.flush_l2(); start = gpu.record(); "
            "run(*inputs); pairs.append((start, gpu.record()))`. Then `gpu.synchronize()`, and "
            "return `sorted(end.ms - start.ms for start, end in pairs)[25]`.",
        ),
        misconceptions=OF_A_STOPWATCH,
        parts={"core": 4, "inputs": 2, "clocks": 2, "noise": 2},
        function=PlainFunction(
            returns=("ms",),
            rel=TOLERANCE,
            arguments=gpu_of,
            remote={
                SimulatedGpu: ("synchronize", "clock", "record", "flush_l2"),
                Event: ("ms",),
                Inputs: (),
            },
        ),
        challenge="Flush the cache before you make the inputs: which GPU shows it, and why?",
    ),
    Exercise(
        name="throughput",
        lesson="benchmarking",
        title="From a time to GB/s and TFLOP/s",
        parameters=("kind", "shape", "dtype", "milliseconds"),
        reference=throughput,
        cases=(
            figure("copy", (1 << 28,), 0.5),
            figure("copy", (1000, 777), 0.003),
            figure("transpose", (4096, 2048), 0.019),
            figure("vector_add", (98_304_000,), 0.27),
            figure("vector_add", (513, 1025), 0.0085),
            figure("softmax", (4096, 16_384), 0.253),
            figure("layernorm", (8192, 4096), 0.118, part="shapes"),
            figure("matmul", (4096, 4096, 4096), 2.9),
            figure("matmul", (1024, 300, 2000), 0.035, why="m, k and n are different here."),
            figure("copy", (1 << 20,), 0.002, FP16, "types"),
            figure("vector_add", (3000, 500), 0.006, BF16, "types"),
            figure("softmax", (1000, 500), 0.004, torch.float64, "types"),
            figure("layernorm", (300, 4000), 0.0043, FP16, "types"),
            figure("transpose", (640, 480), 0.0019, torch.uint8, "types"),
            figure("matmul", (4096, 4096, 4096), 0.2, FP16, "types"),
            figure("matmul", (33, 7, 129), 0.0041, BF16, "types"),
            figure("layernorm", (3, 5000), 0.0023, part="shapes", why="Three rows only."),
            figure("layernorm", (1, 64), 0.0021, BF16, "shapes", "A single row."),
            figure("copy", (3, 5, 70), 0.0022, part="shapes"),
            figure("softmax", (7, 11, 130), 0.0023, FP16, "shapes"),
            figure("vector_add", (2, 3, 4, 500), 0.0024, part="shapes"),
            figure("vector_add", (1,), 0.002, part="shapes"),
            figure("copy", (0,), 0.0018, part="shapes", why="Nothing moves."),
            figure("softmax", (0, 128), 0.0018, part="shapes", why="Nothing moves."),
            figure("matmul", (1, 4096, 1), 0.0031, part="shapes"),
            figure("matmul", (64, 0, 32), 0.0019, part="shapes", why="Zeros are stored."),
            figure("matmul", (16_384, 16_384, 16_384), 1234.5, FP16, "shapes", "A second or so."),
        ),
        hints=(
            "Count the numbers that the problem must read and write, each once. Count the "
            "operations that it must compute.",
            "`torch.Size(shape).numel()` is the number of elements. vector_add moves three "
            "tensors, layernorm two and two rows (weight and bias), the others two. A product "
            "moves m · k + k · n + m · n numbers, with 2 · m · k · n operations.",
            "`seconds = milliseconds * 1e-3`. GB/s is `moved * dtype.itemsize / seconds * 1e-9`, "
            "TFLOP/s is `operations / seconds * 1e-12`. For layernorm, `moved = 2 * n_elements + "
            "2 * shape[-1]`. Operations per element: 0 for copy and transpose, 1 for vector_add, "
            "5 for softmax, 8 for layernorm.",
        ),
        misconceptions=OF_A_FIGURE,
        parts={"core": 6, "types": 2, "shapes": 2},
        function=PlainFunction(returns=("GB/s", "TFLOP/s"), rel=1e-6),
        challenge="Count `12 * n` bytes for a product: at which size do you notice?",
    ),
)
