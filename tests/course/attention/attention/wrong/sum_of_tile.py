"""The sum of the weights runs over the queries of the tile, too."""

import torch
import triton
import triton.language as tl

@triton.jit
def score_tile(Qt, kp, ks, j, dim, i, N, scale, CAUSAL: tl.constexpr):
    kt = tl.load(kp + j[None, :] * ks[2] + dim[:, None] * ks[3], mask=(j < N)[None, :], other=0.0)
    s = tl.dot(Qt, kt, input_precision="ieee") * scale
    seen = (j < N)[None, :]
    if CAUSAL:
        seen = seen & (j[None, :] <= i[:, None])
    return tl.where(seen, s, float("-inf"))


@triton.jit
def three_walks(q, k, v, o, qs, ks, vs, os, M, N, scale,
                CAUSAL: tl.constexpr, D: tl.constexpr, TILE: tl.constexpr):
    h = tl.program_id(1)
    b = tl.program_id(2)
    q += b * qs[0] + h * qs[1]
    k += b * ks[0] + h * ks[1]
    v += b * vs[0] + h * vs[1]
    o += b * os[0] + h * os[1]
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    dim = tl.arange(0, D)
    lane = tl.arange(0, TILE)
    Qt = tl.load(q + (i % M)[:, None] * qs[2] + dim[None, :] * qs[3])
    last = N
    if CAUSAL:
        last = min(N, tl.program_id(0) * TILE + TILE)
    top = tl.full((TILE,), float("-inf"), tl.float32)
    for j in range(0, last, TILE):
        top = tl.maximum(top, tl.max(score_tile(Qt, k, ks, j + lane, dim, i, N, scale, CAUSAL), 1))
    norm = tl.zeros((TILE,), tl.float32)
    for j in range(0, last, TILE):
        s = score_tile(Qt, k, ks, j + lane, dim, i, N, scale, CAUSAL)
        norm += tl.sum(tl.exp(s - top[:, None]), 1)
    acc = tl.zeros((TILE, D), tl.float32)
    norm = tl.sum(norm, 0)
    for j in range(0, last, TILE):
        s = score_tile(Qt, k, ks, j + lane, dim, i, N, scale, CAUSAL)
        p = tl.exp(s - top[:, None])
        vt = tl.load(v + (j + lane)[:, None] * vs[2] + dim[None, :] * vs[3],
                     mask=(j + lane < N)[:, None], other=0.0)
        acc += tl.dot(p.to(vt.dtype), vt, input_precision="ieee")
    tl.store(o + i[:, None] * os[2] + dim[None, :] * os[3], (acc / norm).to(o.dtype.element_ty),
             mask=(i < M)[:, None])


def attention(q, k, v, causal=False):
    out = q.new_empty(q.shape)
    stack = [(q, k, v, out)]
    while stack:
        group = stack.pop()
        dims = group[0].dim()
        if dims < 4:
            stack.append(tuple(t.unsqueeze(0) for t in group))
        elif dims > 4:
            stack.extend(zip(*(t.unbind(0) for t in group)))
        elif group[0].numel():
            B, H, M, D = group[0].shape
            three_walks[(triton.cdiv(M, 16), H, B)](
                *group, *(t.stride() for t in group), M, group[1].shape[2], 1.0 / D**0.5,
                CAUSAL=bool(causal), D=D, TILE=16,
            )
    return out
