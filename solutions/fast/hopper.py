"""What the fast forms for Hopper GPUs (H100, H200) have in common.

Hopper can copy whole tiles between memory and a program's shared memory without occupying a
thread (TMA), and multiply tiles straight from shared memory (wgmma). Triton turns `tl.dot` into
wgmma by itself, and uses TMA only where a kernel loads through tensor descriptors; either way
one group of warps does everything in turn. The fast forms are written in Gluon, the layer of
Triton in which the author says which warps do what.
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# Triton 3.6 has the older names, later ones keep them only to say that they are gone.
tma_load = tma.async_load if hasattr(tma, "async_load") else tma.async_copy_global_to_shared
tma_store = tma.async_store if hasattr(tma, "async_store") else tma.async_copy_shared_to_global


DTYPES = {
    torch.float16: gl.float16,
    torch.bfloat16: gl.bfloat16,
    torch.float8_e4m3fn: gl.float8e4nv,
}


def is_hopper(x: torch.Tensor) -> bool:
    """Whether x lies in the memory of a GPU that has wgmma."""
    return x.is_cuda and torch.cuda.get_device_capability(x.device)[0] == 9


def processors_of(x: torch.Tensor) -> int:
    """How many multiprocessors the GPU of x has."""
    return torch.cuda.get_device_properties(x.device).multi_processor_count


def tma_can_read(x: torch.Tensor) -> bool:
    """Whether a tensor descriptor can describe x: half precision, contiguous rows, aligned."""
    outer = list(zip(x.stride(), x.shape, strict=True))[:-1]
    return (
        x.dtype in (torch.float16, torch.bfloat16)
        and x.numel() > 0
        and x.stride(-1) == 1
        and all(step > 0 and step % 8 == 0 for step, extent in outer if extent > 1)
        and x.data_ptr() % 16 == 0
    )


def describe(x: torch.Tensor, block_shape: list[int]) -> TensorDescriptor:
    """Describe x to the TMA unit, to be moved in tiles of `block_shape` elements."""
    layout = gl.NVMMASharedLayout.get_default_for(block_shape, DTYPES[x.dtype])
    # The stride of a dimension of one element is never used, but it must be a legal one.
    strides = [
        step if extent > 1 or i == x.ndim - 1 else 16 // x.element_size()
        for i, (step, extent) in enumerate(zip(x.stride(), x.shape, strict=True))
    ]
    return TensorDescriptor(x, list(x.shape), strides, block_shape, layout)


@gluon.jit
def new_barriers(NUMBER: gl.constexpr, COUNT: gl.constexpr):
    """Return NUMBER barriers, each of which opens when COUNT have arrived."""
    barriers = gl.allocate_shared_memory(gl.int64, [NUMBER, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(NUMBER):
        mbarrier.init(barriers.index(i), count=COUNT)
    return barriers
