"""Model solutions of the lesson on matrix multiplication: one tile of the result per program."""

import torch
import triton
import triton.language as tl


# %% dot_tile
@triton.jit
def dot_tile_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    """Multiply a (M, K) by b (K, N) in one tile; M, N and K are at most BLOCK.

    All three matrices are contiguous: a row of a has K elements, a row of b and of c has N.
    """
    # 1. One block of offsets serves as rows, as columns and along K.
    # 2. Load the tile of a. Which rows and columns exist? The other lanes must be 0.
    # 3. Load the tile of b in the same way.
    # 4. Multiply the tiles in float32 (input_precision="ieee"), and store under c's mask.
    ### BEGIN SOLUTION
    offs = tl.arange(0, BLOCK)
    down, across = offs[:, None], offs[None, :]
    a = tl.load(a_ptr + down * K + across, mask=(down < M) & (across < K), other=0.0)
    b = tl.load(b_ptr + down * N + across, mask=(down < K) & (across < N), other=0.0)
    c = tl.dot(a, b, input_precision="ieee")
    c_ptrs = c_ptr + down * N + across
    tl.store(c_ptrs, c.to(c_ptr.dtype.element_ty), mask=(down < M) & (across < N))
    ### END SOLUTION


def dot_tile(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b, for matrices that fit into one tile of 32 x 32.

    a: (m, k), b: (k, n), contiguous, m, k and n at most 32, of the same dtype (float32, float16
    or bfloat16). The result is a new contiguous tensor of shape (m, n) with that dtype.
    """
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    dot_tile_kernel[(1,)](a, b, c, m, n, k, BLOCK=32)
    return c


# %% matmul
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b.

    a has shape (M, K), b (K, N), c (M, N). Strides are counted in elements.
    The products are summed in float32, whatever the dtype of a and b.
    """
    # 1. The row numbers and the column numbers of the program's tile of c.
    # 2. A float32 accumulator of zeros.
    # 3. Step through K in blocks: load a tile of a and a tile of b, zeros outside the
    #    matrices on *every* edge, and add their product to the accumulator.
    #    float32 inputs need input_precision="ieee".
    # 4. Store the accumulator in the dtype of c, under a mask.
    ### BEGIN SOLUTION
    # In 64 bits, because an offset can exceed 2**31 elements.
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + offs_k[None, :] * stride_ak
        b_ptrs = b_ptr + offs_k[:, None] * stride_bk + offs_n[None, :] * stride_bn
        a = tl.load(a_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        b = tl.load(b_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_ptrs = c_ptr + offs_m[:, None] * stride_cm + offs_n[None, :] * stride_cn
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask_m & mask_n)
    ### END SOLUTION


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    block_m, block_n, block_k = 64, 64, 32
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    matmul_kernel[grid](
        a,
        b,
        c,
        m,
        n,
        k,
        *a.stride(),
        *b.stride(),
        *c.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return c


# %% linear_bias_relu
@triton.jit
def linear_bias_relu_kernel(
    x_ptr,
    w_ptr,
    b_ptr,
    output_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_xk,
    stride_wn,
    stride_wk,
    stride_b,
    stride_om,
    stride_on,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of relu(x @ w.T + b).

    x has shape (M, K), w (N, K), b (N,), the output (M, N). Strides are counted in elements.
    Product, bias and ReLU stay in float32 until the one store.
    """
    # 1. The row and column numbers of the program's tile, and a float32 accumulator.
    # 2. Step through K as in matmul. w is read as a (BLOCK_K, BLOCK_N) tile of w.T:
    #    no copy is needed, only the right strides.
    # 3. Add the bias of each column, and apply the ReLU, before anything is stored.
    # 4. Store once, under a mask.
    ### BEGIN SOLUTION
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_m = offs_m[:, None] < M
    mask_n = offs_n[None, :] < N
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_start in range(0, K, BLOCK_K):
        offs_k = k_start + tl.arange(0, BLOCK_K).to(tl.int64)
        x_ptrs = x_ptr + offs_m[:, None] * stride_xm + offs_k[None, :] * stride_xk
        w_ptrs = w_ptr + offs_k[:, None] * stride_wk + offs_n[None, :] * stride_wn
        x = tl.load(x_ptrs, mask=mask_m & (offs_k[None, :] < K), other=0.0)
        w = tl.load(w_ptrs, mask=mask_n & (offs_k[:, None] < K), other=0.0)
        accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
    bias = tl.load(b_ptr + offs_n * stride_b, mask=offs_n < N, other=0.0)
    result = tl.maximum(accumulator + bias[None, :].to(tl.float32), 0.0)
    output_ptrs = output_ptr + offs_m[:, None] * stride_om + offs_n[None, :] * stride_on
    tl.store(output_ptrs, result.to(output_ptr.dtype.element_ty), mask=mask_m & mask_n)
    ### END SOLUTION


def linear_bias_relu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w.T + b), the layer `relu(linear(x))` in one kernel.

    x: (m, k), w: (n, k), b: (n,), any strides, of the same dtype (float32, float16 or
    bfloat16). The result is a new contiguous tensor of shape (m, n) with the dtype of x.
    """
    m, k = x.shape
    n = w.shape[0]
    output = torch.empty((m, n), dtype=x.dtype, device=x.device)
    block_m, block_n, block_k = 64, 64, 32
    grid = (triton.cdiv(m, block_m), triton.cdiv(n, block_n))
    linear_bias_relu_kernel[grid](
        x,
        w,
        b,
        output,
        m,
        n,
        k,
        *x.stride(),
        *w.stride(),
        *b.stride(),
        *output.stride(),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
    )
    return output
