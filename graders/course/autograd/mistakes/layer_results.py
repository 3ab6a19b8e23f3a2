"""The gradients of relu(x @ w.T + b), as mistakes would compute them: (dx, dw, db)."""

from __future__ import annotations

import torch

from graders.course.autograd.reference import Three, layer_backward, layer_gradients, passed
from graders.course.common.detectors import RACES, READS_OUTSIDE, has_fault
from graders.course.common.expected import read_as
from graders.judge.cases.compare import widened
from graders.judge.diagnosis.matching import close
from graders.judge.records import Evidence

Forms = list[tuple[torch.Tensor | None, ...]]
MOST_STEPS = 64


def mask_missing(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Three:
    return layer_gradients(dout, x, w)


def mask_reversed(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Three:
    return layer_gradients(torch.where(out > 0, torch.zeros_like(dout), dout), x, w)


def mask_of_another(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """The mask comes from dout, from x or from w, as far as the shapes agree."""
    found: Forms = [layer_gradients(dout.clamp(min=0.0), x, w)]
    for other in (x, w):
        if other.shape == out.shape:
            found.append(layer_gradients(passed(other, dout), x, w))
    right = layer_backward(x, w, out, dout)
    return [*found, (right[0] * (x > 0), right[1] * (w > 0), None)]


def out_multiplied(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """out is a factor in place of a mask; or it takes the place of dout."""
    return [layer_gradients(dout * out, x, w), layer_gradients(out, x, w)]


def mask_multiplied(evidence: Evidence) -> bool:
    """Whether the result is NaN just where dout times 0 or 1 leads to NaN."""
    if evidence.actual is None:
        return False
    x, w, out, dout = widened(evidence.args)
    wrong = layer_gradients(dout * (out > 0), x, w)[evidence.result].isnan()
    return torch.equal(evidence.actual.isnan(), wrong) and not torch.equal(
        evidence.expected.isnan(), wrong
    )


def sign_taken(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Three:
    """Only where the ReLU let something pass counts, not the gradient that came."""
    return layer_gradients((out > 0).to(dout.dtype), x, w)


def factor_not_turned(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """w, x or g is read with its rows and columns exchanged, where its storage allows."""
    wide = widened((x, w, out, dout))
    g = passed(wide[2], wide[3])
    found: Forms = []
    turned_w = read_as(w, tuple(w.shape), (w.stride(1), w.stride(0)))
    dense_w = read_as(w, tuple(w.shape), (1, w.shape[0]))
    found += [
        (g @ other.double(), None, None) for other in (turned_w, dense_w) if other is not None
    ]
    turned_x = read_as(x, tuple(x.shape), (x.stride(1), x.stride(0)))
    found += [(None, g.t() @ turned_x.double(), None)] if turned_x is not None else []
    if g.shape[0] == g.shape[1]:
        found.append(layer_gradients(g.t(), wide[0], wide[1]))
    return found


def dw_transposed(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Forms:
    """dw is x.T @ g: stored into a tensor of the right shape, or of a square one."""
    dw = layer_backward(x, w, out, dout)[1]
    return [(None, dw.t().reshape(dw.shape), None)]


def db_along_rows(x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor) -> Forms:
    """db holds the sums of the rows of g, as many as there is room for."""
    g = passed(out, dout)
    m, n = g.shape
    return [(None, None, g.sum(dim=1)[:n])] if m >= n else []


def divided_by_rows(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Three | None:
    """dw and db are means over the batch."""
    m = x.shape[0]
    dx, dw, db = layer_backward(x, w, out, dout)
    return (dx / m, dw / m, db / m) if m else None


def db_of_one(
    block: int, x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """db holds the first or the last block of rows."""
    g = passed(out, dout)
    m = g.shape[0]
    if not block < m:
        return []
    last = (m - 1) // block * block
    return [(None, None, g[:block].sum(dim=0)), (None, None, g[last:].sum(dim=0))]


def db_of_every_tile(
    block: int, x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """Each column of tiles of dw (or of dx) adds all of db once more."""
    times = -(-x.shape[1] // block)
    return [(None, None, times * layer_backward(x, w, out, dout)[2])] if times > 1 else []


def without_columns(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> tuple[torch.Tensor | None, ...] | None:
    """db is 0 where x has no columns."""
    return (None, None, torch.zeros_like(out[0])) if not x.shape[1] and len(out) else None


def sums_cut(
    block: int, x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """The sums run over the first block, or over full blocks alone."""
    g = passed(out, dout)
    m, n = g.shape
    found: Forms = []
    for of_m, of_n in {(block, block), (m // block * block, n // block * block)}:
        if of_n < n:
            found.append((g[:, :of_n] @ w[:of_n], None, None))
        if of_m < m:
            found.append((None, g[:of_m].t() @ x[:of_m], g[:of_m].sum(dim=0)))
    return found


def last_block_alone(
    block: int, x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """The sums hold what the last step added."""
    g = passed(out, dout)
    m, n = g.shape
    found: Forms = []
    if block < n:
        start = (n - 1) // block * block
        found.append((g[:, start:] @ w[start:], None, None))
    if block < m:
        start = (m - 1) // block * block
        found.append((None, g[start:].t() @ x[start:], g[start:].sum(dim=0)))
    return found


def block_repeated(
    block: int, x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Forms:
    """Every step of the loop meets the first block of one factor, or of both."""
    g = passed(out, dout)
    m, n = g.shape
    found: Forms = []
    if block < n <= MOST_STEPS * block:
        lane = torch.arange(n) % block
        found += [
            (a @ b, None, None) for a, b in ((g[:, lane], w), (g, w[lane]), (g[:, lane], w[lane]))
        ]
    if block < m <= MOST_STEPS * block:
        lane = torch.arange(m) % block
        pairs = ((g[lane], x), (g, x[lane]), (g[lane], x[lane]))
        found += [(None, a.t() @ b, a.sum(dim=0)) for a, b in pairs]
    return found


def dout_like_out(
    x: torch.Tensor, w: torch.Tensor, out: torch.Tensor, dout: torch.Tensor
) -> Three | None:
    """dout is read with the strides of out, or out with those of dout."""
    if out.stride() == dout.stride():
        return None
    read = read_as(dout, tuple(dout.shape), out.stride())
    return None if read is None else layer_backward(*widened((x, w, out, read)))


def dout_left(evidence: Evidence) -> bool:
    """Tell whether dout alone was left, where it does not lie as out does."""
    left = {fault.argument for fault in evidence.faults if fault.code in READS_OUTSIDE}
    out, dout = evidence.args[2:]
    return len(left) == 1 and out.stride() != dout.stride() and not dout.is_contiguous()


def db_raced(evidence: Evidence) -> bool:
    """Tell whether programs raced, and neither dx nor dw shows it."""
    if not has_fault(evidence, RACES):
        return False
    actual = evidence.actual
    return evidence.result == 2 or (
        actual is not None and bool(close(actual, evidence.expected).all())
    )


def rows_left(evidence: Evidence) -> bool:
    """Tell whether the kernel left a factor, where no matrix is square."""
    shapes = [tensor.shape for tensor in evidence.args[:3]]
    return all(rows != columns for rows, columns in shapes) and has_fault(evidence, READS_OUTSIDE)
