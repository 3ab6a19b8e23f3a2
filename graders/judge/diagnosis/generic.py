"""Mistakes that occur in every exercise: recognised by pattern or by engine fault, as data.

A matching misconception of the exercise itself is named before any of these.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FindingText:
    """Title, explanation and next step of a generic finding."""

    title: str
    message: str
    next_step: str


FAULTS = {
    "out-of-bounds-load": FindingText(
        "The kernel reads outside a tensor",
        "On a GPU such a read returns data that is not yours, or stops the program.",
        "Guard the load with a mask that is true only for offsets inside the tensor.",
    ),
    "out-of-bounds-store": FindingText(
        "The kernel writes outside a tensor",
        "On a GPU such a write corrupts memory that belongs to something else.",
        "Guard the store with a mask that is true only for offsets inside the tensor.",
    ),
    "out-of-bounds-atomic": FindingText(
        "An atomic operation reaches outside a tensor",
        "On a GPU it would change memory that belongs to something else.",
        "Guard the atomic with a mask that is true only for offsets inside the tensor.",
    ),
    "out-of-bounds-gather": FindingText(
        "tl.gather asks for a lane outside its block",
        "No mask switches off a lane of tl.gather: a GPU reads whatever is at that place.",
        "Keep every index in the block, also in lanes that are masked off later: "
        "tl.where(index < BLOCK, index, 0).",
    ),
    "waits-forever": FindingText(
        "A program waits for something that never comes",
        "A GPU may start the other programs only when this one has ended, so it can wait for ever.",
        "Wait only for programs that are certain to have started: take the number of the program "
        "from a counter with tl.atomic_add, or split the work into two launches.",
    ),
    "gap-read": FindingText(
        "The kernel reads elements that are not part of the view",
        "A sliced or stepped view has gaps between its rows. The kernel reads these gaps as if "
        "they were data.",
        "Pass the strides of the tensor to the kernel: base + i * stride_m + j * stride_n.",
    ),
    "gap-store": FindingText(
        "The kernel writes into the gaps of a view",
        "Those elements belong to the larger tensor that the view is a part of, not to this "
        "argument.",
        "Use the strides of the tensor that you write to.",
    ),
    "write-race": FindingText(
        "Two programs write different values to one element",
        "Programs run in no particular order on a GPU: the last store wins.",
        "Give each output element to exactly one program, or combine with tl.atomic_add.",
    ),
    "lane-race": FindingText(
        "Two lanes of one store hit the same element with different values",
        "All lanes of a block store at the same time: which value remains is undefined on a GPU.",
        "Print the offsets of one block: each lane must have an element of its own.",
    ),
    "read-write-race": FindingText(
        "A program reads what another program writes",
        "The order of the two is undefined, so the result changes from run to run.",
        "Read only from inputs, or split the work into two kernel launches.",
    ),
    "order-dependent": FindingText(
        "The result depends on the order in which programs run",
        "The judge ran the programs in another order and got another result.",
        "Make each program independent of what the others have done.",
    ),
    "uninitialised-read": FindingText(
        "The kernel reads memory that was never written",
        "Memory from torch.empty holds whatever was there before.",
        "Start from torch.zeros, or store before you load.",
    ),
    "masked-lanes-used": FindingText(
        "Masked-off lanes leak into the result",
        "A load with a mask and no `other` leaves the masked-off lanes undefined, and the kernel "
        "computes with them.",
        "Give tl.load an `other` that is neutral: 0 for sums, -inf for maxima.",
    ),
    "offset-overflow": FindingText(
        "An offset does not fit in 32 bits",
        "Offsets beyond 2**31 wrap around to negative numbers in int32.",
        "Convert the index to 64 bits before you multiply: row.to(tl.int64) * stride.",
    ),
    "tf32-rounding": FindingText(
        "The float32 inputs were cut off to TF32",
        "By default the tensor cores cut both inputs off to TF32 in `tl.dot`: 10 bits of mantissa "
        "instead of 23. The contract asks for float32 accuracy.",
        'Ask for full precision: `tl.dot(a, b, acc, input_precision="ieee")`.',
    ),
    "device-assert": FindingText(
        "A tl.device_assert in the kernel failed",
        "The condition that you wrote is false for this input.",
        "Print the values with print_if, or run the case in a notebook and look at them.",
    ),
    "address-outside": FindingText(
        "A load leaves the tensor, although its mask is correct",
        "The load uses the mask of the store, which is correct: sizes that fit no block give "
        "correct results. So the address is wrong: a wrong row or column, the stride of another "
        "index, or a start that is added twice.",
        "Take the first lane outside. Which row and column should it read? Compute its address by "
        "hand, and compare.",
    ),
    "block-outside": FindingText(
        "A whole block is outside the tensor",
        "All lanes of a load or store are outside, not only the last ones, so a mask is not the "
        "fix. The address is wrong: a stride, a divisor, or a start added twice. Or there are "
        "more programs than blocks.",
        "Take the program that is named below. Where does its block begin, and where does the "
        "kernel look for it?",
    ),
    "untrue-hint": FindingText(
        "A compiler hint is not true",
        "The compiler trusts `tl.multiple_of` and `tl.max_constancy` without checking, and makes "
        "wide loads and stores. On a GPU these stop with a misaligned address, or move elements "
        "that the mask excludes.",
        "Give the hint only where it is true: with a number that the launcher computes for each "
        "input, and that is 1 where nothing is known.",
    ),
    "compile-timeout": FindingText(
        "The kernel takes too long to compile",
        "Compiling was stopped at the time limit.",
        "Use range in place of tl.static_range, which unrolls the loop, or use smaller blocks.",
    ),
    "kernel-error": FindingText(
        "The kernel stops with an error",
        "The line below could not be executed.",
        "Fix this line: the original error says what Triton could not do.",
    ),
}

LAUNCH_FAILS = "The kernel cannot be launched like this"  # an error before its first line

OUTCOMES = {
    "timeout": FindingText(
        "The kernel does not finish in time",
        "The judge stopped it at the time limit. Usually a loop never ends, or very few programs "
        "pass over a large input in small blocks.",
        "Look at the bounds and the step of the loop: does the counter change, does it reach the "
        "end, and how many steps are there for a million elements?",
    ),
    "asleep": FindingText(
        "The submission waits without computing",
        "The judge stopped it: for more than five seconds it neither computed nor waited for a "
        "processor. Kernels and launchers must not sleep, or wait for input, a file or a lock.",
        "Remove the call that waits, such as time.sleep or input.",
    ),
    "too-slow": FindingText(
        "The kernel is correct, but too slow for the larger cases",
        "Every smaller case is correct; this one used up its processor time: 10 s, or 30 s for a "
        "large case. That is worth half of the points. Many tiny programs, a single program, or a "
        "loop over single elements are slow.",
        "Let each program work on a block of many elements, and launch one program for each block.",
    ),
    "crashed": FindingText(
        "The process that ran the submission crashed",
        "The operating system or the GPU stopped it, usually because it accessed memory that it "
        "does not own.",
        "Check every offset against the size of its tensor.",
    ),
    "exited": FindingText(
        "The submission ended its process",
        "A kernel or launcher must return its result and nothing else.",
        "Remove the call that ends the program.",
    ),
    "out-of-memory": FindingText(
        "The submission asked for too much memory",
        "It needs far more than its inputs and outputs do.",
        "Look at the shapes that you allocate and at the block sizes.",
    ),
    "inputs-changed": FindingText(
        "An input was changed",
        "After the call an input holds other values than before. Either tl.store writes to an "
        "input, because the launch passes the tensors in the wrong order, or the launcher uses an "
        "input as the output (output = x, x += y).",
        "Allocate the output with torch.empty_like, and store only to it. Compare the launch with "
        "the kernel's `def` line, position by position.",
    ),
}

WRONG_VALUES = FindingText(
    "Some values are wrong",
    "All elements were stored, but not all of them are correct.",
    "Compute the first wrong element by hand, and compare it with what the kernel does.",
)
