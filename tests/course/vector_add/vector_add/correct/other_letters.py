"""Names in letters beyond ASCII, but for the kernel's own, which Triton refuses."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, résultat_ptr, größe, BLOCK_SIZE: tl.constexpr):
    位置 = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    maß = 位置 < größe
    x = tl.load(x_ptr + 位置, mask=maß)
    y = tl.load(y_ptr + 位置, mask=maß)
    tl.store(résultat_ptr + 位置, x + y, mask=maß)


def vector_add(x, y):
    résultat = torch.empty_like(x)
    größe = résultat.numel()
    if größe:
        add_kernel[(triton.cdiv(größe, 512),)](x, y, résultat, größe, BLOCK_SIZE=512)
    return résultat
