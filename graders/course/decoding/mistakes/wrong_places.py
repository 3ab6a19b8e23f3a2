"""Decoding from a paged cache with keys that are looked for in the wrong places."""

from __future__ import annotations

import math

import torch

from graders.course.common.expected import read_as
from graders.course.decoding.reference import (
    Cache,
    attend,
    attention_to,
    cache_of,
    decode_attention,
    gathered,
    head_map,
    pages_of,
    scores,
)
from graders.judge.cases.compare import widened

Tensor = torch.Tensor
Found = list[torch.Tensor]
NAN = float("nan")  # what nobody knows


def _counts(table: Tensor, lengths: Tensor, page_size: int) -> Tensor:
    return torch.arange(table.shape[1] * page_size) < lengths[:, None]


def _found_at(
    k_pages: Tensor, v_pages: Tensor, pages: Tensor, slots: Tensor, counts: Tensor
) -> Cache:
    """The cache with these places; NaN where one lies outside of the pages."""
    n_pages, page_size = k_pages.shape[:2]
    inside = (pages >= 0) & (pages < n_pages) & (slots >= 0) & (slots < page_size)
    cache = gathered(k_pages, v_pages, pages, slots, counts & inside)
    lost = (counts & ~inside)[..., None, None]
    return Cache(cache.k.masked_fill(lost, NAN), cache.v.masked_fill(lost, NAN), counts)


def _attended(q: Tensor, cache: Cache, heads: Tensor | None = None) -> Tensor:
    """The attention to a cache some of whose keys are not known: neither is the result then.

    `heads` says which key head each query head looks at, where that is not the right one.
    """
    lost = (cache.counts & cache.k.isnan().any(-1).any(-1)).any(-1)
    found = attention_to(q, cache) if heads is None else _with_heads(heads, q, cache)
    return found.masked_fill(lost[:, None, None], NAN)


def decode_anyway(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """Return the attention; NaN where a table leads outside of the pages."""
    return _counting(_counts(table, lengths, k.shape[1]), q, k, v, table, lengths)


# ---------------------------------------------------------------- lengths


def _counting(
    counts: Tensor, q: Tensor, k_pages: Tensor, v_pages: Tensor, table: Tensor, lengths: Tensor
) -> Tensor:
    pages, slots = pages_of(k_pages, table)
    return _attended(q, _found_at(k_pages, v_pages, pages, slots, counts))


def length_ignored(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """Every slot that the table tells of counts."""
    everything = torch.ones(len(table), table.shape[1] * k.shape[1], dtype=torch.bool)
    return _counting(everything, q, k, v, table, lengths)


def with_lengths(
    found: Tensor, q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Tensor:
    """The lengths are taken to be these, as far as the table goes."""
    return _counting(_counts(table, found, k.shape[1]), q, k, v, table, lengths)


def whole_pages(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """The last page counts as a whole."""
    full = -(-lengths // k.shape[1]) * k.shape[1]
    return with_lengths(full, q, k, v, table, lengths)


def last_page_left_out(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """Only full pages count."""
    return with_lengths(lengths // k.shape[1] * k.shape[1], q, k, v, table, lengths)


def one_key_more(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """`<=` in place of `<`; a sequence without keys may be left alone all the same."""
    again = (lengths + 1, torch.where(lengths > 0, lengths + 1, lengths))
    found = [with_lengths(more, q, k, v, table, lengths) for more in again]
    cache = cache_of(k, v, table, lengths)
    if cache.counts.any():  # its key and its value are loaded as 0, and so is its score
        s = scores(q, cache) / math.sqrt(q.shape[-1])
        share = torch.sigmoid(torch.logsumexp(s, dim=-1, keepdim=True))
        found.append(attention_to(q, cache) * share)
    return found


def one_key_less(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """The last key, or the first one, is left out."""
    counts = _counts(table, lengths, k.shape[1])
    counts[:, :1] = False
    return [
        with_lengths(lengths - 1, q, k, v, table, lengths),
        _counting(counts, q, k, v, table, lengths),
    ]


def length_of_another(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """Each sequence has the length of a neighbour, of the first or last one, or the extreme."""
    if not len(lengths):
        return []
    same = torch.ones_like(lengths)
    known = (same * lengths[0], same * lengths[-1], same * lengths.max(), same * lengths.min())
    turned = (lengths.roll(1), lengths.roll(-1), lengths.flip(0))
    return [with_lengths(other, q, k, v, table, lengths) for other in (*known, *turned)]


# ---------------------------------------------------------------- the table


def _with_pages(
    pages: Tensor, q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Tensor:
    """Key i lies in pages[:, i // page_size]."""
    slots = pages_of(k, table)[1]
    found = pages.long().repeat_interleave(k.shape[1], dim=1)
    return _attended(q, _found_at(k, v, found, slots, _counts(table, lengths, k.shape[1])))


def table_ignored(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """Page after page, as they lie: from the first one for all, or for each sequence its share."""
    width, needed = table.shape[1], -(-lengths.long() // k.shape[1])
    column = torch.arange(width).expand(len(table), -1)
    number = torch.arange(len(table))[:, None]
    before = (needed.cumsum(0) - needed)[:, None]
    orders = (column, column + number * width, column + before, column + number)
    return [_with_pages(pages, q, k, v, table, lengths) for pages in orders]


def row_of_another(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """The pages of another sequence: of the first one, a neighbour; or the table is misread."""
    if len(table) < 2 or not table.numel():
        return []
    number, column = torch.arange(len(table))[:, None], torch.arange(table.shape[1])
    last = table.numel() - 1
    misread = [number * step + column for step in (table.shape[1] - 1, table.shape[1] + 1, 1)]
    misread.append(number + column * len(table))
    line = table.reshape(-1)
    tables = [table[:1].expand_as(table), table.roll(1, 0), table.roll(-1, 0)]
    tables += [line[places.clamp(max=last)] for places in misread]
    return [_with_pages(pages, q, k, v, table, lengths) for pages in tables]


def one_page_for_all(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """Each step reads the first page of the sequence again."""
    if not table.numel():
        return []
    return [_with_pages(table[:, :1].expand_as(table), q, k, v, table, lengths)]


def page_by_block(
    block: int, q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Found:
    """Keys are divided by another number than the page size, or one page serves a whole block."""
    page_size, width = k.shape[1], table.shape[1]
    if block == page_size or not table.numel():
        return []
    counts = _counts(table, lengths, page_size)
    keys = torch.arange(width * page_size)
    slots = (keys % page_size).expand(len(table), -1)
    found = []
    for column, slot in (
        (keys // block, (keys % block).expand(len(table), -1)),
        (keys // block, slots),
        (keys // block * block // page_size, slots),
        (keys // block * block // page_size, (keys % block).expand(len(table), -1)),
    ):
        outside = column >= width
        pages = table[:, column.clamp(max=width - 1)].long().masked_fill(outside, -1)
        found.append(_attended(q, _found_at(k, v, pages, slot, counts)))
    return found


# ---------------------------------------------------------------- within the pages


def _in_slots(
    flat: Tensor, q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Tensor:
    """Keys lie in these slots, counted through all pages."""
    counts = _counts(table, lengths, k.shape[1])
    page_size = max(1, k.shape[1])
    return _attended(q, _found_at(k, v, flat // page_size, flat % page_size, counts))


def page_and_slot_exchanged(
    q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Tensor | None:
    """Key i is slot i // page_size of the page that the table has in column i % page_size."""
    width, page_size = table.shape[1], k.shape[1]
    if not width:
        return None
    place = torch.arange(width * page_size)
    column = place % page_size
    known = table.long()[:, column.clamp(max=width - 1)]
    pages = torch.where(column < width, known, -1)
    slots = (place // page_size).expand_as(pages)
    return _attended(q, _found_at(k, v, pages, slots, _counts(table, lengths, page_size)))


def slot_not_modulo(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """The place in the sequence stands for the place in the page."""
    pages = pages_of(k, table)[0]
    return _in_slots(pages * k.shape[1] + torch.arange(pages.shape[1]), q, k, v, table, lengths)


def page_not_multiplied(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """A page number counts as a slot number."""
    pages, slots = pages_of(k, table)
    return _in_slots(pages + slots, q, k, v, table, lengths)


def slot_forgotten(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """Every key is the first one of its page."""
    return _in_slots(pages_of(k, table)[0] * k.shape[1], q, k, v, table, lengths)


def values_elsewhere(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """The keys are right, and the values are those of a mistake above."""
    right = cache_of(k, v, table, lengths)
    pages, slots = pages_of(k, table)
    places = (
        (pages * k.shape[1] + torch.arange(pages.shape[1])),
        (pages + slots),
        torch.arange(pages.shape[1]).expand_as(pages),
        pages * k.shape[1],
    )
    size = max(1, k.shape[1])
    others = [_found_at(k, v, flat // size, flat % size, right.counts) for flat in places]
    found = [_attended(q, Cache(right.k, other.v, right.counts)) for other in others]
    return found + [_attended(q, Cache(other.k, right.v, right.counts)) for other in others]


# ---------------------------------------------------------------- heads


def _with_heads(heads: Tensor, q: Tensor, cache: Cache) -> Tensor:
    s = scores(q, cache, heads) / math.sqrt(q.shape[-1])
    return attend(s, cache, heads)


def heads_interleaved(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """Query head h looks at key head h % hkv; with its keys, its values, or both."""
    cache = cache_of(k, v, table, lengths)
    right, wrong = head_map(q, cache), torch.arange(q.shape[1]) % max(1, k.shape[2])
    s = scores(q, cache, wrong) / math.sqrt(q.shape[-1])
    mixed = scores(q, cache, right) / math.sqrt(q.shape[-1])
    return [attend(s, cache, wrong), attend(s, cache, right), attend(mixed, cache, wrong)]


def another_key_head(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """All query heads look at one key head, or at those that another division gives."""
    cache = cache_of(k, v, table, lengths)
    head, n = torch.arange(q.shape[1]), max(1, k.shape[2])
    maps = (head * 0, head.clamp(max=n - 1), head // n % n, head * 0 + n - 1)
    beyond = _heads_beyond(q, k, v, table, lengths)
    return [*(_with_heads(heads, q, cache) for heads in maps), beyond]


def _heads_beyond(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Tensor:
    """Query head h takes row h of the slot: beyond its key heads follow those of the next slots."""
    pages, slots = pages_of(k, table)
    page_size, n = max(1, k.shape[1]), max(1, k.shape[2])
    counts, head = _counts(table, lengths, k.shape[1]), torch.arange(q.shape[1])
    result = torch.empty_like(q)
    for step in range(-(-q.shape[1] // n)):
        flat, mine = pages * page_size + slots + step, head // n == step
        cache = _found_at(k, v, flat // page_size, flat % page_size, counts)
        result[:, mine] = _attended(q[:, mine], cache, head[mine] % n)
    return result


def another_query(q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor) -> Found:
    """The query is that of another head of the group, or of another sequence.

    Or the results of the heads stand in another order.
    """
    if not q.numel():
        return []
    cache = cache_of(k, v, table, lengths)
    n = k.shape[2]
    group = q.shape[1] // n
    head = torch.arange(q.shape[1])
    kv, member = head // group, head % group
    orders = (kv * group, kv, member, member * n + kv, kv * group + (member + 1) % group)
    others = [q[:, order] for order in orders]
    found = [attention_to(other, cache) for other in (*others, q[:1].expand_as(q), q.roll(1, 0))]
    right = attention_to(q, cache)
    return [*found, right[:, head % n * group + head // n], right[:, kv * group]]


# ---------------------------------------------------------------- strides


def read_like_another(*args: Tensor) -> Found:
    """Keys are read with the strides of the values, or the other way round."""
    q, k, v, table, lengths = args
    if k.stride() == v.stride():
        return []
    shape = tuple(k.shape)
    like_v, like_k = read_as(k, shape, v.stride()), read_as(v, shape, k.stride())
    pairs = ((like_v, v), (k, like_k))
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    return [decode_attention(*widened((q, *pair, table, lengths))) for pair in known]


def table_read_as_dense(
    q: Tensor, k: Tensor, v: Tensor, table: Tensor, lengths: Tensor
) -> Tensor | None:
    """The numbers of pages are taken to be neighbours, in rows as far apart as they are."""
    read = read_as(table, tuple(table.shape), (table.stride(0), 1))
    if read is None or table.stride(1) == 1:
        return None
    return decode_attention(*widened((q, k, v, read, lengths)))


def slots_and_heads_exchanged(*args: Tensor) -> Found:
    """Slots go by the stride of heads and heads by that of slots; or so memory is thought to be."""
    q, k, v, table, lengths = args
    _, page_size, n_heads, d = k.shape
    found = []
    for which in ((k, v), (k,), (v,)):
        for own in (True, False):
            read = {}
            for tensor in which:
                page, slot, head, across = tensor.stride()
                swapped = (page, head, slot, across) if own else (page, d, page_size * d, 1)
                read[id(tensor)] = read_as(tensor, tuple(tensor.shape), swapped)
            if all(one is not None for one in read.values()):
                pair = (read.get(id(k), k), read.get(id(v), v))
                found.append(decode_attention(*widened((q, *pair, table, lengths))))
    return found if n_heads > 1 else []
