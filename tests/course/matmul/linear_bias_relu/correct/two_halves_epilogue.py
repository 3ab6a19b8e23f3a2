import torch
import triton
import triton.language as tl


@triton.heuristics(
    {"EVEN": lambda a: a["M"] % a["BM"] == 0 and a["N"] % a["BN"] == 0 and a["K"] % a["BK"] == 0}
)
@triton.jit
def linear(
    x_ptr,
    w_ptr,
    b_ptr,
    y_ptr,
    M,
    N,
    K,
    xm,
    xk,
    wn,
    wk,
    sb,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    EVEN: tl.constexpr,
):
    m = tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64)
    n = tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK).to(tl.int64)
        if EVEN:
            x = tl.load(x_ptr + m[:, None] * xm + k[None, :] * xk)
            w = tl.load(w_ptr + k[:, None] * wk + n[None, :] * wn)
        else:
            x = tl.load(
                x_ptr + m[:, None] * xm + k[None, :] * xk,
                mask=(m[:, None] < M) & (k[None, :] < K),
                other=0.0,
            )
            w = tl.load(
                w_ptr + k[:, None] * wk + n[None, :] * wn,
                mask=(k[:, None] < K) & (n[None, :] < N),
                other=0.0,
            )
        acc += tl.dot(x, w, input_precision="ieee")
    acc = tl.permute(tl.reshape(acc, (BM, 2, BN // 2)), (0, 2, 1))
    left, right = tl.split(acc)
    n = tl.program_id(1) * BN + tl.arange(0, BN // 2).to(tl.int64)
    for half in tl.static_range(2):
        part = left if half == 0 else right
        nh = n + half * (BN // 2)
        bias = tl.load(b_ptr + nh * sb, mask=nh < N, other=0.0).to(tl.float32)
        part = tl.maximum(part + bias[None, :], 0.0)
        tl.store(
            y_ptr + m[:, None] * N + nh[None, :], part, mask=(m[:, None] < M) & (nh[None, :] < N)
        )


def linear_bias_relu(x, w, b):
    M, K = x.shape
    N = w.shape[0]
    y = torch.empty((M, N), dtype=x.dtype, device=x.device)
    if M and N:
        linear[(triton.cdiv(M, 32), triton.cdiv(N, 64))](
            x, w, b, y, M, N, K, *x.stride(), *w.stride(), b.stride(0), BM=32, BN=64, BK=32
        )
    return y
