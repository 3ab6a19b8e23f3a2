"""Docstrings with TeX and a backslash, an f-string with a line break, form feeds, letters."""

import torch
import triton
import triton.language as tl


def shown(x, y):
    print(f"largest:\n\t{(vector_add(x, y) - x - y).abs().max()} — λ")


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """out_i = x_i + y_i, or \\sum in TeX: $\\mathbf{o} = \\mathbf{x} + \\mathbf{y}$ 加算"""
    '''A second text in which stands a form feed: '''
    offsets = tl.program_id(0).to(tl.int64) * BLOCK_SIZE \
        + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(
        y_ptr + offsets,
        mask=mask,
    )
    tl.store(output_ptr + offsets, total, mask=mask)


def vector_add(x, y):
    r"""The \textit{sum}."""
    output = torch.empty_like(x)
    size = output.numel(); block_size = 256
    add_kernel[(triton.cdiv(size, block_size),)](x, y, output, size, BLOCK_SIZE=block_size)
    return output


if __name__ == "__main__":
    shown(torch.rand(100), torch.rand(100))
