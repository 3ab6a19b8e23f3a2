"""Model solution of the lesson on autotuning: a matmul whose tile a measurement chooses."""

import torch
import triton
import triton.language as tl


# %% autotuned_matmul
def matmul_configs() -> list[triton.Config]:
    """Return the candidate configurations.

    Each sets BLOCK_M, BLOCK_N, BLOCK_K and GROUP, and the number of warps and stages.
    """
    # A few different ones: the tuner compiles and times each of them for each new key.
    # Small tiles for small matrices, large tiles for large ones; more stages
    # where BLOCK_K is small.
    ### BEGIN SOLUTION
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
    ### END SOLUTION


def keep_what_fits(configs, named_args, **kwargs):
    """Return the configurations that fit into the shared memory and registers of the GPU.

    configs: list[triton.Config]; named_args: the launch's arguments, by their names in
    the kernel.
    At least one configuration is returned.
    """
    # 1. On a CPU there is nothing to measure: return the first configuration alone.
    # 2. Shared memory of one block: it must have room for num_stages tiles of a and as many of
    #    b from compute capability 9.0 on, for one less before.
    # 3. Registers: the float32 accumulator is distributed over 32 * num_warps threads; leave half
    #    of a thread's 255 registers to everything else.
    ### BEGIN SOLUTION
    a = named_args["a_ptr"]
    if not a.is_cuda:
        return configs[:1]
    gpu = torch.cuda.get_device_properties(a.device)
    kept = []
    for config in configs:
        block_m, block_n, block_k = (
            config.kwargs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")
        )
        tiles = (block_m + block_n) * block_k * a.element_size()
        buffers = config.num_stages if gpu.major >= 9 else config.num_stages - 1
        accumulator = block_m * block_n // (32 * config.num_warps)
        if buffers * tiles <= gpu.shared_memory_per_block_optin and accumulator <= 128:
            kept.append(config)
    return kept or configs[:1]
    ### END SOLUTION


@triton.autotune(
    configs=matmul_configs(),
    key=["M", "N", "K"],
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
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, with tiles ordered in groups of rows."""
    pid = tl.program_id(axis=0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)

    # In 64 bits, because an offset can exceed 2**31 elements.
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
    # 2. The grid has one program for each tile, on one axis. It depends on the tile's sides, which
    #    are not known yet: make it a function of the meta-parameters.
    # 3. Launch without any meta-parameter: the autotuner supplies them.
    ### BEGIN SOLUTION
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)

    def grid(meta):
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)

    autotuned_matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    return c
    ### END SOLUTION
