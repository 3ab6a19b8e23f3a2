"""A learner's script on a machine whose Triton compiles: run without TRITON_INTERPRET."""

import torch
import triton
import triton.language as tl

from triton_util import catch, explore, interpreted, print_if, trace
from triton_util.notebook.subprocess_run import BesideError


@triton.jit
def copy_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)
    print_if(f"pid {pid}: {offsets}", "")


@triton.jit
def hasty_kernel(x_ptr, output_ptr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets))


def copy(x):
    output = torch.full_like(x, -1)
    copy_kernel[(triton.cdiv(x.numel(), 2),)](x, output, x.numel(), BLOCK_SIZE=2)
    return output


def hasty(x):
    output = torch.full_like(x, -1)
    hasty_kernel[(triton.cdiv(x.numel(), 2),)](x, output, BLOCK_SIZE=2)
    return output


def traced(x):
    return trace(copy_kernel)[(2,)](x, torch.empty_like(x), 3, BLOCK_SIZE=2)


def unlucky():
    raise ValueError("no such luck")


if __name__ == "__main__":
    x = torch.arange(3.0)
    print("result", interpreted(copy, x).tolist())
    print("bytes", explore.measure(copy, x).total)
    print(len(interpreted(traced, x).programs), "programs")
    catch("missing_mask", hasty, torch.arange(4.0), right=torch.clone)
    catch("missing_mask", hasty, x, right=torch.clone)
    try:
        interpreted(unlucky)
    except BesideError as error:
        print("raised", error)
