"""What counts as solved in the lesson on vector addition."""

from __future__ import annotations

from graders.course.common import elementwise, placement, remarks, rounding, shared
from graders.course.common.expected import computes
from graders.judge.cases.builders import FLOATS, VECTOR_SIZES, cases, two
from graders.judge.records import Choice, Exercise, Misconception, Question

MISCONCEPTIONS = (
    shared.last_element_missed(),
    Misconception(
        code="one-input-twice",
        title="One of the inputs is used twice",
        message=(
            "The output is x + x or y + y: both loads read from the same pointer, so the other "
            "input is not in the sum."
        ),
        next_step="Load x from `x_ptr` and y from `y_ptr`, and store their sum.",
        expected_wrong=computes(lambda x, y: x + x, lambda x, y: y + y),
    ),
    Misconception(
        code="one-input-ignored",
        title="Only one of the inputs arrives in the output",
        message=(
            "The output equals one of the inputs, unchanged. The value that the kernel stores is "
            "a loaded block, not the sum."
        ),
        next_step="Pass the sum to `tl.store`: `x + y`.",
        expected_wrong=computes(lambda x, y: x, lambda x, y: y),
    ),
    Misconception(
        code="wrong-operation",
        title="The elements are combined, but not added",
        message=(
            "The kernel combines the correct elements, but the output is their difference or "
            "their product."
        ),
        next_step="Store `x + y`.",
        expected_wrong=computes(lambda x, y: x - y, lambda x, y: x * y, lambda x, y: y - x),
    ),
    elementwise.load_ignores_pid(lambda x, y: x + y),
    elementwise.through_integers(),
    rounding.lossy_dtype(),
    placement.starts_before_tensor(),
    placement.address_stretched(),
    shared.missing_mask("a vector"),
    placement.mask_too_narrow(),
    *placement.misplaced_programs(),
    shared.programs_race("The offsets of the store are not those of the program's own block."),
    shared.grid_too_small(),
)

CASES = (
    *cases(two, "n", [1000, 5000], why="One block or several, the last one not full."),
    *cases(two, "n", [4096], why="Full blocks."),
    *cases(two, "n", [100_003], why="Many blocks, whatever their size."),
    *cases(two, "n", [1000], draws=3, engine_orders=True)[1:],
    *cases(two, "n", VECTOR_SIZES, part="edges", why="None, few, or near a power of two."),
    *cases(two, "n", [1000], part="types", dtypes=FLOATS[1:], why="Keep the dtype of x."),
    *cases(two, "n", [1, 0], part="types", dtypes=FLOATS[1:]),
    *cases(two, "n", [700], part="types", fills=["specials"], dtypes=FLOATS, why="NaN and inf."),
    *cases(two, "n", [700], part="types", scale=1e30, why="Large numbers."),
    *cases(two, "n", [700], part="types", scale=1e-30, why="Tiny numbers."),
    *cases(two, "n", [700], part="types", shift=1e6, why="Numbers that float16 cannot hold."),
    *cases(two, "n", [700], part="types", fills=["ramp"], dtypes=FLOATS),
)

EXERCISES = (
    Exercise(
        name="vector_add",
        lesson="vector_add",
        title="Add two vectors",
        parameters=("x", "y"),
        reference=lambda x, y: x + y,
        cases=CASES,
        large=cases(two, "n", [2**22 + 5], part="edges", why="Thousands of programs."),
        hints=(
            "Each program adds one block. Which elements does program 0 add, and which ones "
            "program 1? Write them down for 7 elements in blocks of 4.",
            "Program `pid` works on the offsets `pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`. "
            "The mask is `offsets < n_elements`, because the last block may reach past the end. "
            "The launcher starts `triton.cdiv(n_elements, 1024)` programs for blocks of 1,024.",
            "`x = tl.load(x_ptr + offsets, mask=mask)`, the same for y, then "
            "`tl.store(output_ptr + offsets, x + y, mask=mask)`; the launch is "
            "`add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)`.",
        ),
        challenge="Remove the mask from the store and check: which program would store outside?",
        misconceptions=MISCONCEPTIONS,
        parts={"core": 4, "edges": 3, "types": 3},
        magnitude=lambda x, y: x.abs() + y.abs(),
        remarks=remarks.WASTE,
        forbids=frozenset({"moves"}),
    ),
)

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
