"""Cases with paged lists: which page has which elements, and what is garbage.

The elements of a list are in pages of `page_size` slots, and a row of a table names the pages in
order. Slots of the last page and entries of the table after the list's length, and pages that no
list uses, contain old data or poison.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch

from graders.judge.bounds import Runs


@dataclass(frozen=True)
class Pages:
    """Distributes lists of these lengths over pages, drawn from a seed.

    `columns` is the width of the table, by default one more than the longest list needs. No list
    uses the `spare` pages. The first `shared` pages of all lists are the same.
    """

    lengths: tuple[int, ...]
    page_size: int
    columns: int | None = None
    spare: int = 3
    shared: int = 0

    @property
    def needed(self) -> list[int]:
        """How many pages each list needs."""
        return [-(-length // self.page_size) for length in self.lengths]

    @property
    def width(self) -> int:
        return max(self.needed, default=0) + 1 if self.columns is None else self.columns

    @property
    def count(self) -> int:
        """How many pages there are."""
        return sum(self.needed) + self.spare

    def table(self) -> list[list[int]]:
        """A row of page numbers for each list, in random order; after its length, any pages."""
        generator = torch.Generator().manual_seed(sum(self.lengths) + self.page_size)
        free = torch.randperm(self.count, generator=generator).tolist()
        any_page = torch.randint(
            max(1, self.count), (len(self.lengths), self.width), generator=generator
        )
        rows: list[list[int]] = []
        for number, need in enumerate(self.needed):
            mine, free = free[:need], free[need:]
            if rows:
                same = min(self.shared, need, self.needed[0])
                mine = rows[0][:same] + mine[same:]
            rows.append(mine + any_page[number, need:].tolist())
        return rows

    def unused_entries(self) -> Runs:
        """The places in the table, counted row after row, that are after a length."""
        starts = (number * self.width for number in range(len(self.lengths)))
        ends = zip(starts, self.needed, strict=True)
        return tuple((a + need, a + self.width - 1) for a, need in ends if need < self.width)

    def unused_slots(self) -> list[int]:
        """The slots, counted through all pages, that contain no element of any list."""
        used = {
            row[place // self.page_size] * self.page_size + place % self.page_size
            for row, length in zip(self.table(), self.lengths, strict=True)
            for place in range(length)
        }
        return [slot for slot in range(self.count * self.page_size) if slot not in used]


def runs(places: Iterable[int], size: int = 1) -> Runs:
    """Return neighbouring places as runs of elements; each place has `size` elements."""
    numbered = enumerate(places)
    grouped = (list(run) for _, run in groupby(numbered, lambda pair: pair[1] - pair[0]))
    return tuple((run[0][1] * size, run[-1][1] * size + size - 1) for run in grouped)


def flat(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the numbers of all rows, one after another."""
    return tuple(number for row in rows for number in row)
