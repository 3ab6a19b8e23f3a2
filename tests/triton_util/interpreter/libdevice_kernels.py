"""Kernels that call NVIDIA's device functions."""

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import tanh


@triton.jit
def several_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    value = tanh(x) + libdevice.erf(x) + libdevice.expm1(x) + libdevice.isnan(x)
    tl.store(output_ptr + offsets, value, mask=mask)


@triton.jit
def unary_kernel(x_ptr, output_ptr, n, FUNCTION: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    tl.store(output_ptr + offsets, FUNCTION(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@triton.jit
def binary_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=1.0)
    y = tl.load(y_ptr + offsets, mask=mask, other=1.0)
    tl.store(output_ptr + offsets, libdevice.atan2(x, y) + libdevice.pow(y, 2.0), mask=mask)


@triton.jit
def fused_kernel(x_ptr, y_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, libdevice.fdim(x, y) + libdevice.fma(x, y, y), mask=mask)


@triton.jit
def bits_kernel(x_ptr, output_ptr, n, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    bits = libdevice.float_as_int(tl.load(x_ptr + offsets, mask=mask))
    tl.store(output_ptr + offsets, libdevice.int_as_float(bits), mask=mask)
