"""Model solutions of the lesson on low precision: products with numbers of 4 and of 8 bits."""

import torch
import triton
import triton.language as tl


# %% quantized_matmul
@triton.jit
def dequantized_tile(
    packed_ptr, scales_ptr, zeros_ptr, offs_k, offs_n, N, K, GROUP,
    packed_strides, scales_strides, zeros_strides,
):  # fmt: skip
    """Return the tile of b = (q - zero) * scale with these rows and columns, 0 outside, in float32.

    Eight numbers along k share a word, the lowest nibble first; GROUP rows share scale and zero.
    The strides are pairs, counted in elements.
    """
    # 1. Compute the mask of rows and columns that exist.
    # 2. For each row of the tile load the word that holds it, and extract its four bits.
    # 3. Load scale and zero of each row's group.
    ### BEGIN SOLUTION
    mask = (offs_k[:, None] < K) & (offs_n[None, :] < N)
    word, place = offs_k[:, None] // 8, offs_k[:, None] % 8
    words = tl.load(
        packed_ptr + word * packed_strides[0] + offs_n[None, :] * packed_strides[1],
        mask=mask, other=0,
    )  # fmt: skip
    q = (words >> (4 * place).to(tl.int32)) & 0xF
    group = offs_k[:, None] // GROUP
    scale = tl.load(
        scales_ptr + group * scales_strides[0] + offs_n[None, :] * scales_strides[1],
        mask=mask, other=0.0,
    )  # fmt: skip
    zero = tl.load(
        zeros_ptr + group * zeros_strides[0] + offs_n[None, :] * zeros_strides[1],
        mask=mask, other=0,
    )  # fmt: skip
    return (q - zero.to(tl.int32)).to(tl.float32) * scale.to(tl.float32)
    ### END SOLUTION


@triton.jit
def quantized_matmul_kernel(
    a_ptr, packed_ptr, scales_ptr, zeros_ptr, c_ptr, M, N, K, GROUP,
    a_strides, packed_strides, scales_strides, zeros_strides, c_strides,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, where b is dequantised tile by tile.

    a has shape (M, K), c (M, N). The strides are pairs, counted in elements.
    """
    # 1. Compute the program's rows and columns of c.
    # 2. Loop along K: load a tile of a, make the tile of b (`dequantized_tile`), add their product.
    # 3. Store in the dtype of c, under a mask.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in tl.range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(
            a_ptr + offs_m[:, None] * a_strides[0] + offs_k[None, :] * a_strides[1],
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = dequantized_tile(
            packed_ptr, scales_ptr, zeros_ptr, offs_k, offs_n, N, K, GROUP,
            packed_strides, scales_strides, zeros_strides,
        )  # fmt: skip
        accumulator = tl.dot(a, b.to(a.dtype), accumulator)
    tl.store(
        c_ptr + offs_m[:, None] * c_strides[0] + offs_n[None, :] * c_strides[1],
        accumulator.to(c_ptr.dtype.element_ty),
        mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
    )
    ### END SOLUTION


def quantized_matmul(
    a: torch.Tensor, packed_b: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
) -> torch.Tensor:
    """Return a @ b for a matrix b = (q - zero) * scale of 4-bit numbers q.

    a: (m, k), float16 or bfloat16, any strides. packed_b: (k / 8, n) int32, eight numbers along k
    in each, the lowest nibble first. scales, in the dtype of a, and zeros, uint8: (k / g, n), a row
    for each group of g rows of b, a multiple of 16. The sum is float32, the result new and
    contiguous, in the dtype of a.
    """
    (m, k), n = a.shape, packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    group = k // max(1, scales.shape[0])
    block_m, block_n, block_k = 32, 64, 32
    quantized_matmul_kernel[(triton.cdiv(m, block_m), triton.cdiv(n, block_n))](
        a, packed_b, scales, zeros, c, m, n, k, group,
        a.stride(), packed_b.stride(), scales.stride(), zeros.stride(), c.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )  # fmt: skip
    return c


# %% fp8_matmul
@triton.jit
def fp8_matmul_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, c_ptr, M, N, K,
    a_strides, b_strides, c_strides,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Compute one BLOCK_M x BLOCK_N tile of c = (a @ b) * scale_a[:, None] * scale_b[None, :].

    a has shape (M, K), b (K, N), c (M, N). The strides are pairs, counted in elements; the scales
    are contiguous.
    """
    # 1. Compute the program's rows and columns of c.
    # 2. Loop along K: load a tile of a and one of b, add their product in float32.
    # 3. Apply the scales of these rows and columns.
    # 4. Store in the dtype of c, under a mask.
    ### BEGIN SOLUTION
    # In 64 bits, because an address can be more than 2**31 elements away.
    offs_m = tl.program_id(axis=0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.program_id(axis=1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in tl.range(0, K, BLOCK_K):
        offs_k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(
            a_ptr + offs_m[:, None] * a_strides[0] + offs_k[None, :] * a_strides[1],
            mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0,
        )  # fmt: skip
        b = tl.load(
            b_ptr + offs_k[:, None] * b_strides[0] + offs_n[None, :] * b_strides[1],
            mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0,
        )  # fmt: skip
        accumulator += tl.dot(a, b)  # an addition in fp32; the tensor cores alone keep fewer bits
    scale_a = tl.load(scale_a_ptr + offs_m, mask=offs_m < M, other=0.0)
    scale_b = tl.load(scale_b_ptr + offs_n, mask=offs_n < N, other=0.0)
    c = accumulator * scale_a[:, None] * scale_b[None, :]
    tl.store(
        c_ptr + offs_m[:, None] * c_strides[0] + offs_n[None, :] * c_strides[1],
        c.to(c_ptr.dtype.element_ty),
        mask=(offs_m[:, None] < M) & (offs_n[None, :] < N),
    )
    ### END SOLUTION


def fp8_matmul(
    a: torch.Tensor, b: torch.Tensor, scale_a: torch.Tensor, scale_b: torch.Tensor
) -> torch.Tensor:
    """Return a @ b, each row times its scale of a, each column times its scale of b.

    a: (m, k), b: (k, n), float8_e4m3fn, any strides. scale_a: (m,), scale_b: (n,), float32 and
    contiguous. The sum is float32, the result new and contiguous, in bfloat16.
    """
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
    block_m, block_n, block_k = 64, 64, 64
    fp8_matmul_kernel[(triton.cdiv(m, block_m), triton.cdiv(n, block_n))](
        a, b, scale_a, scale_b, c, m, n, k,
        a.stride(), b.stride(), c.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
    )  # fmt: skip
    return c
