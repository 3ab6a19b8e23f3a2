"""Takes the columns of b from the row tile."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    sam,
    sak,
    sbk,
    sbn,
    scm,
    scn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    G: tl.constexpr,
):
    pid = tl.program_id(0)
    tm = tl.cdiv(M, BM)
    tn = tl.cdiv(N, BN)
    g = pid // (G * tn)
    h = tl.minimum(tm - g * G, G)
    local = pid % (G * tn)
    rm = (g * G + local % h).to(tl.int64) * BM + tl.arange(0, BM)
    rn = (local // h).to(tl.int64) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK).to(tl.int64)
        x = tl.load(
            a + rm[:, None] * sam + rk[None, :] * sak,
            mask=(rm[:, None] < M) & (rk[None, :] < K),
            other=0.0,
        )
        y = tl.load(
            b + rk[:, None] * sbk + rm[None, :] * sbn,
            mask=(rk[:, None] < K) & (rm[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(x, y, input_precision="ieee")
    tl.store(
        c + rm[:, None] * scm + rn[None, :] * scn,
        acc.to(c.dtype.element_ty),
        mask=(rm[:, None] < M) & (rn[None, :] < N),
    )


def grouped_matmul(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel[(triton.cdiv(m, 32) * triton.cdiv(n, 32),)](
        a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), BM=32, BN=32, BK=32, G=4
    )
    return c
