"""The questions of the lesson tour."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "Which setting makes Triton kernels run in the interpreter on the CPU?",
        (
            Choice(
                "`DEBUG_TRITON=1`, at any time",
                "Triton does not know that variable; setting it changes nothing.",
            ),
            Choice(
                "`TRITON_INTERPRET=1`, before Triton is imported",
                "Yes. The set-up cell of each lesson sets it if there is no GPU.",
                right=True,
            ),
            Choice(
                "`TRITON_INTERPRET=1`, any time before the kernel is launched",
                "That is too late: `@triton.jit` decides when it meets the function. A kernel that "
                "was defined before still needs a GPU.",
            ),
            Choice(
                "Launching the kernel with tensors that are on the CPU",
                "A compiled kernel refuses CPU tensors. Triton never switches to the interpreter "
                "by itself.",
            ),
        ),
    ),
    Question(
        "In the interpreter one kernel takes 3 seconds and another 1 second. What does that say "
        "about a GPU?",
        (
            Choice(
                "The second kernel is three times as fast there.",
                "The interpreter spends its time in Python and numpy. A GPU spends its time "
                "on memory and arithmetic.",
            ),
            Choice(
                "Nothing: count bytes and operations instead.",
                "Yes. These are the same on every machine, and they predict a GPU's time well.",
                right=True,
            ),
            Choice(
                "The first kernel is limited by memory.",
                "Bytes and operations show whether a kernel waits for memory. The "
                "interpreter's time does not.",
            ),
            Choice(
                "The order is the same on a GPU, but the factor differs.",
                "Not even the order carries over. The slower one here may have more, smaller "
                "programs, which a GPU runs at the same time.",
            ),
        ),
    ),
    Question(
        "A launcher has the line `double_kernel[(n_elements // 1024,)](x, output, n_elements, "
        "BLOCK_SIZE=1024)`. How many programs does it start for 2,047 elements, and is the result "
        "correct?",
        (
            Choice(
                "1 program: the last 1,023 elements are never written.",
                "Yes. `2047 // 1024` rounds down to 1. `triton.cdiv(2047, 1024)` is 2.",
                right=True,
            ),
            Choice(
                "2 programs: all elements are written, because the mask covers the rest.",
                "`//` rounds down, so the second program does not exist. A mask only switches "
                "lanes off; it never adds any.",
            ),
            Choice(
                "1 program: the elements are written, because one program loops over all blocks.",
                "A program runs its code once. This kernel has no loop.",
            ),
            Choice(
                "2,047 programs: one for each element.",
                "A program works on a whole block of 1,024 elements.",
            ),
        ),
    ),
    Question(
        "A check passes. What do you know?",
        (
            Choice(
                "The kernel is correct for every input.",
                "No finite number of inputs proves that. The judge chooses inputs where bugs are "
                "likely.",
            ),
            Choice(
                "It agreed with a reference on many inputs and stayed inside its tensors.",
                "Yes. It also compiles for GPUs. This is strong evidence, and a class uses the "
                "same judge.",
                right=True,
            ),
            Choice(
                "It is as fast as a kernel for this task can be on your machine.",
                "The judge measures speed only if there is a GPU. Otherwise that gate says that it "
                "did not run.",
            ),
            Choice(
                "It gives the same bits as PyTorch, because the judge compares exactly.",
                "The judge allows for rounding, unless the contract asks for exact equality.",
            ),
        ),
    ),
)
