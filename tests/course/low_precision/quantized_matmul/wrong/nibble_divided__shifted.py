"""The shifted word is cut off by a remainder, which may be negative."""

import torch
import triton
import triton.language as tl

@triton.jit
def sixteen_rows(words, j, n, first_word, ps):
    t = tl.arange(0, 16)
    w = tl.load(words + (first_word + t // 8)[:, None] * ps[0] + (j * ps[1])[None, :],
                mask=(j < n)[None, :], other=0)
    return (w >> ((t & 7) << 2)[:, None]) % 16


@triton.jit
def by_groups(x, words, scales, zeros, y, m, n, groups, size, xs, ps, ss, zs,
              BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    j = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    t = tl.arange(0, 16)
    total = tl.zeros((BM, BN), tl.float32)
    for g in range(groups):
        z = tl.load(zeros + g * zs[0] + j * zs[1], mask=j < n, other=0).to(tl.int32)
        s = tl.load(scales + g * ss[0] + j * ss[1], mask=j < n, other=0).to(tl.float32)
        part = tl.zeros((BM, BN), tl.float32)
        for r in range(0, size, 16):
            k0 = g * size + r
            left = tl.load(x + i[:, None] * xs[0] + (k0 + t).to(tl.int64)[None, :] * xs[1],
                           mask=(i < m)[:, None], other=0.0)
            right = sixteen_rows(words, j, n, (k0 // 8).to(tl.int64), ps) - z[None, :]
            part += tl.dot(left, right.to(tl.float32).to(left.dtype))
        total += part * s[None, :]
    tl.store(y + i[:, None] * n + j[None, :], total.to(y.dtype.element_ty),
             mask=(i < m)[:, None] & (j < n)[None, :])


def quantized_matmul(a, packed_b, scales, zeros):
    m, k = a.shape
    groups, n = scales.shape
    c = a.new_empty((m, n))
    config = {"BM": 16, "BN": 32, "num_warps": 2, "num_stages": 2}
    by_groups[lambda o: (triton.cdiv(m, o["BM"]), triton.cdiv(n, o["BN"]))](
        a, packed_b, scales, zeros, c, m, n, groups, k // groups if groups else 0,
        a.stride(), packed_b.stride(), scales.stride(), zeros.stride(), **config,
    )
    return c
