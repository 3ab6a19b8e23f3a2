"""The questions of the lesson vector_add."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "A kernel is launched on 10 elements with BLOCK_SIZE = 4. How many programs does the "
        "grid need, and how many lanes of the last one are masked off?",
        (
            Choice(
                "2 programs, none masked off",
                "Two blocks of 4 cover only 8 elements: elements 8 and 9 would never be stored. "
                "`10 // 4` rounds down; the grid has to round up.",
            ),
            Choice(
                "3 programs, 2 lanes masked off",
                "Yes: `triton.cdiv(10, 4)` is 3. The third block has offsets 8, 9, 10, 11, and "
                "only 8 and 9 are below 10.",
                right=True,
            ),
            Choice(
                "3 programs, 4 lanes masked off",
                "Three blocks have 12 lanes in all, and 10 of them have an element.",
            ),
            Choice(
                "10 programs, one for each element",
                "That would be one thread per element, as in CUDA C++. In Triton a program works "
                "on a whole block.",
            ),
        ),
    ),
    Question(
        "Why does `tl.arange(0, 3)` not compile?",
        (
            Choice(
                "A range must start at 1.",
                "It may start at 0, and nearly always does. Triton refuses its length.",
            ),
            Choice(
                "Its length is not a power of two.",
                "Yes. The compiler distributes a block over threads by halving it repeatedly. For "
                "3 elements, use a block of 4 and a mask.",
                right=True,
            ),
            Choice(
                "Its length, 3, is a plain number and not a `tl.constexpr`.",
                "A literal is a compile-time constant, so that is fine. Triton would refuse a "
                "run-time value.",
            ),
            Choice(
                "Its length is shorter than a warp, which has 32 threads.",
                "`tl.arange(0, 4)` compiles, and 4 is far below 32. Several threads may then "
                "hold the same element.",
            ),
        ),
    ),
    Question(
        "A kernel has no mask, and runs on a GPU with a vector of 1000 elements in blocks of "
        "1024. What happens?",
        (
            Choice(
                "Triton raises an IndexError at the launch.",
                "Triton checks no bounds on a GPU. Only a checking interpreter or a tool such as "
                "compute-sanitizer reports the access.",
            ),
            Choice(
                "The last 24 lanes read and write memory past the end.",
                "Yes. Often you see nothing. Sometimes that memory is another tensor's, and wrong "
                "numbers appear far away from the bug.",
                right=True,
            ),
            Choice(
                "The last 24 lanes wait and do nothing.",
                "Only a mask makes a lane do nothing. Without it each lane loads and stores.",
            ),
            Choice(
                "The last 24 lanes load zeros, and their stores are dropped.",
                "Neither happens by itself. A mask with `other=0` gives zeros, and a mask in the "
                "store drops the lane.",
            ),
        ),
    ),
    Question(
        "What does program 1 store for x = 0, 1, 2, …, 7 and `BLOCK_SIZE = 4` if its kernel has "
        "`offsets = pid + tl.arange(0, BLOCK_SIZE)` and copies `x_ptr + offsets` to "
        "`output_ptr + offsets`?",
        (
            Choice(
                "Elements 1 to 4",
                "Yes. The programs are one *element* apart. The factor `BLOCK_SIZE` is missing, "
                "so with two programs the elements 5 to 7 are never stored.",
                right=True,
            ),
            Choice(
                "Elements 4 to 7",
                "That is the block of program 1 with `pid * BLOCK_SIZE`. Here the factor is "
                "missing.",
            ),
            Choice(
                "Elements 0 to 3, as program 0 does",
                "`pid` is 1 here, so each offset is 1 larger than in program 0.",
            ),
            Choice(
                "Only element 1",
                "`pid` is one number, and `tl.arange` is a block of 4. Their sum is a block of 4.",
            ),
        ),
    ),
    Question(
        "A vector addition runs at 92 % of the memory bandwidth of the card. What makes it "
        "twice as fast?",
        (
            Choice(
                "A faster addition, for instance on the tensor cores.",
                "The kernel does not wait for the additions: it moves 12 bytes for each of them.",
            ),
            Choice(
                "More programs in the grid, each with a smaller block.",
                "The memory is already busy; more programs only queue up for it.",
            ),
            Choice(
                "Loading both vectors into shared memory before the addition.",
                "Each number is used once, so there is nothing to reuse. The same bytes still "
                "come from global memory.",
            ),
            Choice(
                "Nothing in this kernel; fuse it with its neighbours.",
                "Yes. Memory limits it. If the next operation uses the sum in the same kernel, the "
                "sum never travels to memory and back.",
                right=True,
            ),
        ),
    ),
)
