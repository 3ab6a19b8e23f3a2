"""The questions of the lesson below_triton."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "What does `@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];` do?",
        (
            Choice(
                "It loads 128 bits for one thread.",
                (
                    "Yes: four values of 32 bits by one instruction, into four registers, if %p1 "
                    "is true."
                ),
                right=True,
            ),
            Choice(
                "It loads 32 bits for each of four threads.",
                (
                    "PTX describes one thread. All 32 threads of a warp run it at once, each with "
                    "its own address."
                ),
            ),
            Choice(
                "It loads 4 bytes, then 32 bytes.",
                "b32 counts bits, and v4 says how many such values come at once.",
            ),
            Choice(
                "It loads one value from each of four addresses.",
                "One register, %rd1, holds the address. The four values are adjacent.",
            ),
        ),
    ),
    Question(
        (
            "A float32 kernel has the mask `cols < n`. Why are the loads narrow for n = 20, a "
            "multiple of 16 bytes?"
        ),
        (
            Choice(
                "A row of 20 is too short for a wide load.",
                "Five wide loads would fetch it.",
            ),
            Choice(
                "Triton checks only whether n is divisible by 16.",
                (
                    "Yes, and 20 is not. So the mask may end within four lanes, and rows may "
                    "start anywhere."
                ),
                right=True,
            ),
            Choice(
                "Wide loads cannot have a mask.",
                (
                    "They can: one mask for all four lanes, if the compiler can prove that it is "
                    "the same for them."
                ),
            ),
            Choice(
                "The mask reads one element past the end.",
                (
                    "It does not: lane 20 is masked off. Masks cost no width if the compiler can "
                    "prove enough."
                ),
            ),
        ),
    ),
    Question(
        ("A kernel contains `row_start = tl.multiple_of(row * n, 4)`, and n is 21. What happens?"),
        (
            Choice(
                "The compiler sees that it is wrong, and loads single elements.",
                "It does not know n. It trusts the hint.",
            ),
            Choice(
                "The value is rounded down to a multiple of 4.",
                "A hint changes no value. `n // 4 * 4` would.",
            ),
            Choice(
                "A wide load may use a misaligned address.",
                "Yes: a GPU stops there. A plain interpreter shows correct numbers.",
                right=True,
            ),
            Choice(
                "Triton compiles a second version without the hint.",
                "Specialization looks at arguments and not at hints.",
            ),
        ),
    ),
    Question(
        (
            "In the launcher, `vector = 16 // x.element_size()`; in the kernel, `n = n // vector "
            "* vector`. x is float16, n is 36. What is wrong?"
        ),
        (
            Choice(
                "Nothing: the loads become 128 bits wide.",
                "They do, but 36 is not a multiple of 8.",
            ),
            Choice(
                "vector is 4, so the loads have only 64 bits.",
                "A float16 has 2 bytes, so vector is 8.",
            ),
            Choice(
                "The kernel computes 40 columns and writes past the row.",
                "`//` rounds down, so n becomes smaller.",
            ),
            Choice(
                "The kernel computes only 32 of 36 columns.",
                "Yes: 36 // 8 * 8 = 32. The launcher must take vector = 1 here.",
                right=True,
            ),
        ),
    ),
    Question(
        "Where do you see that registers spill?",
        (
            Choice(
                "In the PTX: it names more than 255 registers.",
                (
                    "PTX can always use any number of registers. `ptxas` assigns the real ones "
                    "later."
                ),
            ),
            Choice(
                "In the report of `ptxas`.",
                "Yes. `ptxas` assigns the real registers, so only it knows what did not fit.",
                right=True,
            ),
            Choice(
                "In the Python, by the size of the block.",
                (
                    "The block size gives only a hint: spills also depend on the warps and on how "
                    "many values are live at once."
                ),
            ),
            Choice(
                "In the result: spilled values are less precise.",
                "A spill stores and loads the same bits. It costs time only.",
            ),
        ),
    ),
    Question(
        'What does `mode="max-autotune"` of torch.compile add for a matrix product?',
        (
            Choice(
                "It times cuBLAS and Triton templates on your shapes and keeps the fastest.",
                "Yes. It costs time at the first call, and again for new shapes.",
                right=True,
            ),
            Choice(
                "It finds an algorithm with fewer operations.",
                "The operations stay the same. It chooses the routine and its block sizes.",
            ),
            Choice(
                "It computes in a smaller dtype than the one that you gave to it.",
                "It chooses among routines for the dtype that you gave.",
            ),
            Choice(
                "It writes the product by hand-optimised PTX.",
                "It generates Triton from templates, which Triton compiles to PTX.",
            ),
        ),
    ),
)
