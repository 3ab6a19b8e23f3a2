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
    "For key i: `page = tl.load(table_ptr + sequence * stride_b + (i // page_size) * stride_p)`, "
    "then `page * stride_page + (i % page_size) * stride_slot`."
)
BLOCKS = BLOCK_SIZES[3:8]  # that a page may be taken for
SEEN = "Mask the loads of table, keys and values, and the scores, with `keys < length`."

STRAYS = frozenset({"missing-mask"})  # a wrong address, where a length of the kernel is right

PLACE_MISTAKES = (
    Misconception(
        code="length-ignored",
        title="The whole table is read, whatever the length",
        message=(
            "Every slot that the table has room for took part. The table is as wide as the "
            "longest sequence may become. Past a length it names outdated pages, or "
            "numbers that are not pages."
        ),
        next_step=f"Load the length of your sequence. {SEEN}",
        expected_wrong=computes(wrong.length_ignored),
    ),
    Misconception(
        code="last-page-unmasked",
        title="All slots of the last page count",
        message=(
            "The loop ends at the correct page, but all slots of that page took part. A "
            "sequence of 37 keys in pages of 16 uses 5 slots of its third page; the other "
            "11 hold garbage."
        ),
        next_step=f"Compare keys with the length, not pages. {SEEN}",
        expected_wrong=computes(wrong.whole_pages),
    ),
    Misconception(
        code="zero-scores-count",
        title="A slot or part without keys has a weight",
        message=(
            "The results are too small: exp(0) = 1 was added to the sum of the weights "
            "once or several times. Lanes past the last key, or parts without keys, have "
            "the score 0 and not -inf."
        ),
        next_step=(
            "Write `scores = tl.where(keys < length, scores, -float('inf'))`, and give a "
            "part without keys the log-sum-exp -inf."
        ),
        detector=wrong_sums.zero_scores_counted,
    ),
    Misconception(
        code="one-key-too-many",
        title="One key past the end takes part",
        message="A sequence of n keys has the keys 0 to n - 1. Here key n took part as well.",
        next_step="Compare with `keys < length`, not with `<=`.",
        expected_wrong=computes(wrong.one_key_more),
    ),
    Misconception(
        code="one-key-too-few",
        title="The last key, or the first one, is left out",
        message=(
            "A sequence of n keys has the keys 0 to n - 1. Here key 0 or key n - 1 did not "
            "take part."
        ),
        next_step="Start at key 0, and mask with `keys < length`.",
        expected_wrong=computes(wrong.one_key_less),
    ),
    Misconception(
        code="last-page-left-out",
        title="The last page is left out if it is not full",
        message=(
            "Only full pages took part, because `length // page_size` rounds down. The "
            "newest keys of a text are in the last page."
        ),
        next_step=(
            "Loop up to the length: `range(start, length, BLOCK_N)`, or over "
            "`tl.cdiv(length, page_size)` pages."
        ),
        expected_wrong=computes(wrong.last_page_left_out),
    ),
    Misconception(
        code="length-of-another",
        title="A sequence uses the length of another one",
        message=(
            "The result is correct for another number of keys: the length of another "
            "sequence, or the largest or smallest length. Each sequence has its own length."
        ),
        next_step=(
            "Write `length = tl.load(lengths_ptr + sequence)`, with the number of the *sequence*."
        ),
        expected_wrong=computes(wrong.length_of_another),
    ),
    Misconception(
        code="table-ignored",
        title="The pages are read in memory order, not in the order of the table",
        message=(
            "The kernel reads one page after the other from the beginning of the cache. "
            "The pages of a sequence can be anywhere in the cache; its row of the table "
            "names them."
        ),
        next_step=FIND,
        rules_out=STRAYS,
        expected_wrong=computes(wrong.table_ignored),
    ),
    Misconception(
        code="table-row-of-another",
        title="The pages are those of another sequence",
        message=(
            "The kernel read the correct columns of the table in the wrong row: the row of "
            "another sequence, or a row that begins at a wrong address."
        ),
        next_step="Start the row of your sequence at `table_ptr + sequence * stride_b`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.row_of_another),
    ),
    Misconception(
        code="page-not-advanced",
        title="All keys are read from the first page",
        message="The kernel uses the first entry of the table for the whole sequence.",
        next_step=FIND,
        expected_wrong=computes(wrong.one_page_for_all),
    ),
    Misconception(
        code="page-by-block",
        title="The keys are divided by a number other than the page size",
        message=(
            "The page of a key depends on the page size alone, `k_pages.shape[1]`. Here "
            "the kernel divided by a block size or a fixed number, or used one page for a "
            "whole block of keys."
        ),
        next_step=FIND,
        rules_out=STRAYS,
        expected_wrong=computes_with_block(wrong.page_by_block, blocks=BLOCKS),
    ),
    Misconception(
        code="table-read-as-dense",
        title="The kernel ignores the stride of the table's columns",
        message=(
            "The block table may have any strides. The kernel steps by 1 along a row of "
            "the table, and so reads entries of other rows, or numbers outside the view."
        ),
        next_step=(
            "Write `tl.load(table_ptr + sequence * stride_b + keys // page_size * stride_p)`."
        ),
        places=True,
        expected_wrong=computes_from_memory(wrong.table_read_as_dense),
        detector=marks.left_by_table_of_view,
    ),
    Misconception(
        code="page-size-assumed",
        title="The kernel assumes pages of 16 slots",
        message=(
            "With pages of 16 slots the result is correct; with other pages the kernel "
            "reads outside of a tensor. The contract allows any page size."
        ),
        next_step="Pass `k_pages.shape[1]` to the kernel, and divide by that.",
        detector=marks.usual_page_assumed,
        places=True,
    ),
    Misconception(
        code="slot-not-modulo",
        title="The position in the sequence is used as the slot",
        message=(
            "Each page counts its slots from 0. With pages of 16, key 20 is in slot 4 of "
            "its page; slot 20 is in another page."
        ),
        next_step="Compute the slot as `keys % page_size`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.slot_not_modulo),
    ),
    Misconception(
        code="page-and-slot-exchanged",
        title="`//` and `%` are exchanged",
        message=(
            "The quotient of a key's position and the page size gives the page; the "
            "remainder gives the slot. Here the remainder chooses the page."
        ),
        next_step=(
            "Load the page from column `keys // page_size` of the table, and use `slot = "
            "keys % page_size`."
        ),
        rules_out=STRAYS,
        expected_wrong=computes(wrong.page_and_slot_exchanged),
    ),
    Misconception(
        code="page-not-multiplied",
        title="The page number is multiplied by the wrong stride",
        message=(
            "The kernel multiplied the page number by the distance of two slots, or by "
            "nothing, and not by the distance of two pages."
        ),
        next_step=(
            "Write `page * stride_page + slot * stride_slot`, where `stride_page` is "
            "`k_pages.stride(0)`."
        ),
        rules_out=STRAYS,
        expected_wrong=computes(wrong.page_not_multiplied),
    ),
    Misconception(
        code="slot-forgotten",
        title="Every key is read from the first slot of its page",
        message=(
            "The pages are correct, but the address does not contain the slot within the page."
        ),
        next_step="Write `page * stride_page + (keys % page_size) * stride_slot`.",
        expected_wrong=computes(wrong.slot_forgotten),
    ),
    Misconception(
        code="one-of-two-misplaced",
        title="Keys and values are read from different places",
        message=(
            "One of the two is correct. The key and the value of a token have the same "
            "page and slot, each in its own cache with its own strides."
        ),
        next_step="Compute page and slot once, and use both for `k_ptr` and for `v_ptr`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.values_elsewhere),
    ),
    Misconception(
        code="heads-interleaved",
        title="The query heads are assigned to the key heads in turn",
        message=(
            "Query head h used key head h % hkv. The heads of a group are neighbours: with "
            "8 query heads and 2 key heads, 0 to 3 use key head 0, and 4 to 7 use key head "
            "1."
        ),
        next_step="Write `kv_head = head // (n_heads // n_kv_heads)`.",
        expected_wrong=computes(wrong.heads_interleaved),
    ),
    Misconception(
        code="another-key-head",
        title="Query heads use the wrong key head",
        message=(
            "All query heads used the same key head, or the kernel divided by the number "
            "of key heads and not by the size of a group."
        ),
        next_step="Write `kv_head = head // group`, where `group = n_heads // n_kv_heads`.",
        rules_out=STRAYS,
        expected_wrong=computes(wrong.another_key_head),
    ),
    Misconception(
        code="another-query",
        title="A head uses the query of another head, or stores in its place",
        message=(
            "The keys belong to the correct group, but the query belongs to another head "
            "or another sequence, or the results are stored in another order."
        ),
        next_step=(
            "Member i of the group of key head k is query head `k * group + i`: use that "
            "in the load of q and in the store."
        ),
        expected_wrong=computes(wrong.another_query),
    ),
    Misconception(
        code="heads-left-out",
        title="Some heads of each sequence were never stored",
        message=(
            "The same heads are missing in every sequence. The program for a key head "
            "stores fewer rows than its group has query heads."
        ),
        next_step=(
            "A program for a key head has `group` queries: load, compute and store all of them."
        ),
        detector=marks.heads_left_out,
        places=True,
    ),
    Misconception(
        code="strides-exchanged",
        title="Keys or values are read with the strides of the other",
        message=(
            "Both caches have the same shape, but each has its own strides. The mistake "
            "shows only where the strides differ."
        ),
        next_step=(
            "Pass `k_pages.stride()` and `v_pages.stride()`, and use each with its own pointer."
        ),
        expected_wrong=computes_from_memory(wrong.read_like_another),
        detector=marks.left_by_strides_of_another,
    ),
    Misconception(
        code="slots-and-heads-exchanged",
        title="The axes of slots and heads are exchanged",
        message=(
            "A page has the shape (page_size, hkv, d): first the slots, then the heads. "
            "Here the kernel used the stride of one axis for the other."
        ),
        next_step="Write `slot * k_strides[1] + kv_head * k_strides[2]`.",
        rules_out=STRAYS,
        expected_wrong=computes_from_memory(wrong.slots_and_heads_exchanged),
    ),
)
