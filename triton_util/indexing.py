# mypy: disable-error-code="no-untyped-def, untyped-decorator"
"""Offsets and masks of one block, as functions that a kernel can call.

They are compiled into the kernel that calls them, on the GPU and in the interpreter. Offsets
are 64-bit: an int32 product wraps round silently beyond 2**31 elements.
"""

import triton
import triton.language as tl


@triton.jit
def get_1d_offset(size: tl.constexpr, n_prev_chunks):
    """Offsets of the chunk of `size` elements that comes after `n_prev_chunks` others.

    size: a power of two, known when the kernel is compiled. Returns a block of shape (size,).
    """
    return tl.cast(n_prev_chunks, tl.int64) * size + tl.arange(0, size)


@triton.jit
def get_2d_offset(offs_0, offs_1, stride_0, stride_1=1):
    """Offsets of a tile: rows `offs_0`, columns `offs_1`, each times its stride in elements.

    offs_0: block of shape (m,); offs_1: block of shape (n,). Returns a block of shape (m, n).
    """
    rows = tl.expand_dims(offs_0, 1).to(tl.int64) * stride_0
    columns = tl.expand_dims(offs_1, 0).to(tl.int64) * stride_1
    return rows + columns


@triton.jit
def get_1d_mask(offs, n_elements):
    """True for the offsets that lie inside `n_elements` elements. Has the shape of `offs`."""
    return offs < n_elements


@triton.jit
def get_2d_mask(offs_0, offs_1, n_rows, n_columns):
    """True where the row is below `n_rows` and the column below `n_columns`.

    offs_0: block of shape (m,); offs_1: block of shape (n,). Returns a block of shape (m, n).
    """
    return (tl.expand_dims(offs_0, 1) < n_rows) & (tl.expand_dims(offs_1, 0) < n_columns)
