"""Calls operators of published packages, each state of a package in a process of its own.

    tilewise run planted_program.py FOLDER:CALL ...

`planted` starts it. FOLDER contains a package, unchanged or with a bug; CALL is a function here.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import Any

import torch
import triton

SECONDS = 240  # for one state


def first_configuration_only() -> None:
    """Let autotuners try one configuration, because results count here and not times."""
    plain = triton.autotune

    def autotune(configs: list[Any], *positional: Any, **named: Any) -> Any:
        return plain(configs[:1], *positional, **named)

    triton.autotune = autotune


def imported(name: str) -> Any:
    """A module of the package in this process's folder."""
    return importlib.import_module(name)


def randn(*shape: int) -> torch.Tensor:
    """Random numbers on the GPU that the sanitizer describes, with a gradient."""
    return torch.randn(shape, device="cuda").requires_grad_()


def backwards(out: torch.Tensor) -> None:
    """Call the backward pass with random gradients."""
    out.backward(torch.randn_like(out))


def softmax() -> None:
    """Liger-Kernel: softmax of three rows of 100."""
    backwards(imported("liger_kernel.ops.softmax").LigerSoftmaxFunction.apply(randn(3, 100)))


def group_norm() -> None:
    """Liger-Kernel: group norm of three groups of two channels."""
    apply = imported("liger_kernel.ops.group_norm").LigerGroupNormFunction.apply
    backwards(apply(randn(2, 6, 40), randn(6), randn(6), 6, 3, 1e-6))


def hgrn() -> None:
    """fla-core: the recurrence of HGRN over five steps."""
    operator = imported("fla.ops.hgrn.fused_recurrent").fused_recurrent_hgrn
    out = operator(randn(2, 5, 100), torch.nn.functional.logsigmoid(randn(2, 5, 100)))
    backwards(out[0] if isinstance(out, tuple) else out)


def cumsum() -> None:
    """fla-core: sums within chunks of 16 of a sequence of 40."""
    imported("fla.ops.utils.cumsum").chunk_local_cumsum(randn(2, 40, 2).detach(), 16)


def silu() -> None:
    """conch: SiLU and a product, with rows longer than a block."""
    imported("conch.ops.activation.silu_and_mul").silu_and_mul(randn(3, 2200).detach())


def int8() -> None:
    """conch: quantisation of values of which some leave the range of int8."""
    launch = imported("conch.kernels.quantization.int8").static_scaled_int8_quant_launcher
    out = torch.empty(3, 100, dtype=torch.int8, device="cuda")
    launch(out, 40 * randn(3, 100).detach(), torch.tensor([0.25], device="cuda"))


def rotary() -> None:
    """conch: rotary embedding of three heads, in place."""
    call = imported("conch.ops.embedding.rotary_embedding").rotary_embedding
    query, key, table = (randn(*shape).detach() for shape in ((6, 96), (6, 32), (50, 32)))
    call(torch.arange(6, device="cuda"), query, key, 32, table)


def copy_blocks() -> None:
    """conch: pages of a cache copied through tables of pointers, the last page too."""
    call = imported("conch.ops.vllm.copy_blocks").copy_blocks
    caches = [[torch.zeros(6, 100, device="cuda") for _ in range(2)] for _ in range(2)]
    call(*caches, torch.tensor([[0, 5], [2, 3]], device="cuda"))


def copy_far() -> None:
    """conch: a page beyond element 2**31 of a cache."""
    call = imported("conch.ops.vllm.copy_blocks").copy_blocks
    pages = 2**21 + 8
    cache = torch.zeros(pages, 1024, dtype=torch.uint8, device="cuda")
    other = torch.zeros(pages, 1024, dtype=torch.uint8, device="cuda")
    call([cache], [other], torch.tensor([[pages - 1, 0]], device="cuda"))


def entmax() -> None:
    """adasplash: entmax of three rows of 100."""
    os.environ["TRITON_INTERPRET"] = "true"  # at "1" it drops its autotuner; triton takes both
    backwards(imported("adasplash.triton_entmax").triton_entmax(randn(3, 100)))


def run(folder: str, call: str) -> None:
    """Call one function on the package in this folder; errors are the sanitizer's to report."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    signal.alarm(SECONDS)
    sys.path.insert(0, folder)
    status = 0
    try:
        globals()[call]()
    except BaseException as error:
        print(f"{folder}: {type(error).__name__}: {str(error)[:200]}", flush=True)
        status = 1
    os._exit(status)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    first_configuration_only()
    for state in sys.argv[1:]:
        run(*state.rsplit(":", 1))
