"""The questions of the lesson atomics_and_scans."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Two programs run `count = tl.load(p)` and `tl.store(p, count + 1)`. p holds 5. What "
        "may it hold afterwards, and what with `tl.atomic_add(p, 1)`?",
        (
            Choice(
                "6 or 7; always 7 with the atomic.",
                "Yes. Both may load 5 before one of them stores. The atomic is one indivisible "
                "step.",
                right=True,
            ),
            Choice(
                "7 in both cases.",
                "Only if the second program loads after the first has stored, and nothing "
                "guarantees that.",
            ),
            Choice(
                "6 in both cases, since both of the programs start from the count 5.",
                "An atomic addition sees the result of the one before it.",
            ),
            Choice(
                "5 or 6; always 6 with the atomic, which lets only one program add.",
                "The atomic loses no addition. The programs add one after the other.",
            ),
        ),
    ),
    Question(
        "Programs add float32 numbers to one address by `tl.atomic_add`. Is the sum the same "
        "in each run?",
        (
            Choice(
                "Yes: no addition is lost, so the sum is the same.",
                "No addition is lost, but their order is open, and each addition rounds.",
            ),
            Choice(
                "No, it may be anything, because two programs may load the same old value.",
                "That would be a race without atomics. Here every number is in the sum.",
            ),
            Choice(
                "Up to rounding: the last bits may change.",
                "Yes. The order changes. Integers would give the same sum in any order.",
                right=True,
            ),
            Choice(
                "Yes, if the numbers are the same and the grid has the same size.",
                "The order in which programs run is open, also with the same grid.",
            ),
        ),
    ),
    Question(
        "A kernel adds parts of a float16 product with `tl.atomic_add(sums_ptrs, accumulator, "
        "mask=mask)`. Why must `sums` be float32?",
        (
            Choice(
                "Because there is no atomic addition for float16.",
                "There is one. It rounds its sum at each step.",
            ),
            Choice(
                "Because float32 additions always come in the same order.",
                "They do not. They only lose less.",
            ),
            Choice(
                "Because each addition to float16 memory rounds.",
                "Yes. A long sum in float16 loses small terms. One conversion at the end "
                "rounds once.",
                right=True,
            ),
            Choice(
                "Because the accumulator is float32, and a store to float16 memory would not "
                "compile.",
                "Triton converts the values to the dtype of the memory. The trouble is the "
                "rounding.",
            ),
        ),
    ),
    Question(
        "x contains -1, and the kernel runs `tl.atomic_add(counts_ptr + x, 1, mask=(offsets < "
        "n_elements) & (x < n_bins))`. What happens?",
        (
            Choice(
                "Memory before the counts is changed.",
                "Yes, and it belongs to something else. A number that becomes an address needs "
                "two bounds.",
                right=True,
            ),
            Choice(
                "-1 is masked off, as it has no bin.",
                "-1 is below n_bins, so the mask lets it pass.",
            ),
            Choice(
                "It counts in the last bin.",
                "So it would in Python. A pointer does not wrap around at the ends of a tensor.",
            ),
            Choice(
                "Triton raises an error, because an offset must not be negative.",
                "Triton allows negative offsets. It does not know where a tensor begins.",
            ),
        ),
    ),
    Question(
        "Which of these functions may be the `combine_fn` of `tl.associative_scan`?",
        (
            Choice(
                "`return a - b`",
                "(a - b) - c is not a - (b - c): the result depends on how the block is divided.",
            ),
            Choice(
                "`return tl.maximum(a, b)`",
                "Yes: max(max(a, b), c) is max(a, max(b, c)). It is associative.",
                right=True,
            ),
            Choice(
                "`return (a + b) / 2`",
                "The mean of a mean and a third number gives the third number more weight.",
            ),
            Choice(
                "`return a * 2 + b`, since it visits the elements in order",
                "The scan regroups them: (4a + 2b) + c is not 2a + (2b + c).",
            ),
        ),
    ),
    Question(
        "k has 10 blocks, and each of 4 parts runs `for i in range(part * (10 // 4), (part + "
        "1) * (10 // 4))` over its blocks. Which blocks are missing?",
        (
            Choice(
                "None: the last part takes the rest.",
                "Only if the code says so. 10 // 4 is 2 for each part, also for the last.",
            ),
            Choice(
                "None, if k is a multiple of BLOCK_K.",
                "Then all blocks are full. There are still ten of them.",
            ),
            Choice(
                "Block 9 alone, since ten divided by four rounds to 2.5 blocks.",
                "`//` rounds down to 2, so two blocks are left over.",
            ),
            Choice(
                "Blocks 8 and 9.",
                "Yes: four parts of two are eight. Round up, or distribute the blocks one by one.",
                right=True,
            ),
        ),
    ),
)
