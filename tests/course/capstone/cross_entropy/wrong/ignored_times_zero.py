"""The loss of a row that does not count is multiplied by 0."""

import torch
import triton
import triton.language as tl


LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def join(m1, s1, m2, s2):
    m = tl.maximum(m1, m2)
    s = s1 * tl.exp2((m1 - m) * LOG2_E) + s2 * tl.exp2((m2 - m) * LOG2_E)
    return m, s


@triton.jit
def ce_rows(logits_ptr, targets_ptr, loss_ptr, n_rows, v, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    while row < n_rows:
        start_of_row = logits_ptr + row * row_stride
        m = tl.full((), -3.0e38, tl.float32)
        s = tl.zeros((), tl.float32)
        for b in range(0, tl.cdiv(v, BLOCK)):
            j = b * BLOCK + tl.arange(0, BLOCK)
            z = tl.load(start_of_row + j.to(tl.int64) * col_stride, mask=j < v, other=float("-inf")).to(tl.float32)
            bm = tl.maximum(tl.max(z, 0), -3.0e38)
            m, s = join(m, s, bm, tl.sum(tl.exp2((z - bm) * LOG2_E), 0))
        target = tl.load(targets_ptr + row)
        right = tl.load(start_of_row + target * col_stride, mask=target >= 0, other=0.0).to(tl.float32)
        loss = (m - right + tl.log(s)) * (target >= 0).to(tl.float32)
        tl.store(loss_ptr + row, loss)
        row += tl.num_programs(0)


def cross_entropy(logits, targets):
    n_rows, v = logits.shape
    loss = torch.empty(n_rows, device=logits.device, dtype=torch.float32)
    if n_rows == 0:
        return loss
    ce_rows[(min(n_rows, 16),)](logits, targets, loss, n_rows, v, logits.stride(0), logits.stride(1),
                               BLOCK=min(512, triton.next_power_of_2(max(v, 1))))
    return loss
