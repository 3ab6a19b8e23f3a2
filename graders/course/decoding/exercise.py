"""What counts as solved in the lesson on decoding: one query to keys that lie in pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from graders.course.attention.exercise import WEIGHTS_ROUNDED
from graders.course.decoding.mistakes.records import MISTAKES
from graders.course.decoding.mistakes.remarks import PURPOSE
from graders.course.decoding.reference import decode_attention, decode_magnitude
from graders.judge.cases.builders import HALVES, Maker, cases
from graders.judge.cases.pages import Pages, flat, runs
from graders.judge.records import Arg, Case, Exercise, TensorSpec, View

VIEWS: tuple[View, ...] = (
    "sliced",
    "transposed",
    "offset",
    "stepped_rows",
    "stepped_columns",
    "interleaved",
)
Own = tuple[View, View, View, View]  # of q, of the keys, of the values, of the table


def arguments(pages: Pages, garbage: bool = False, views: Own | None = None) -> Maker:
    """Return the maker of the five arguments, of the shape (query heads, key heads, d).

    garbage: entries and slots past a length hold poison. views: of each tensor its own.
    """
    table = flat(pages.table())
    size = (len(pages.lengths), pages.width)

    def make(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        n_heads, n_kv_heads, d = shape
        row = n_kv_heads * d
        q = TensorSpec((len(pages.lengths), n_heads, d), **spec)  # type: ignore[arg-type]
        k = TensorSpec((pages.count, pages.page_size, n_kv_heads, d), **spec)  # type: ignore[arg-type]
        entries = TensorSpec(size, torch.int32, values=tuple(map(float, table)))
        if garbage:
            k = replace(k, garbage=runs(pages.unused_slots(), row))
            entries = replace(entries, garbage=pages.unused_entries())
        lengths = tuple(map(float, pages.lengths))
        count = TensorSpec((len(lengths),), torch.int32, values=lengths)
        own = views or (q.view, k.view, k.view, "contiguous")
        tensors = zip((q, k, k, entries), own, strict=True)
        return (*(replace(tensor, view=view) for tensor, view in tensors), count)

    return make


def opposed(make: Maker) -> Maker:
    """Return the maker of q and keys that point away from each other: all scores far below 0."""

    def made(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        q, k, *others = make(shape, **spec)
        far = (replace(arg, shift=by) for arg, by in ((q, 6.0), (k, -6.0)))  # type: ignore[type-var]
        return (*far, *others)

    return made


def even(make: Maker) -> Maker:
    """Return the maker of keys that all weigh the same, and of values that hardly differ.

    Each block adds nearly the same to the sums. One that is kept in 16 bits is rounded the same way
    in each step: with 1.03 for a key, a block of 2**n keys brings a little more than 2**n.
    """

    def made(shape: tuple[int, ...], **spec: object) -> tuple[Arg, ...]:
        q, k, v, *others = make(shape, **spec)
        none = replace(q, fill="zeros")  # type: ignore[type-var]
        alike = replace(v, scale=0.01, shift=1.03)  # type: ignore[type-var]
        return (none, k, alike, *others)

    return made


def decoded(
    lengths: Sequence[int],
    page_size: int,
    heads: Sequence[tuple[int, int, int]] = ((8, 2, 32),),
    *,
    garbage: bool = False,
    of: dict[str, Any] | None = None,
    own: Own | None = None,
    drawn: Callable[[Maker], Maker] | None = None,
    also: str = "",
    **more: Any,
) -> tuple[Case, ...]:
    """Return a case for each (query heads, key heads, d), of sequences of these lengths.

    of: more of `Pages`. own: the views of q, keys, values and table. drawn: changes the numbers.
    """
    pages = Pages(tuple(lengths), page_size, **(of or {}))
    make = arguments(pages, garbage, own)
    told = "lengths " + " ".join(map(str, lengths)) if lengths else "no sequences"
    if len(lengths) > 6:
        told = f"{len(lengths)} sequences"
    label = f"page {page_size}, {told}{', garbage behind' if garbage else ''}{also}"
    axes = "heads key_heads d"
    return cases(drawn(make) if drawn else make, axes, heads, label=label, **more)


BEHIND = "Entries and slots past a length must not affect the result."
OWN_WAY = "Each tensor has its own strides."

DECODE_ATTENTION = Exercise(
    name="decode_attention",
    lesson="decoding",
    title="Attention of one query to a paged cache",
    parameters=("q", "k_pages", "v_pages", "block_table", "lengths"),
    reference=decode_attention,
    magnitude=decode_magnitude,
    tolerance=WEIGHTS_ROUNDED,
    cases=(
        *decoded([40, 25, 64], 16, [(4, 4, 32), (8, 2, 32)], why="Pages in any order."),
        *decoded([37, 90, 16], 16, [(8, 2, 32)], garbage=True, why=BEHIND),
        *decoded([300, 77], 16, [(8, 2, 32)], why="Several blocks of keys, the last not full."),
        *decoded([50, 33], 16, [(6, 2, 16), (6, 3, 16)], why="A group need not be a power of 2."),
        *decoded([0, 30, 5], 16, [(4, 2, 16)], why="A sequence without keys gives zeros."),
        *decoded([1100, 3, 500], 16, [(8, 2, 16)], why="Many parts, some of them without keys."),
        *decoded([41, 29, 70], 32, [(4, 2, 16)], why="A page may be as long as a block, or not."),
        *decoded([41, 29, 23], 5, [(4, 2, 16)], why="A page may have any number of slots."),
        *decoded([21, 40], 8, [(4, 2, 16)], engine_orders=True),
        *decoded([700, 0, 61, 129], 16, [(4, 2, 16)], garbage=True, why=BEHIND),
        *decoded([16, 32, 48], 16, part="edges", why="Lengths at the end of a page."),
        *decoded([15, 17, 31, 33, 1, 2], 16, garbage=True, part="edges", why=BEHIND),
        *decoded([63, 64, 65, 127, 128, 129], 16, part="edges", garbage=True, why=BEHIND),
        *decoded([48, 31], 16, of={"columns": 3}, part="edges", why="The table is full."),
        *decoded([0, 0], 16, part="edges", garbage=True, why="No keys at all."),
        *decoded([0, 0], 16, of={"columns": 0, "spare": 0}, part="edges", also=", no pages"),
        *decoded([], 16, part="edges"),
        *decoded([9, 4], 1, part="edges", garbage=True, why="Each key has a page of its own."),
        *decoded([100, 30], 128, part="edges", garbage=True, why="One page is enough for each."),
        *decoded([20, 35], 16, [(1, 1, 16), (8, 1, 16), (20, 1, 16), (34, 2, 16)], part="edges"),
        *decoded([20, 35], 16, [(2, 1, 128), (2, 1, 256)], part="edges"),
        *decoded([50, 40, 70], 16, of={"shared": 2}, part="edges", also=", two pages shared"),
        *decoded([5] * 9, 4, [(2, 1, 16)], part="edges", why="Many short sequences."),
        *decoded([60, 45], 16, part="types", dtypes=HALVES),
        *decoded([200, 0, 31], 16, garbage=True, part="types", dtypes=HALVES, why=BEHIND),
        *decoded([150, 90], 16, part="types", scale=6.0, why="Large scores."),
        *decoded([150, 90], 16, part="types", shift=1.5, why="Scores far from 0."),
        *decoded(
            [150, 45],
            16,
            [(4, 2, 16)],
            drawn=opposed,
            part="types",
            also=", opposed",
            why="Every score is far below zero.",
        ),
        *decoded(
            [4096],
            16,
            [(2, 1, 16)],
            of={"columns": 256},
            drawn=even,
            part="types",
            dtypes=HALVES,
            also=", even",
            why="Sums of many keys with equal weights.",
        ),
        *decoded([60, 45], 16, part="types", scale=0.01, why="Tiny scores."),
        *decoded([60, 45], 16, part="types", fills=["zeros"]),
        *decoded([40, 25, 64], 16, [(4, 2, 16)], part="views", views=VIEWS),
        *decoded(
            [35, 50],
            16,
            [(4, 2, 16)],
            own=("contiguous", "interleaved", "contiguous", "contiguous"),
            part="views",
            also=", keys with heads before slots",
            why=OWN_WAY,
        ),
        *decoded(
            [35, 50],
            16,
            [(4, 2, 16)],
            own=("transposed", "sliced", "stepped_columns", "contiguous"),
            part="views",
            also=", each its own",
            why=OWN_WAY,
        ),
        *decoded(
            [35, 50, 22],
            8,
            [(4, 2, 16)],
            own=("contiguous", "contiguous", "contiguous", "sliced"),
            garbage=True,
            part="views",
            also=", table sliced",
            why="The table has strides, too.",
        ),
        *decoded(
            [35, 50, 22],
            8,
            [(4, 2, 16)],
            own=("stepped_rows", "contiguous", "contiguous", "transposed"),
            part="views",
            also=", table transposed",
            why="The table has strides, too.",
        ),
        *decoded(
            [20, 33],
            16,
            [(4, 2, 16)],
            own=("contiguous", "far", "contiguous", "contiguous"),
            part="views",
            also=", keys far",
            why="Elements more than 2**31 from the first one.",
            dtypes=[torch.float16],
        ),
        *decoded(
            [20, 33],
            16,
            [(4, 2, 16)],
            own=("contiguous", "contiguous", "far", "contiguous"),
            part="views",
            also=", values far",
            why="Elements more than 2**31 from the first one.",
            dtypes=[torch.float16],
        ),
    ),
    large=(
        *decoded([5000, 0, 6_345, 20_000], 16, [(32, 8, 128)], part="edges", dtypes=HALVES),
        *decoded([1, 900, 333] * 40, 16, [(8, 2, 64)], part="edges", garbage=True, why=BEHIND),
    ),
    hints=(
        "Start from the loop of lesson 13 and change three things. The rows of a tile are the "
        "query heads of one group. The table gives the address of a key. A program handles "
        "only its part of the keys. In which page and slot is key i of your sequence?",
        "The page is `tl.load(table_row + i // page_size * stride_p)`, the slot `i % "
        "page_size`, for a block of keys i. Use one mask, `keys < end`, for the loads of "
        "table, keys and values, and for the scores. Each part stores its output divided by "
        "its sum, and maximum + log(sum).",
        "Merge: load lse with -inf where `offs_p * part_size < length` is false. `weights = "
        "tl.exp(lse - tl.where(length > 0, tl.max(lse, axis=0), 0.0))`. Load `parts` with the "
        "same mask and `other=0.0`. Add `parts * weights[:, None]` over axis 0, and divide by "
        "`tl.where(length > 0, tl.sum(weights, axis=0), 1.0)`.",
    ),
    challenge="Weight the parts by exp(maximum) alone, without the sums: which cases still pass?",
    misconceptions=MISTAKES,
    remarks=PURPOSE,
    parts={"core": 4, "edges": 2, "types": 2, "views": 2},
)

EXERCISES = (DECODE_ATTENTION,)
