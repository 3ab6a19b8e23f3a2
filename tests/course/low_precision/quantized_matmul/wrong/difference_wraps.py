"""q - zero is computed in uint8, which has no negative numbers."""

import dataclasses

import torch
import triton
import triton.language as tl


@dataclasses.dataclass
class Tile:
    bm: int = 16
    bn: int = 32
    bk: int = 32


@triton.jit
def _dequant(b_ptr, s_ptr, z_ptr, k0, rn, n, k, g, sbk, sbn, ssg, ssn, szg, szn, BK: tl.constexpr, BN: tl.constexpr):
    rw = k0 // 8 + tl.arange(0, BK // 8)
    wm = (rw[:, None] < k // 8) & (rn[None, :] < n)
    words = tl.load(b_ptr + rw[:, None] * sbk + rn[None, :] * sbn, mask=wm, other=0)
    shifts = tl.arange(0, 8) * 4
    q = (words[:, None, :] >> shifts[None, :, None]) & 0xF
    q = tl.reshape(q, (BK, BN))
    rk = k0 + tl.arange(0, BK)
    km = (rk[:, None] < k) & (rn[None, :] < n)
    grp = rk // g
    s = tl.load(s_ptr + grp[:, None] * ssg + rn[None, :] * ssn, mask=km, other=0.0).to(tl.float32)
    z = tl.load(z_ptr + grp[:, None] * szg + rn[None, :] * szn, mask=km, other=0)
    return (q.to(tl.uint8) - z).to(tl.float32) * s


@triton.jit
def _persistent_q(a_ptr, b_ptr, s_ptr, z_ptr, c_ptr, m, n, k, g, sam, sak, sbk, sbn, ssg, ssn, szg, szn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tm = tl.cdiv(m, BM)
    tn = tl.cdiv(n, BN)
    for t in range(tl.program_id(0), tm * tn, tl.num_programs(0)):
        rm = (t % tm) * BM + tl.arange(0, BM)
        rn = (t // tm) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), tl.float32)
        for k0 in range(0, k, BK):
            rk = k0 + tl.arange(0, BK)
            a = tl.load(a_ptr + rm[:, None] * sam + rk[None, :] * sak,
                        mask=(rm[:, None] < m) & (rk[None, :] < k), other=0.0)
            b = _dequant(b_ptr, s_ptr, z_ptr, k0, rn, n, k, g, sbk, sbn, ssg, ssn, szg, szn, BK, BN)
            acc += tl.dot(a.to(tl.float32), b, input_precision="ieee")
        tl.store(c_ptr + rm[:, None] * n + rn[None, :], acc.to(c_ptr.dtype.element_ty),
                 mask=(rm[:, None] < m) & (rn[None, :] < n))


def quantized_matmul(a, packed_b, scales, zeros):
    tile = Tile()
    m, k = a.shape
    n = packed_b.shape[1]
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m * n == 0:
        return c
    g = k // scales.shape[0] if scales.shape[0] else 16
    programs = min(8, triton.cdiv(m, tile.bm) * triton.cdiv(n, tile.bn))
    _persistent_q[(programs,)](a, packed_b, scales, zeros, c, m, n, k, g, a.stride(0), a.stride(1),
                               packed_b.stride(0), packed_b.stride(1), scales.stride(0), scales.stride(1),
                               zeros.stride(0), zeros.stride(1), BM=tile.bm, BN=tile.bn, BK=tile.bk)
    return c
