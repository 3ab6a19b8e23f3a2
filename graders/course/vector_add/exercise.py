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
            "The output is x + x (or y + y): both loads read from the same pointer, and the "
            "other input never enters the sum. Two lines that look alike are easily copied "
            "with the pointer unchanged."
        ),
        next_step="Load x from `x_ptr` and y from `y_ptr`, and add those two.",
        expected_wrong=computes(lambda x, y: x + x, lambda x, y: y + y),
    ),
    Misconception(
        code="one-input-ignored",
        title="Only one of the inputs arrives in the output",
        message=(
            "The output equals one input, unchanged. The other one is loaded but not added, or "
            "what you store is the block that you loaded and not the sum."
        ),
        next_step="Look at the value that you hand to `tl.store`: it should be the sum.",
        expected_wrong=computes(lambda x, y: x, lambda x, y: y),
    ),
    Misconception(
        code="wrong-operation",
        title="The elements are combined, but not added",
        message=(
            "The right elements meet at the right place, but the output is their difference or "
            "their product. With the signed numbers of this case that is far from the sum."
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
            "One program adds one block. Which numbers does program 0 add, and which ones "
            "program 1? Write them down for 7 elements in blocks of 4.",
            "Program `pid` works on the offsets `pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)`. "
            "In the last block some of them are not below `n_elements`: compare, and you have "
            "the mask. The launcher needs `triton.cdiv(n_elements, BLOCK_SIZE)` programs.",
            "`x = tl.load(x_ptr + offsets, mask=mask)`, the same for y, then "
            "`tl.store(output_ptr + offsets, x + y, mask=mask)`; the launch is "
            "`add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)`.",
        ),
        challenge="Take the mask off the store and check again: which program would store outside?",
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
                "Two blocks of 4 cover 8 elements only: elements 8 and 9 would never be stored. "
                "`10 // 4` rounds down; the grid has to round up.",
            ),
            Choice(
                "3 programs, 2 lanes masked off",
                "Yes: `triton.cdiv(10, 4)` is 3. The third block has offsets 8, 9, 10, 11, and "
                "only 8 and 9 are below 10.",
                right=True,
            ),
            Choice(
                "10 programs, one for each element",
                "That would be one thread per element, as in CUDA C++. In Triton a program works "
                "on a whole block at a time.",
            ),
        ),
    ),
    Question(
        "Why does `tl.arange(0, 3)` not compile?",
        (
            Choice(
                "A range must start at 1.",
                "It may start at 0, and nearly always does. It is the length that is refused.",
            ),
            Choice(
                "Its length is not a power of two.",
                "Yes. Blocks are spread over threads in halves and halves again, so the length "
                "of a range must be a power of two. For 3 elements take a block of 4 and a mask.",
                right=True,
            ),
            Choice(
                "3 is not a `tl.constexpr`.",
                "A literal is a compile-time constant, so that is fine. A run-time value would "
                "indeed be refused.",
            ),
        ),
    ),
    Question(
        "What happens on a GPU when the mask is forgotten and the vector has 1000 elements in "
        "blocks of 1024?",
        (
            Choice(
                "Triton raises an IndexError.",
                "There is no bounds check on a GPU: an address is an address. Only a checking "
                "interpreter can tell you.",
            ),
            Choice(
                "The last 24 lanes read and write memory behind the vectors.",
                "Yes. Often nothing visible happens, because some memory lies there; sometimes "
                "it is another tensor's, and the wrong numbers appear far away from the mistake.",
                right=True,
            ),
            Choice(
                "The last 24 lanes wait and do nothing.",
                "Only a mask makes a lane do nothing. Without it each lane loads and stores.",
            ),
        ),
    ),
    Question(
        "A vector addition runs at 92 % of the memory bandwidth of the card. What makes it "
        "twice as fast?",
        (
            Choice(
                "A faster addition, for instance on the tensor cores.",
                "The additions are not what it waits for: 12 bytes move for one of them.",
            ),
            Choice(
                "More programs in the grid.",
                "The memory is busy already; more programs only queue up for it.",
            ),
            Choice(
                "Nothing within this kernel; but fusing it with its neighbours saves traffic.",
                "Yes. It is bound by memory. If the sum is used at once by the next operation "
                "of the same kernel, it need not travel to memory and back.",
                right=True,
            ),
        ),
    ),
)
