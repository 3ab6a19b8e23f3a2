"""A stage less is counted on newer GPUs, and not on older ones."""

import itertools

import torch
import triton
import triton.language as tl


def matmul_configs():
    found = []
    for (m, n), (k, stages) in itertools.product([(32, 32), (64, 32), (64, 128)], [(32, 2), (64, 3)]):
        found.append(triton.Config(
            kwargs=dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, GROUP=4 if n < 128 else 16),
            num_warps=max(2, m * n // 1024),
            num_stages=stages,
        ))
    return found


def _bytes_of_stages(config, width, copies):
    shape = config.kwargs
    per_stage = shape["BLOCK_K"] * (shape["BLOCK_M"] + shape["BLOCK_N"])
    return per_stage * width * copies(config.num_stages)


def _accumulator_registers(config):
    threads = config.num_warps * 32
    return -(-config.kwargs["BLOCK_M"] * config.kwargs["BLOCK_N"] // threads)


def keep_what_fits(configs, named_args, **kwargs):
    first, *_ = configs
    sample = named_args["b_ptr"]
    if not sample.is_cuda:
        return [first]
    gpu = torch.cuda.get_device_properties(sample.device)
    copies = (lambda s: s - 1) if gpu.major > 8 else (lambda s: s)
    width = sample.dtype.itemsize
    kept = [
        c for c in configs
        if _bytes_of_stages(c, width, copies) <= gpu.shared_memory_per_block_optin
        and _accumulator_registers(c) < 128
    ]
    return kept if kept else [first]


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


def autotuned_matmul(a, b):
    (rows, depth), cols = a.shape, b.shape[1]
    out = a.new_empty((rows, cols))
    tiles = lambda cfg: (-(-rows // cfg["BLOCK_M"]) * -(-cols // cfg["BLOCK_N"]), 1, 1)
    autotuned_matmul_kernel[tiles](
        a, b, out, rows, cols, depth,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), out.stride(0), out.stride(1),
    )
    return out
