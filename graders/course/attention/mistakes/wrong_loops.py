"""Attention as a wrong walk through the blocks of keys would compute it."""

from __future__ import annotations

import math

import torch

from graders.course.attention.mistakes.wrong_results import keys_or_values, scaled
from graders.course.attention.reference import attend, hide, scores
from graders.course.common.expected import WIDE_BLOCKS
from graders.course.reductions.mistakes.softmax_results import blocks, not_walked
from graders.judge.cases.compare import widened

KEY_BLOCKS = (16, 32, 64)  # usual numbers of keys for each step
SHORTEST = WIDE_BLOCKS[0]  # part of the keys
LARGEST_BLOCK = 256  # of keys, where the wrong result takes its time
PARTS = (16, 32, 48, 64, 96, 128, 256)  # usual lengths of a part of the keys
MOST_PARTS = 64
LOWEST = -103.0  # what lies below has the exp 0 in float32


def padding_counted(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Lanes beyond the last key count in the softmax.

    Their keys are zeros, copies of the last key, or the first keys again. Where keys are
    repeated, their values are either repeated too, or zeros.
    """
    n = k.shape[-2]
    extra = -n % block
    if not extra:
        return []
    weights = torch.exp(hide(scaled(q, k), causal))
    found = [(weights @ v) / (weights.sum(dim=-1, keepdim=True) + extra)]
    wrapped = (torch.full((extra,), n - 1), torch.arange(extra) % n)
    for again in wrapped if block <= LARGEST_BLOCK else ():
        more = weights[..., again]
        total = weights.sum(dim=-1, keepdim=True) + more.sum(dim=-1, keepdim=True)
        found += [weights @ v / total, (weights @ v + more @ v[..., again, :]) / total]
    return found


def missing_too_little(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Lanes beyond the last key get a finite score, and values of 0."""
    extra = -k.shape[-2] % block
    if not extra or not k.numel():
        return []
    s = hide(scaled(q, k), causal)
    weights = torch.exp(s)
    total = weights.sum(dim=-1, keepdim=True)
    return [(weights @ v) / (total + extra * math.exp(-low)) for low in (1.0, 5.0, 10.0, 20.0)]


def diagonal_skipped(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """Each query sees the blocks before its own alone; who sees nothing gets NaN or 0."""
    m, n = q.shape[-2], k.shape[-2]
    if not causal or block < 2 or not m:
        return None
    if block >= m:
        return torch.zeros_like(q)  # one block, and nobody sees it
    hidden = torch.arange(n) >= torch.arange(m)[:, None] // block * block
    return attend(scaled(q, k).masked_fill(hidden, -float("inf")), v)


def ends_too_early(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor] | None:
    """A causal walk ends before the last queries of its block, with blocks of keys of other sizes.

    It ends with the block of keys that holds the first query's own key, or its end is counted in
    blocks of keys where blocks of queries are meant.
    """
    m, n = q.shape[-2], k.shape[-2]
    if not causal or not m:
        return None
    first = torch.arange(m)[:, None] // block * block
    ends = [first + narrow for narrow in KEY_BLOCKS if narrow < block < m + narrow]
    ends += [(first // block + 1) * narrow for narrow in KEY_BLOCKS if narrow < block < m]
    s, keys = hide(scaled(q, k), True), torch.arange(n)
    return [attend(s.masked_fill(keys >= end, -float("inf")), v) for end in ends]


def first_keys(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    if not_walked(block, k.mT):
        return None
    s = hide(scaled(q, k), causal)
    return attend(s[..., :block], v[..., :block, :])


def fewer_keys(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Some keys are left out of the softmax.

    Those of the last block, where it is not full; those from number m on, where the loop runs
    over the queries; or the end of each step, where the loop steps by more than a block.
    """
    n = k.shape[-2]
    s = hide(scaled(q, k), causal)
    ends = {n // block * block, q.shape[-2]}
    found = [attend(s[..., :end], v[..., :end, :]) for end in ends if 0 < end < n]
    if SHORTEST < block < n:
        steps = [torch.arange(n) % block < length for length in (block // 2, block // 4)]
        found += [attend(s[..., seen], v[..., seen, :]) for seen in steps]
    return found


def same_block_again(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Keys, values or both are those of the first block in every step."""
    if not_walked(block, k.mT):
        return []
    lane = torch.arange(k.shape[-2]) % block
    return keys_or_values(q, k, v, causal, k[..., lane, :], v[..., lane, :])


def steps_of_elements(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """The pointers to keys, values or both go on by a block of elements, not of rows."""
    if not_walked(block, k.mT) or not k.numel():
        return []
    n, row = k.shape[-2], torch.arange(k.shape[-2])
    column = torch.arange(k.shape[-1])

    def misread(tensor: torch.Tensor) -> torch.Tensor:
        down, across = tensor.stride()[-2:]
        place = (row % block)[:, None] * down + (row // block * block)[:, None] + column * across
        heads = tensor.reshape(-1, n, tensor.shape[-1]) if tensor.ndim > 2 else tensor[None]
        last = (n - 1) * down + (tensor.shape[-1] - 1) * across
        lines = [head.as_strided((last + 1,), (1,))[place] for head in heads]
        return torch.stack(lines).view(tensor.shape)

    wide = widened((q, k, v))
    other_k, other_v = widened((misread(k), misread(v)))
    return keys_or_values(wide[0], wide[1], wide[2], causal, other_k, other_v)


def keys_reshaped(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """Each block of keys is reshaped to (d, block) where it should be transposed."""
    n, d = k.shape[-2:]
    if block > 4 * n or not k.numel():
        return None
    padded = torch.nn.functional.pad(k, (0, 0, 0, -n % block))
    tiles = padded.reshape(*k.shape[:-2], -1, d, block)
    s = (q[..., None, :, :] @ tiles).transpose(-2, -3).flatten(-2)[..., :n]
    return attend(hide(s / math.sqrt(d), causal), v)


def walk(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """For each block of keys exp(old - new maximum), the sum of its weights, and its output."""
    s = hide(scaled(q, k), causal)
    highest = torch.full((*s.shape[:-1], 1), -float("inf"), dtype=s.dtype)
    steps = []
    for part, values in zip(blocks(s, block), blocks(v.mT, block), strict=True):
        grown = torch.maximum(highest, part.amax(dim=-1, keepdim=True))
        weights = torch.exp(part - grown)
        kept = torch.exp(highest - grown)
        steps.append((kept, weights.sum(dim=-1, keepdim=True), weights @ values.mT))
        highest = grown
    return steps


def not_rescaled(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Sum, output or both keep their old maximum, or are rescaled by another factor.

    Or what is new is rescaled in place of what is old.
    """
    if not_walked(block, k.mT):
        return []
    steps = walk(block, q, k, v, causal)
    one = torch.ones_like(steps[0][0])

    def summed(which: int, power: float, new: bool = False) -> torch.Tensor:
        total = torch.zeros_like(steps[0][which])
        for number, step in enumerate(steps):
            factor = step[0] ** power if power > 0 or number else one
            total = total + step[which] * factor if new else total * factor + step[which]
        return total

    right = summed(2, 1.0), summed(1, 1.0)
    found = []
    for power in (0.0, -1.0, math.log2(math.e), math.log(2.0)):
        wrong = summed(2, power), summed(1, power)
        found += [wrong[0] / wrong[1], wrong[0] / right[1], right[0] / wrong[1]]
    newer = summed(2, 1.0, new=True), summed(1, 1.0, new=True)
    return [*found, newer[0] / newer[1], newer[0] / right[1]]


def last_block_alone(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """Output, sum or both are those of the last block of keys."""
    if causal or not_walked(block, k.mT):
        return []
    s = scaled(q, k)
    weights = torch.exp(s - s.amax(dim=-1, keepdim=True))
    last, total = blocks(weights, block)[-1], weights.sum(dim=-1, keepdim=True)
    output = last @ blocks(v.mT, block)[-1].mT
    of_last = last.sum(dim=-1, keepdim=True)
    return [output / total, output / of_last, weights @ v / of_last]


def divided_in_each_step(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """The output is divided by the sum so far in each step, and once more at the end, or not.

    Divided is either all that was summed, or what the step adds.
    """
    if not_walked(block, k.mT):
        return []
    steps = walk(block, q, k, v, causal)
    total, all_of_it, what_is_new = (torch.zeros_like(part) for part in (steps[0][1], q, q))
    for kept, weights, output in steps:
        total = total * kept + weights
        all_of_it = (all_of_it * kept + output) / total
        what_is_new = what_is_new * kept + output / total
    return [all_of_it, all_of_it / total, what_is_new, what_is_new / total]


def parts_not_merged(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """The keys are split into parts, which are averaged or added as they are.

    `block` is the length of a part, or how many parts there are.
    """
    n = k.shape[-2]
    lengths = {block, -(-n // block)}
    s = hide(scaled(q, k), causal)
    found = []
    for length in (length for length in lengths if SHORTEST <= length < n):
        parts = list(zip(blocks(s, length), blocks(v.mT, length), strict=True))
        averaged = sum((attend(part, values.mT) for part, values in parts), torch.zeros(()))
        tops = [torch.exp(part - part.amax(dim=-1, keepdim=True)) for part, _ in parts]
        output = sum(
            (top @ values.mT for top, (_, values) in zip(tops, parts, strict=True)), torch.zeros(())
        )
        total = sum((top.sum(dim=-1, keepdim=True) for top in tops), torch.zeros(()))
        found += [averaged / len(parts), averaged, output / total]
    return found


def by_whole_blocks(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """A key is hidden only where its whole block lies in the future."""
    m, n = q.shape[-2], k.shape[-2]
    if not causal or block < 2 or m < 2:
        return None
    hidden = torch.arange(n) // block > torch.arange(m)[:, None] // block
    return attend(scaled(q, k).masked_fill(hidden, -float("inf")), v)


def scaled_by_block(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor:
    """The scores are divided by the root of a block size."""
    return attend(hide(scores(q, k) / math.sqrt(block), causal), v)


def summed_over_tile(
    block: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> list[torch.Tensor]:
    """All queries of a tile are divided by one sum, of the weights of all of them.

    Rows of the tile behind the last query count nothing, or are queries of zeros, or the first
    ones again.
    """
    m, n = q.shape[-2], k.shape[-2]
    if not m or not n or block < 2 or block > LARGEST_BLOCK:
        return []
    s = hide(scaled(q, k), causal)
    weights = torch.exp(s - s.amax(dim=-1, keepdim=True))
    totals = weights.sum(dim=-1)
    extra, tile = -m % block, torch.arange(m) // block
    again = totals[..., torch.arange(extra) % m]
    behind = [torch.zeros_like(again), torch.full_like(again, n), again] if extra else [again]
    found = []
    for more in behind:
        padded = torch.cat([totals, more], dim=-1)
        of_tiles = padded.reshape(*totals.shape[:-1], -1, block).sum(dim=-1)
        found.append(weights @ v / of_tiles[..., tile, None])
    return found


def parts_not_rescaled(
    part: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """Parts of the keys are merged: their sums to the common maximum, their outputs as they are."""
    n = k.shape[-2]
    if part >= n or n > MOST_PARTS * part:
        return None
    s = hide(scaled(q, k), causal)
    top = s.amax(dim=-1, keepdim=True)
    total = torch.exp(s - top).sum(dim=-1, keepdim=True)
    output = torch.zeros_like(q)
    for keys in range(0, n, part):
        own = s[..., keys : keys + part]
        highest = own.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
        output = output + torch.exp(own - highest) @ v[..., keys : keys + part, :]
    return output / total


def underflowed_to_zero(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> torch.Tensor | None:
    """The maximum starts from 0 and the sum is kept from being 0: where all is far below, 0."""
    s = hide(scaled(q, k), causal)
    if not s.numel() or not bool((s.amax(dim=-1) < LOWEST).any()):
        return None
    s32 = s.float()
    weights = torch.exp(s32 - s32.amax(dim=-1, keepdim=True).clamp(min=0.0)).double()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / torch.where(total == 0, 1.0, total)
