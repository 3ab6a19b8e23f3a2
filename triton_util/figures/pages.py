"""Figure of a paged cache: which keys are in which slots, and the page tables."""

from __future__ import annotations

from collections.abc import Sequence

from triton_util.figures.drawing import Drawing, Look, cell, label, panel

MOST_PAGES, MOST_SLOTS, MOST_SEQUENCES = 12, 8, 3
LOOKS: tuple[Look, ...] = ("active", "second", "third")
LEFT, WIDTH, HEIGHT, GAP = 2.2, 1.0, 0.8, 5.2


def pages(
    table: Sequence[Sequence[int]], lengths: Sequence[int], page_size: int, n_pages: int
) -> Drawing:
    """The pages of a cache, one in each row: A3 is key 3 of the first sequence.

    The table is beside them. Hatched slots, and table entries that are shown as a dash, are past
    the end of a sequence. Raises ValueError for more than 12 pages, 8 slots or 3 sequences.
    """
    if n_pages > MOST_PAGES or page_size > MOST_SLOTS or len(lengths) > MOST_SEQUENCES:
        raise ValueError(
            f"this picture shows at most {MOST_PAGES} pages, {MOST_SLOTS} slots, "
            f"{MOST_SEQUENCES} sequences"
        )
    owner = {
        (table[number][key // page_size], key % page_size): (number, key)
        for number, length in enumerate(lengths)
        for key in range(length)
    }
    columns = max(map(len, table), default=0)
    width = LEFT + WIDTH * page_size + GAP + WIDTH * columns + 0.4
    height = 1.3 + HEIGHT * max(n_pages, len(lengths))
    figure, axes = panel(max(6.0, 0.42 * width), 0.42 * height, width, height)
    label(axes, 0.2, 0.4, "the cache, page by page", 9, align="left")
    for page in range(n_pages):
        y = 0.9 + HEIGHT * page
        label(axes, LEFT - 0.2, y + HEIGHT / 2, f"page {page}", 9, align="right")
        for slot in range(page_size):
            number, key = owner.get((page, slot), (-1, -1))
            text, look = (f"{_letter(number)}{key}", LOOKS[number]) if number >= 0 else ("", "idle")
            cell(axes, LEFT + WIDTH * slot, y, text, look, WIDTH, HEIGHT, 8.5)
    x = LEFT + WIDTH * page_size + GAP
    label(axes, x, 0.4, "the table", 9, align="left")
    for number, length in enumerate(lengths):
        y, used = 0.9 + HEIGHT * number, -(-length // page_size)
        label(axes, x - 0.2, y + HEIGHT / 2, f"{_letter(number)}, {length} keys", 9, align="right")
        for column, entry in enumerate(table[number]):
            text, look = (str(entry), LOOKS[number]) if column < used else ("-", "idle")
            cell(axes, x + WIDTH * column, y, text, look, WIDTH, HEIGHT, 8.5)
    return Drawing(figure, _told(table, lengths, page_size, n_pages))


def _letter(number: int) -> str:
    return "ABC"[number]


def _told(
    table: Sequence[Sequence[int]], lengths: Sequence[int], page_size: int, n_pages: int
) -> str:
    """The figure in words."""
    told, taken = [], set()
    for number, length in enumerate(lengths):
        mine = list(table[number][: -(-length // page_size)])
        taken |= set(mine)
        where = "no page" if not mine else f"pages {', '.join(map(str, mine))}, in this order"
        last = f", {(length - 1) % page_size + 1} slots of the last one" if mine else ""
        told.append(f"Sequence {_letter(number)} has {length} keys in {where}{last}.")
    free = [str(page) for page in range(n_pages) if page not in taken]
    rest = f" Pages of nobody: {', '.join(free)}." if free else ""
    return f"A cache of {n_pages} pages with {page_size} slots each. {' '.join(told)}{rest}"
