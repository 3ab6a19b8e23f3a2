"""The misconceptions about where keys, values and heads are looked for in a paged cache."""

from __future__ import annotations

from graders.course.common.expected import (
    BLOCK_SIZES,
    computes,
    computes_from_memory,
    computes_with_block,
)
from graders.course.decoding.mistakes import marks, wrong_sums
from graders.course.decoding.mistakes import wrong_places as wrong
from graders.judge.records import Misconception

FIND = (
    "Key i: `page = tl.load(table_ptr + sequence * stride_b + (i // page_size) * stride_p)`, then "
    "`page * stride_page + (i % page_size) * stride_slot`."
)
BLOCKS = BLOCK_SIZES[3:8]  # that a page may be taken for
SEEN = "`exists = keys < length`, for the loads of table, keys and values, and for the scores."

STRAYS = frozenset({"missing-mask"})  # a wrong address, where a length of the kernel is right

PLACE_MISTAKES = (
    Misconception(
        code="length-ignored",
        title="The whole table is read, whatever the length",
        message=(
            "Every slot that the table has room for took part. A table is as wide as the longest "
            "sequence may become; behind a length it names pages of yesterday, or no page at all."
        ),
        next_step=f"Load the length of your sequence. {SEEN}",
        expected_wrong=computes(wrong.length_ignored),
    ),
    Misconception(
        code="last-page-unmasked",
        title="The last page counts as a whole",
        message=(
            "The walk ends at the right page, but in that page all slots counted. A sequence of 37 "
            "keys and pages of 16 slots fill 5 slots of their third page; the other 11 hold what "
            "somebody left there."
        ),
        next_step=f"Compare keys with the length, not pages. {SEEN}",
        expected_wrong=computes(wrong.whole_pages),
    ),
    Misconception(
        code="zero-scores-count",
        title="What holds no key has a weight",
        message=(
            "The results are too small: the weights are divided by a sum to which exp(0) = 1 was "
            "added, once or several times. Either lanes behind the last key took part, whose keys "
            "were loaded as 0 and so have a score of 0; or parts without keys did, because their "
            "log-sum-exp is 0. A weight of 0 comes from a score, or a log-sum-exp, of -inf."
        ),
        next_step=(
            "`scores = tl.where(keys < length, scores, -float('inf'))`, and -inf for the "
            "log-sum-exp of a part that has no key."
        ),
        detector=wrong_sums.zero_scores_counted,
    ),
    Misconception(
        code="one-key-too-many",
        title="The key behind the last one counts",
        message="A sequence of n keys has the keys 0 to n - 1. Here key n took part as well.",
        next_step="`keys < length`, strictly.",
        expected_wrong=computes(wrong.one_key_more),
    ),
    Misconception(
        code="one-key-too-few",
        title="The last key, or the first one, is left out",
        message="A sequence of n keys has the keys 0 to n - 1, and all of them count.",
        next_step="`keys < length`, from key 0 on.",
        expected_wrong=computes(wrong.one_key_less),
    ),
    Misconception(
        code="last-page-left-out",
        title="The last page is left out where it is not full",
        message=(
            "Only full pages took part: `length // page_size` rounds down. The newest keys of a "
            "text lie in the page that is left out."
        ),
        next_step="Walk up to the length: `range(start, length, BLOCK_N)`, or `tl.cdiv` pages.",
        expected_wrong=computes(wrong.last_page_left_out),
    ),
    Misconception(
        code="length-of-another",
        title="A sequence was given the length of another one",
        message=(
            "The result is right for another number of keys: that of a neighbour, of the first "
            "sequence, or the largest (or smallest) of all. Each sequence has its own."
        ),
        next_step="`length = tl.load(lengths_ptr + sequence)`, with the number of the *sequence*.",
        expected_wrong=computes(wrong.length_of_another),
    ),
    Misconception(
        code="table-ignored",
        title="The pages are read as they lie, not as the table says",
        message=(
            "Page follows page from the beginning of the cache. But a cache hands out whatever "
            "page is free, to many sequences at a time, so that neighbours in a text seldom are "
            "neighbours in memory."
        ),
        next_step=FIND,
        rules_out=STRAYS,
        expected_wrong=computes(wrong.table_ignored),
    ),
    Misconception(
        code="table-row-of-another",
        title="The pages are those of another sequence",
        message=(
            "The right columns of the table were read, in the wrong row: that of the first "
            "sequence, of a neighbour, or of a row that begins somewhere else."
        ),
        next_step="The row of your sequence begins at `table_ptr + sequence * stride_b`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.row_of_another),
    ),
    Misconception(
        code="page-not-advanced",
        title="All keys are looked for in the first page",
        message="The first entry of the table serves the whole sequence.",
        next_step=FIND,
        expected_wrong=computes(wrong.one_page_for_all),
    ),
    Misconception(
        code="page-by-block",
        title="The keys are divided by another number than the page size",
        message=(
            "Which page a key lies in follows from the page size alone, `k_pages.shape[1]`. Here "
            "the keys were divided by a block size, by a page size that was taken for granted, or "
            "one page had to serve a whole block of keys."
        ),
        next_step=FIND,
        rules_out=STRAYS,
        expected_wrong=computes_with_block(wrong.page_by_block, blocks=BLOCKS),
    ),
    Misconception(
        code="table-read-as-dense",
        title="The numbers of pages are taken to be neighbours",
        message=(
            "The block table may have any strides, and here the next page of a sequence does not "
            "stand beside the one before it. The kernel steps by 1 along a row of the table, and "
            "reads the pages of others, or numbers that are none."
        ),
        next_step="`tl.load(table_ptr + sequence * stride_b + keys // page_size * stride_p)`.",
        places=True,
        expected_wrong=computes_from_memory(wrong.table_read_as_dense),
        detector=marks.left_by_table_of_view,
    ),
    Misconception(
        code="page-size-assumed",
        title="Pages are taken to have 16 slots",
        message=(
            "With pages of 16 slots all is right; with other pages the kernel points outside. Many "
            "caches have pages of 16, and the contract allows any number."
        ),
        next_step="Pass `k_pages.shape[1]` to the kernel, and divide by that.",
        detector=marks.usual_page_assumed,
        places=True,
    ),
    Misconception(
        code="slot-not-modulo",
        title="The place in the sequence stands for the slot in the page",
        message=(
            "Slots are counted anew in each page. Key 20 of pages of 16 lies in slot 4 of its "
            "page; at slot 20 there is another page, of somebody else perhaps."
        ),
        next_step="The slot is `keys % page_size`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.slot_not_modulo),
    ),
    Misconception(
        code="page-and-slot-exchanged",
        title="`//` and `%` have changed places",
        message=(
            "The quotient of a key's number and the page size says which page it is in, the "
            "remainder which slot of that page. Here the remainder chooses the page, so that "
            "neighbours lie in different pages, and soon the table has no such column."
        ),
        next_step="`page = table[keys // page_size]`, `slot = keys % page_size`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.page_and_slot_exchanged),
    ),
    Misconception(
        code="page-not-multiplied",
        title="The page number counts as a slot number",
        message=(
            "The number of the page was multiplied by the distance of two slots (or of none), not "
            "by that of two pages. So page 3 begins in the middle of page 0."
        ),
        next_step="`page * stride_page + slot * stride_slot`; a page is all its slots long.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.page_not_multiplied),
    ),
    Misconception(
        code="slot-forgotten",
        title="Every key is the first one of its page",
        message="The pages are right, and the slot within the page enters no address.",
        next_step="`page * stride_page + (keys % page_size) * stride_slot`.",
        expected_wrong=computes(wrong.slot_forgotten),
    ),
    Misconception(
        code="one-of-two-misplaced",
        title="Keys and values are looked for in different places",
        message=(
            "One of the two is right. Key and value of a token lie at the same page and slot, each "
            "in its own cache with its own strides; here the other one was looked for without the "
            "table, at a slot that is none, or at a page number that was not multiplied."
        ),
        next_step="Compute page and slot once, and use both for `k_ptr` and for `v_ptr`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.values_elsewhere),
    ),
    Misconception(
        code="heads-interleaved",
        title="The query heads are dealt out to the key heads in turn",
        message=(
            "Query head h took key head h % hkv. The heads of a group are neighbours: with 8 query "
            "heads and 2 key heads, 0 to 3 share key head 0, and 4 to 7 share key head 1."
        ),
        next_step="`kv_head = head // (n_heads // n_kv_heads)`.",
        expected_wrong=computes(wrong.heads_interleaved),
    ),
    Misconception(
        code="another-key-head",
        title="Query heads look at the wrong key head",
        message=(
            "All of them took the same key head, or the division is by the number of key heads, "
            "where it should be by the size of a group."
        ),
        next_step="`kv_head = head // group`, where `group = n_heads // n_kv_heads`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.another_key_head),
    ),
    Misconception(
        code="another-query",
        title="A head works with the query of another head, or stores in its place",
        message=(
            "The keys are those of the right group, but the query is that of another head (the "
            "first of the group, for example) or of another sequence; or the results stand in "
            "another order."
        ),
        next_step=(
            "Member i of the group of key head k is query head `k * group + i`: in the load of q "
            "and in the store."
        ),
        expected_wrong=computes(wrong.another_query),
    ),
    Misconception(
        code="heads-left-out",
        title="Some heads of each sequence were never stored",
        message=(
            "The same heads are missing everywhere. Either the grid has a program for each key "
            "head and the program stores one query of its group, or fewer rows were stored than "
            "there are heads."
        ),
        next_step="A program for a key head has `group` queries: load, compute and store them all.",
        detector=marks.heads_left_out,
        places=True,
    ),
    Misconception(
        code="strides-exchanged",
        title="Keys or values are read with the strides of the other",
        message=(
            "Both caches have the same shape, and each has strides of its own. As long as they lie "
            "alike in memory the mistake does not show."
        ),
        next_step="Pass `k_pages.stride()` and `v_pages.stride()`, and use each for its own.",
        expected_wrong=computes_from_memory(wrong.read_like_another),
        detector=marks.left_by_strides_of_another,
    ),
    Misconception(
        code="slots-and-heads-exchanged",
        title="Slots and heads of a page have changed places",
        message=(
            "A page has the shape (page_size, hkv, d): first the slots, then the heads. Here the "
            "stride of one was used for the other, or pages were taken to hold head after head."
        ),
        next_step="`slot * k_strides[1] + kv_head * k_strides[2]`.",
        rules_out=STRAYS,
        expected_wrong=computes_from_memory(wrong.slots_and_heads_exchanged),
    ),
)
