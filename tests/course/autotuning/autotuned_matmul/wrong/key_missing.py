"""The key is empty: the first shape decides for all."""

import torch
import triton
import triton.language as tl


def matmul_configs() -> list[triton.Config]:
    """Return the configurations worth trying.

    Each sets BLOCK_M, BLOCK_N, BLOCK_K and GROUP, and the number of warps and stages.
    """
    # Few, and different from one another: each is compiled and timed for each new key.
    # Small tiles for small matrices, large ones for large; more stages for narrow BLOCK_K.
    tiles = [
        # BLOCK_M, BLOCK_N, BLOCK_K, num_warps, num_stages
        (64, 64, 32, 4, 3),  # first, because it fits every GPU and every dtype
        (32, 64, 32, 4, 4),
        (64, 128, 32, 4, 4),
        (128, 64, 64, 4, 3),
        (128, 128, 32, 4, 4),
        (128, 128, 64, 8, 3),
        (128, 256, 64, 8, 3),
        (256, 128, 64, 8, 3),
    ]
    return [
        triton.Config(
            {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP": 8},
            num_warps=num_warps,
            num_stages=num_stages,
        )
        for block_m, block_n, block_k, num_warps, num_stages in tiles
    ]


def keep_what_fits(configs, named_args, **kwargs):
    """Return the configurations that fit into the shared memory and registers of the GPU.

    configs: list[triton.Config]; named_args: the arguments of the launch by name.
    At least one configuration is returned.
    """
    # 1. On a CPU there is nothing to measure: return the first configuration alone.
    # 2. Shared memory: num_stages tiles of a and as many of b must fit into one block's share.
    # 3. Registers: the float32 accumulator is spread over 32 * num_warps threads; leave half
    #    of a thread's 255 registers to everything else.
    a = named_args["a_ptr"]
    if not a.is_cuda:
        return configs[:1]
    available = torch.cuda.get_device_properties(a.device).shared_memory_per_block_optin
    kept = []
    for config in configs:
        block_m, block_n, block_k = (
            config.kwargs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")
        )
        tiles = (block_m + block_n) * block_k * a.element_size()
        accumulator = block_m * block_n // (32 * config.num_warps)
        if config.num_stages * tiles <= available and accumulator <= 128:
            kept.append(config)
    return kept or configs[:1]


@triton.autotune(
    configs=matmul_configs(),
    key=[],
    prune_configs_by={"early_config_prune": keep_what_fits},
)
@triton.jit
def autotuned_matmul_kernel(
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
    GROUP: tl.constexpr,
):
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, the tiles taken in groups of rows."""
    pid = tl.program_id(axis=0)
    tiles_per_group = GROUP * tl.cdiv(N, BLOCK_N)
    first_row = pid // tiles_per_group * GROUP
    rows_in_group = tl.minimum(tl.cdiv(M, BLOCK_M) - first_row, GROUP)
    pid_in_group = pid % tiles_per_group
    pid_m = first_row + pid_in_group % rows_in_group
    pid_n = pid_in_group // rows_in_group

    # In 64 bits, because an address can lie more than 2**31 elements away.
    offs_m = pid_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
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


def autotuned_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return a @ b with the tile that is fastest for this shape on this GPU.

    a: (m, k), b: (k, n), any strides, of the same dtype (float32, float16 or bfloat16).
    The result is a new contiguous tensor of shape (m, n) with the dtype of a. It is summed
    in float32, and exact to float32 for float32 inputs (no TF32).
    """
    # 1. Allocate the result.
    # 2. The grid depends on the tile, and the tile is not known yet: the grid must be a
    #    function of the meta-parameters.
    # 3. Launch without naming any meta-parameter: the autotuner supplies them.
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)

    def grid(meta):
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)

    autotuned_matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    return c
