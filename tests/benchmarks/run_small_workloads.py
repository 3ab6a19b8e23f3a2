"""Run workloads of benchmarks/workloads, made small, through their checks on the CPU.

`TRITON_INTERPRET=1 python tests/benchmarks/run_small_workloads.py` prints, as JSON, what the
check of each workload says of the reference ("" where it runs on a GPU only), of each solution,
and of an output in which every number is off by 3.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.workloads import attentions, counting, data, elementwise, layouts, products, rows
from benchmarks.workloads.records import Workload
from tests.solutions.run_solution_cases import tune_without_a_gpu
from triton_util.interpreter import interpret

ON_GPU_ONLY = ("attention", "fp8_matmul")


def small_workloads() -> Iterator[Workload]:
    """Every maker of workloads, with a size for the CPU."""
    yield elementwise.dropout_residual(3, 100)
    yield elementwise.dropout_residual(3, 100, torch.float32)
    yield rows.softmax(5, 70)
    yield rows.softmax(2, 20000)
    yield rows.layernorm(5, 70)
    yield rows.softmax_backward(5, 70)
    loss = rows.cross_entropy(9, 70)
    if loss.solutions():
        yield loss
    yield layouts.transpose_bytes(40)
    yield layouts.transpose(40)
    yield counting.cumsum(3, 70)
    yield counting.cumsum(1, 5000)
    yield counting.histogram(3000, 16)
    yield products.product("autotuned_matmul", "autotuning", (33, 35, 37), 0.9)
    yield products.product("persistent_matmul", "persistent", (64, 72, 80), 0.9)
    yield products.split_k_matmul(32, 40, 128, 2)
    yield products.grouped_gemm(50, 5, 32, 24)
    yield products.quantized_matmul(4, 40, 256)
    yield products.fp8_matmul(64)
    yield attentions.attention((1, 2, 40, 16), True)
    yield attentions.decode_attention(2, 4, 2, 64, 16)


def said_of(work: Workload) -> dict[str, str]:
    """What the workload's check says."""
    args = work.make_inputs(0)
    said = {}
    if work.exercise not in ON_GPU_ONLY:
        check = work.checks.get("torch", work.check)
        # A share of few elements says nothing.
        said["torch"] = "" if "torch" in work.checks else check(args, work.reference(*args))
    for form, launcher in work.solutions().items():
        output = launcher(*args)
        said[form] = work.check(args, output)
    said["spoiled"] = work.check(args, output + 3)
    return said


def main() -> None:
    """Run all."""
    data.DEVICE = "cpu"
    tune_without_a_gpu()
    torch.manual_seed(0)
    with interpret():
        told = {work.name: said_of(work) for work in small_workloads()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
