"""Where nothing fits, the list is empty."""

import torch
import triton
import triton.language as tl


def matmul_configs() -> list[triton.Config]:
    def config(m, n, k, warps, stages):
        meta = {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}
        return triton.Config(meta, num_warps=warps, num_stages=stages)

    return [
        config(64, 64, 32, 4, 3),
        config(32, 64, 64, 4, 4),
        config(128, 64, 32, 4, 4),
        config(128, 128, 64, 8, 3),
        config(128, 256, 64, 16, 3),
    ]


def keep_what_fits(configs, named_args, **kwargs):
    a = named_args["a_ptr"]
    if a.device.type != "cuda":
        return configs[:1]
    properties = torch.cuda.get_device_properties(a.device)
    limit = properties.shared_memory_per_block_optin
    fitting = []
    for config in configs:
        m, n, k = (config.kwargs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        stages = config.num_stages if properties.major >= 9 else config.num_stages - 1
        shared = (m * k + k * n) * a.element_size() * stages
        registers = m * n / (32 * config.num_warps)
        if shared <= limit and registers <= 255 / 2:
            fitting.append(config)
    return fitting


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
    """Compute one BLOCK_M x BLOCK_N tile of c = a @ b, the tiles taken in groups of rows."""
    pid = tl.program_id(axis=0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP)

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
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)

    def grid(meta):
        return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)

    autotuned_matmul_kernel[grid](a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride())
    return c
