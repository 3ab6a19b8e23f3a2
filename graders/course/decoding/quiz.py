"""The questions of the lesson decoding."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "A decoding kernel reaches a small part of a GPU's arithmetic. What makes it faster?",
        (
            Choice(
                "Reading fewer bytes, or reading with more programs at a time.",
                "Yes. It is memory-bound: bytes count, and how many loads are in flight.",
                right=True,
            ),
            Choice(
                "Computing the scores with tensor cores.",
                "They would wait as well. Each byte that is read serves only a few operations.",
            ),
            Choice(
                "A smaller d in the kernel's tile, so that a program needs fewer registers.",
                "The kernel needs the same numbers. It would load them in smaller portions.",
            ),
            Choice(
                "Evaluating the exponentials with exp2 instead of exp, which costs fewer "
                "instructions.",
                "There is one exponential for 2 · d loaded numbers. Arithmetic is not the limit.",
            ),
        ),
    ),
    Question(
        "A model has 12 query heads and 3 key heads. Which query heads use key head 1?",
        (
            Choice(
                "1, 4, 7 and 10.",
                "That is h % 3. Heads of a group are neighbours.",
            ),
            Choice(
                "4, 5, 6 and 7.",
                "Yes: a group has 12 / 3 = 4 heads, and h // 4 is 1 for these.",
                right=True,
            ),
            Choice(
                "3, 4 and 5.",
                "That is h // 3. Divide by the size of a group, not by the number of key heads.",
            ),
            Choice(
                "Only query head 1, since each query head has a key head of its own.",
                "That is attention without groups: it needs as many key heads as query heads.",
            ),
        ),
    ),
    Question(
        "A kernel computes `scores = tl.where(keys < length, scores, float('-inf'))` and then "
        "`v = tl.load(v_ptrs)`. What can go wrong?",
        (
            Choice(
                "Nothing, since the weight of a key past the length is 0 and hides whatever "
                "was loaded for it.",
                "A weight of 0 hides any finite number, but not NaN or infinity.",
            ),
            Choice(
                "The weights no longer add up to 1.",
                "They do: the values are not part of that sum.",
            ),
            Choice(
                "The maximum of the scores becomes NaN, since it includes the keys past the "
                "length.",
                "Their scores are -inf, which does not change a maximum of finite scores.",
            ),
            Choice(
                "Slots past the length may hold NaN, and 0 times NaN is NaN.",
                "Yes. Mask the load of the values too, with `other=0.0`.",
                right=True,
            ),
        ),
    ),
    Question(
        "Two parts of the keys have the same maximum. Part 0 has one good key, part 1 has ten "
        "of them. Which weights do their outputs get in the merge?",
        (
            Choice(
                "exp(lse), about ten times as large for part 1.",
                "Yes: exp(lse) is the sum of exp(score) over the part.",
                right=True,
            ),
            Choice(
                "The same weight, since their maxima are equal.",
                "Then the one key of part 0 would count as much as the ten of part 1 together.",
            ),
            Choice(
                "Weights proportional to how many keys each of the parts has.",
                "A part may have many keys that hardly count. The sum of exp matters.",
            ),
            Choice(
                "lse itself, since a logarithm keeps the order of the sums and cannot overflow.",
                "A logarithm keeps the order, but weights need the ratio: exp(lse).",
            ),
        ),
    ),
    Question(
        "Pages have 16 slots. For key 37 of sequence s a kernel runs `page = tl.load(table_ptr "
        "+ s * stride_b + 37 // 16 * stride_p)` and then reads at `k_ptr + page * stride_page "
        "+ 37 * stride_slot`. Which key does it read?",
        (
            Choice(
                "Key 37 of sequence s, as intended.",
                "For that the slot must be 37 % 16 = 5. Each page counts its slots from 0.",
            ),
            Choice(
                "Key 5 of sequence s, which is in the first page of the sequence.",
                "The page is loaded from column 2, so it is not the first page of the sequence.",
            ),
            Choice(
                "A key two pages further in memory.",
                "Yes, if the cache is contiguous: slot 37 is slot 5 two pages later, which may "
                "belong to any sequence.",
                right=True,
            ),
            Choice(
                "The last key of the page, since a slot number is limited to the size of a page.",
                "Nothing limits an offset. Pointer arithmetic continues into other pages.",
            ),
        ),
    ),
    Question(
        "The launcher must decide how many parts there are. What should it use?",
        (
            Choice(
                "`lengths.max().item()`.",
                "That number is in GPU memory. The CPU would wait for all earlier kernels, "
                "again for each token.",
            ),
            Choice(
                "The number of pages in the cache, since no sequence can have more pages than "
                "that.",
                "All sequences share those pages. One sequence has at most what its row can name.",
            ),
            Choice(
                "The shape of the table: columns times page size.",
                "Yes. Programs whose part begins past the end return at once.",
                right=True,
            ),
            Choice(
                "A fixed number that is large enough for the longest text seen so far.",
                "A longer text would lose keys. The table's shape gives a bound that always holds.",
            ),
        ),
    ),
)
