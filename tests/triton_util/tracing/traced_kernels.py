"""Kernels for the tracer's tests; imported by a process that runs the interpreter."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(N, BLOCK)
    pid = tl.program_id(0)
    group_size = GROUP * blocks
    first = pid // group_size * GROUP
    rows = tl.minimum(blocks - first, GROUP)
    pid_m = first + pid % group_size % rows
    pid_n = pid % group_size // rows
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, N, BLOCK):
        offs_k = k + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + offs_m[:, None] * N + offs_k[None, :])
        b = tl.load(b_ptr + offs_k[:, None] * N + offs_n[None, :])
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(c_ptr + offs_m[:, None] * N + offs_n[None, :], acc)


@triton.jit
def transpose_kernel(x_ptr, output_ptr, m, n, stride_m, stride_n, BLOCK: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offs_n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (offs_m[:, None] < m) & (offs_n[None, :] < n)
    x = tl.load(x_ptr + offs_m[:, None] * stride_m + offs_n[None, :] * stride_n, mask=mask)
    tl.store(output_ptr + offs_n[None, :] * m + offs_m[:, None], x, mask=mask)


@triton.jit
def count_kernel(x_ptr, counter_ptr, BLOCK_SIZE: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))
    tl.atomic_add(counter_ptr, tl.sum(x, axis=0))


@triton.jit
def uneven_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.load(output_ptr)
    for _ in range(pid % 3):
        total += tl.sum(tl.load(x_ptr + offsets, mask=mask, other=0.0), axis=0)
    if pid % 2 == 0:
        tl.store(output_ptr + 1 + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)
    tl.atomic_add(output_ptr, total)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 4),)](x, y, output, x.numel(), BLOCK_SIZE=4)
    return output


def matmul_arguments(size: int, block: int, group: int):
    """The grid and the arguments of a square matmul."""
    blocks = size // block
    tensors = [torch.randn(size, size) for _ in range(2)] + [torch.empty(size, size)]
    return (blocks * blocks,), (*tensors, size, group, block)
