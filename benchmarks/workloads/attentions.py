"""Attention, against two backends of torch, and decoding, against a copy."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own spelling
from torch.nn.attention import SDPBackend

from benchmarks.workloads.baselines import AS_MANY, as_many_bytes, with_backend
from benchmarks.workloads.checks import differs, some_queries
from benchmarks.workloads.data import inputs, random_numbers
from benchmarks.workloads.records import Args, Bar, Workload

FLASH = with_backend(SDPBackend.FLASH_ATTENTION)
CUDNN = with_backend(SDPBackend.CUDNN_ATTENTION)
TO_CUDNN = {
    (4, 32, 4096, 64): 1.0,
    (8, 32, 1024, 128): 1.0,
    (4, 16, 4096, 256): 0.9,
}


def attention(shape: tuple[int, int, int, int], causal: bool, *bars: Bar) -> Workload:
    """Attention with inputs of this shape."""
    batches, heads, length, d = shape
    size = batches * heads * length * d
    return Workload(
        f"attention B{batches} H{heads} S{length} D{d} {'causal' if causal else 'full'}",
        "attention",
        "attention",
        lambda seed: (*inputs(shape, shape, shape)(seed), causal),
        FLASH,
        some_queries,
        6 * size,
        2 * size,
        4 * size * length / (2 if causal else 1),
        bars,
        {"torch flash": FLASH, "torch cuDNN": CUDNN},
        tensor_cores=True,
        eager=False,
        compiled=False,
    )


def some_sequences(args: Args, actual: torch.Tensor) -> str:
    """A check of decoding by all heads of four random sequences."""
    q, k_pages, v_pages, table, lengths = args
    if actual.shape != q.shape:
        return f"shape {tuple(actual.shape)} instead of {tuple(q.shape)}"
    group = q.shape[1] // k_pages.shape[2]
    for sequence in torch.randint(q.shape[0], (4,)).tolist():
        n_keys = int(lengths[sequence])
        k, v = (
            pages[table[sequence]].flatten(0, 1)[:n_keys].float().repeat_interleave(group, 1)
            for pages in (k_pages, v_pages)
        )
        scores = torch.einsum("hd,nhd->hn", q[sequence].float(), k) / q.shape[2] ** 0.5
        expected = torch.einsum("hn,nhd->hd", torch.softmax(scores, 1), v)
        complaint = differs(actual[sequence], expected, 4e-3)
        if complaint:
            return complaint
    return ""


def decode_attention(
    batches: int = 64, heads: int = 32, kv_heads: int = 8, n_keys: int = 8192, d: int = 128
) -> Workload:
    """One query for each head; keys and values in shuffled pages of 16."""
    n_pages = batches * n_keys // 16

    def by_torch(
        q: torch.Tensor,
        k_pages: torch.Tensor,
        v_pages: torch.Tensor,
        table: torch.Tensor,
        lengths: torch.Tensor,
    ) -> torch.Tensor:
        """Gather the pages, then torch's attention; all sequences are equally long here."""
        k, v = (pages[table].flatten(1, 2).transpose(1, 2) for pages in (k_pages, v_pages))
        return F.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)[:, :, 0]

    def make(seed: int) -> Args:
        pages = (n_pages, 16, kv_heads, d)
        q, k_pages, v_pages = inputs((batches, heads, d), pages, pages)(seed)
        order = torch.randperm(n_pages, generator=random_numbers(seed, 3), device=q.device)
        lengths = torch.full((batches,), n_keys, dtype=torch.int32, device=q.device)
        return q, k_pages, v_pages, order.to(torch.int32).view(batches, -1), lengths

    n_bytes = 2 * (2 * batches * n_keys * kv_heads * d + 2 * batches * heads * d) + 4 * n_pages
    return Workload(
        f"decode_attention b{batches}, {heads} heads, {kv_heads} kv heads, {n_keys} keys, D{d}",
        "decode_attention",
        "decoding",
        make,
        by_torch,
        some_sequences,
        n_bytes - 2 * batches * heads * d,
        2 * batches * heads * d,
        4 * batches * heads * n_keys * d,
        (Bar(AS_MANY, 0.9),),
        as_many_bytes(n_bytes),
        tensor_cores=True,
        compiled=False,
    )


def all_here() -> Iterator[Workload]:
    """All of them."""
    for causal in (False, True):
        bars = (Bar("torch flash", 1.5), Bar("torch cuDNN", 1.0, wish=True))
        yield attention((4, 32, 4096, 128), causal, *bars)
    for shape, factor in TO_CUDNN.items():
        for causal in (False, True):
            yield attention(shape, causal, Bar("torch cuDNN", factor))
    yield decode_attention()
