"""Without a GPU nothing is ruled out."""

import torch
import triton
import triton.language as tl


def matmul_configs():
    return [
        triton.Config({'BLOCK_M': 64, 'BLOCK_N': 32, 'BLOCK_K': 64, 'GROUP': 8}, num_stages=2, num_warps=4),
        triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32, 'GROUP': 8}, num_stages=4, num_warps=4),
        triton.Config({'BLOCK_M': 128, 'BLOCK_N': 128, 'BLOCK_K': 32, 'GROUP': 8}, num_stages=4, num_warps=8),
        triton.Config({'BLOCK_M': 128, 'BLOCK_N': 256, 'BLOCK_K': 64, 'GROUP': 8}, num_stages=3, num_warps=8),
    ]


def keep_what_fits(configs, named_args, **kwargs):
    x = [v for v in named_args.values() if torch.is_tensor(v)][0]
    if not x.is_cuda:
        return configs  # no shared memory here, nothing to prune
    smem = torch.cuda.get_device_properties(x.device).shared_memory_per_block_optin

    def fits(c):
        BM, BN, BK = c.kwargs['BLOCK_M'], c.kwargs['BLOCK_N'], c.kwargs['BLOCK_K']
        if BM * BN > 128 * 32 * c.num_warps:  # accumulator: at most 128 registers a thread
            return False
        return c.num_stages * BK * (BM + BN) * x.element_size() <= smem

    return [c for c in configs if fits(c)] or [configs[0]]


@triton.autotune(
    configs=matmul_configs(),
    key=['M', 'N', 'K'],
    prune_configs_by={'early_config_prune': keep_what_fits},
)
@triton.heuristics({'EVEN_K': lambda args: args['K'] % args['BLOCK_K'] == 0})
@triton.jit
def _matmul(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_bk, stride_bn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
    EVEN_K: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // num_pid_n, pid % num_pid_n, num_pid_m, num_pid_n, GROUP)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    am = (offs_m % M).to(tl.int64)  # wrap around, the store is masked
    bn = (offs_n % N).to(tl.int64)
    a_ptrs = a_ptr + am[:, None] * stride_am + offs_k[None, :].to(tl.int64) * stride_ak
    b_ptrs = b_ptr + offs_k[:, None].to(tl.int64) * stride_bk + bn[None, :] * stride_bn
    step_a = tl.cast(stride_ak, tl.int64) * BLOCK_K
    step_b = tl.cast(stride_bk, tl.int64) * BLOCK_K
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
            b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision='ieee')
        a_ptrs += step_a
        b_ptrs += step_b
    c = accumulator.to(c_ptr.dtype.element_ty)
    c_ptrs = c_ptr + offs_m[:, None].to(tl.int64) * N + offs_n[None, :]
    tl.store(c_ptrs, c, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))


def autotuned_matmul(a, b):
    M, K = a.shape
    K, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    if c.numel() == 0:
        return c
    grid = lambda META: (triton.cdiv(M, META['BLOCK_M']) * triton.cdiv(N, META['BLOCK_N']), )
    _matmul[grid](a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1))
    return c
