"""Baselines: what the solutions are measured against, beside torch's own operator."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.workloads.records import Contender

AS_MANY = "copy of as many bytes"
READ_ALONE = "reading the weights alone"
CHUNK = 4096  # words that one program reads: 512 programs and 8 warps were fastest on an H100


def copied(x: torch.Tensor, *_others: Any) -> torch.Tensor:
    """`Tensor.copy_` of the same tensor: what all memory-bound kernels are measured against."""
    return torch.empty(x.shape, dtype=x.dtype, device=x.device).copy_(x)


def as_many_bytes(n_bytes: float) -> dict[str, Contender]:
    """A copy that moves, reading and writing together, as many bytes as the problem needs."""
    n_words = int(n_bytes) // 8
    source: list[torch.Tensor] = []  # made in the warm-up, then kept

    def copy(x: torch.Tensor, *_others: Any) -> torch.Tensor:
        if not source:
            source.append(torch.randint(2**31 - 1, (n_words,), device=x.device, dtype=torch.int32))
        return copied(source[0])

    return {AS_MANY: copy}


@triton.jit
def largest_word_kernel(x_ptr, largest_ptr, CHUNK: tl.constexpr):
    """Store the largest of CHUNK words."""
    pid = tl.program_id(axis=0)
    words = tl.load(x_ptr + pid * CHUNK + tl.arange(0, CHUNK))
    tl.store(largest_ptr + pid, tl.max(words))


def largest_words(words: torch.Tensor) -> torch.Tensor:
    """Read a contiguous tensor of int32 once, and return the largest of each CHUNK words.

    What no kernel that needs these words can undercut: nearly nothing is computed or written.
    """
    n_chunks = words.numel() // CHUNK
    largest = torch.empty(n_chunks, dtype=words.dtype, device=words.device)
    largest_word_kernel[(n_chunks,)](words, largest, CHUNK=CHUNK, num_warps=8)
    return largest


def liger(
    module: str, function: str, call: Callable[..., Contender] | None = None
) -> dict[str, Contender]:
    """The same kernel of Liger-Kernel, where that is installed; `call` adapts its arguments."""
    try:
        found = getattr(importlib.import_module(f"liger_kernel.ops.{module}"), function)
    except (ImportError, AttributeError):
        return {}
    return {"Liger-Kernel": call(found.apply) if call else found.apply}


def with_backend(backend: SDPBackend) -> Contender:
    """torch's attention, held to one backend."""

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return attend
