"""Kernels that use the helpers; imported by a process that runs the interpreter."""

import torch
import triton
import triton.language as tl

from triton_util import (
    breakpoint_if,
    get_1d_mask,
    get_1d_offset,
    get_2d_mask,
    get_2d_offset,
    print_if,
)


@triton.jit
def copy_1d_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = get_1d_offset(BLOCK_SIZE, tl.program_id(0))
    mask = get_1d_mask(offsets, n_elements)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def copy_2d_kernel(
    x_ptr, output_ptr, m, n, stride_m, stride_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    offs_m = get_1d_offset(BLOCK_M, tl.program_id(0))
    offs_n = get_1d_offset(BLOCK_N, tl.program_id(1))
    mask = get_2d_mask(offs_m, offs_n, m, n)
    x = tl.load(x_ptr + get_2d_offset(offs_m, offs_n, stride_m, stride_n), mask=mask)
    tl.store(output_ptr + get_2d_offset(offs_m, offs_n, n), x, mask=mask)


@triton.jit
def far_offsets_kernel(output_ptr):
    tl.store(output_ptr, tl.max(get_1d_offset(1024, tl.program_id(0) + 4_000_000), axis=0))


@triton.jit
def printing_kernel(x_ptr, CONDITIONS: tl.constexpr):
    pid = tl.program_id(0)
    print_if(f"program {pid} {tl.program_id(1)}", CONDITIONS)
    tl.store(x_ptr + pid, 1.0)


@triton.jit
def stopping_kernel(x_ptr):
    secret = tl.program_id(0) + 40
    breakpoint_if("=2")
    tl.store(x_ptr + tl.program_id(0), secret.to(tl.float32))


def copy_1d(x: torch.Tensor, block_size: int) -> torch.Tensor:
    output = torch.full_like(x, -7)
    copy_1d_kernel[(triton.cdiv(x.numel(), block_size),)](x, output, x.numel(), block_size)
    return output


def copy_2d(x: torch.Tensor, block_m: int, block_n: int) -> torch.Tensor:
    m, n = x.shape
    output = torch.full((m, n), -7, dtype=x.dtype)
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    copy_2d_kernel[grid](x, output, m, n, *x.stride(), block_m, block_n)
    return output
