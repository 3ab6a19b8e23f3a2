"""Lists in pages: which slots are whose, and what lies behind a length."""

from graders.judge.cases.pages import Pages, flat, runs


def test_each_list_has_pages_of_its_own_in_any_order() -> None:
    pages = Pages((10, 0, 5), page_size=4)
    table = pages.table()
    used = [row[:need] for row, need in zip(table, pages.needed, strict=True)]
    assert pages.needed == [3, 0, 2]
    assert pages.width == 4
    assert pages.count == 8
    assert len(set(flat(used))) == 5
    assert all(0 <= page < pages.count for page in flat(table))
    assert table == pages.table(), "the same pages are drawn again"


def test_what_lies_behind_a_length_is_known() -> None:
    pages = Pages((5, 4, 0), page_size=4, columns=2, spare=1)
    assert pages.unused_entries() == ((3, 3), (4, 5))
    row = pages.table()[0]
    unused = pages.unused_slots()
    assert len(unused) == pages.count * 4 - 9
    assert row[1] * 4 not in unused
    assert {row[1] * 4 + slot for slot in (1, 2, 3)} <= set(unused)


def test_first_pages_may_be_shared() -> None:
    first, second = Pages((9, 9), page_size=4, shared=2).table()
    assert first[:2] == second[:2]
    assert first[2] != second[2]


def test_neighbours_are_one_run() -> None:
    assert runs([0, 1, 4], size=3) == ((0, 5), (12, 14))
    assert runs([]) == ()
