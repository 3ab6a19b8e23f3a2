"""Layer norm of rows that are no power of two long: in two blocks, of which each is one.

A block of Triton has a power of two of elements. A row of 5120 numbers would take a block of 8192,
of which three eighths are empty: they occupy registers, and threads that compute nothing. So the
row is cut into 4096 + 1024 numbers. A program loads both at once, and adds up their sums.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def load_part(pointer, cols, n_cols, MASKED: tl.constexpr, POLICY: tl.constexpr = ""):
    """Return the elements `cols` in float32, 0 for those that do not exist."""
    if MASKED:
        x = tl.load(pointer + cols, mask=cols < n_cols, other=0.0, eviction_policy=POLICY)
    else:
        x = tl.load(pointer + cols, eviction_policy=POLICY)
    return x.to(tl.float32)


@triton.jit
def minus_mean(a, b, tail, n_cols, MASKED: tl.constexpr):
    """Return both parts of a row without their common mean; the gaps of the second stay 0."""
    mean = (tl.sum(a, axis=0) + tl.sum(b, axis=0)) / n_cols
    b = b - mean
    if MASKED:
        b = tl.where(tail < n_cols, b, 0.0)
    return a - mean, b


@triton.jit
def layernorm_parts_kernel(
    x_ptr, weight_ptr, bias_ptr, output_ptr, n_vectors, stride_vectors, eps,
    VECTOR: tl.constexpr, HEAD: tl.constexpr, TAIL: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Normalise one row of n_vectors * VECTOR elements: HEAD of them, and at most TAIL more.

    Row i of x begins at i * stride_vectors * VECTOR. MASKED: whether TAIL is more than there are.
    """
    n_cols = n_vectors * VECTOR
    row = tl.program_id(axis=0).to(tl.int64)
    x_ptr += row * stride_vectors * VECTOR
    output_ptr += row * n_cols
    head = tl.arange(0, HEAD)
    tail = HEAD + tl.arange(0, TAIL)
    a = load_part(x_ptr, head, n_cols, False, "evict_first")
    b = load_part(x_ptr, tail, n_cols, MASKED, "evict_first")
    a, b = minus_mean(a, b, tail, n_cols, MASKED)
    # The mean of large numbers is rounded; what that left over is taken out as well.
    if x_ptr.dtype.element_ty == tl.float32:
        a, b = minus_mean(a, b, tail, n_cols, MASKED)
    scale = tl.rsqrt((tl.sum(a * a, axis=0) + tl.sum(b * b, axis=0)) / n_cols + eps)
    # The weights only now: loaded earlier, they would occupy registers all the while.
    a = a * scale * load_part(weight_ptr, head, n_cols, False, "evict_last")
    a += load_part(bias_ptr, head, n_cols, False, "evict_last")
    tl.store(output_ptr + head, a.to(output_ptr.dtype.element_ty))
    b = b * scale * load_part(weight_ptr, tail, n_cols, MASKED, "evict_last")
    b = (b + load_part(bias_ptr, tail, n_cols, MASKED, "evict_last")).to(
        output_ptr.dtype.element_ty
    )
    if MASKED:
        tl.store(output_ptr + tail, b, mask=tail < n_cols)
    else:
        tl.store(output_ptr + tail, b)


def parts_of(n_cols: int) -> tuple[int, int]:
    """Return the largest power of two in n_cols, and the smallest that takes the rest."""
    head = triton.next_power_of_2(n_cols + 1) // 2
    return head, triton.next_power_of_2(max(1, n_cols - head))


def worth_two_parts(n_cols: int) -> bool:
    """Whether two blocks have at most three quarters of the elements of one."""
    return n_cols > 1024 and 4 * sum(parts_of(n_cols)) <= 3 * triton.next_power_of_2(n_cols)


def layernorm_in_parts(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    eps: float,
    vector: int,
    num_warps: int = 8,
) -> torch.Tensor:
    """Layer norm of rows in two blocks; vector: of what their lengths and distances are multiples.

    All are contiguous but for gaps between the rows of x.
    """
    n_rows, n_cols = x.shape
    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)
    head, tail = parts_of(n_cols)
    layernorm_parts_kernel[(n_rows,)](
        x, weight, bias, output, n_cols // vector, x.stride(0) // vector, eps,
        VECTOR=vector, HEAD=head, TAIL=tail, MASKED=head + tail != n_cols, num_warps=num_warps,
    )  # fmt: skip
    return output
