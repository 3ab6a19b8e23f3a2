"""Mistakes that every exercise knows: recognised by pattern or by engine fault, as data.

An exercise's own misconception, where one matches, is named before any of these.
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
        "On a GPU such a read returns somebody else's data, or stops the program.",
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
        "A sliced or stepped view has gaps between its rows. The pointer arithmetic walks "
        "through them as if they were data.",
        "Pass the strides of the tensor to the kernel: base + i * stride_m + j * stride_n.",
    ),
    "gap-store": FindingText(
        "The kernel writes into the gaps of a view",
        "Those elements belong to the larger tensor behind the view, not to this argument.",
        "Use the strides of the tensor that you write to.",
    ),
    "write-race": FindingText(
        "Two programs write different values to one element",
        "Programs run in no particular order on a GPU: whichever comes last wins.",
        "Give each output element to exactly one program, or combine with tl.atomic_add.",
    ),
    "lane-race": FindingText(
        "Two lanes of one store hit the same element with different values",
        "All lanes of a block store at the same time: which value stays is chance on a GPU.",
        "Print the offsets of one block: each lane must have an element of its own.",
    ),
    "read-write-race": FindingText(
        "A program reads what another program writes",
        "Nothing says which of the two comes first, so the result changes from run to run.",
        "Read only from inputs, or split the work into two kernel launches.",
    ),
    "order-dependent": FindingText(
        "The result depends on the order in which programs run",
        "The judge ran the programs in another order and got another result.",
        "Make each program independent of what the others have done.",
    ),
    "uninitialised-read": FindingText(
        "The kernel reads memory that nobody has written",
        "Memory from torch.empty holds whatever was there before.",
        "Start from torch.zeros, or store before you load.",
    ),
    "masked-lanes-used": FindingText(
        "Masked-off lanes leak into the result",
        "A load with a mask and no `other` leaves the masked lanes undefined, and the "
        "kernel goes on computing with them.",
        "Give tl.load an `other` that is neutral: 0 for sums, -inf for maxima.",
    ),
    "offset-overflow": FindingText(
        "An offset does not fit in 32 bits",
        "Offsets beyond 2**31 wrap around to negative numbers in int32.",
        "Convert the index to 64 bits before you multiply: row.to(tl.int64) * stride.",
    ),
    "device-assert": FindingText(
        "A tl.device_assert in the kernel failed",
        "The condition that you wrote down does not hold for this input.",
        "Print the values with print_if, or run the case in a notebook and look at them.",
    ),
    "address-outside": FindingText(
        "A load leaves the tensor, and its mask is right",
        "The load has the mask of the store, and inputs whose sizes fit no block come out right, "
        "so that mask is right. It is the address that is loaded from: a row and a column that do "
        "not belong to one offset, a stride that is multiplied by the wrong index, or a start that "
        "is added twice.",
        "Take the first lane outside. Which element should it read, in which row and column? Work "
        "its address out by hand, and compare it with the kernel's.",
    ),
    "block-outside": FindingText(
        "A whole block lies outside the tensor",
        "Not the last lanes of a block alone: wherever lanes were outside, all lanes of that load "
        "or store were. No mask is what is missing, because with it their elements would be "
        "missing too. It is the address: the number of a program is taken apart with the wrong "
        "sizes or in the wrong order, a stride belongs to another axis, a start is added twice, "
        "or there are more programs than blocks.",
        "Take the program that is named below. Which block should be its own, where does that "
        "begin, and where does the kernel look for it?",
    ),
    "untrue-hint": FindingText(
        "The compiler is told something that is not true",
        "`tl.multiple_of` and `tl.max_constancy` are believed, not checked: the compiler makes "
        "wide loads and stores of them. On a GPU those stop with a misaligned address, or move "
        "elements that the mask excludes.",
        "Say it only where it is so: with a number that the launcher works out for each input, "
        "and that is 1 where nothing is known.",
    ),
    "compile-timeout": FindingText(
        "The kernel takes too long to compile",
        "Compiling was stopped at the time limit.",
        "Loops over tl.static_range are unrolled, and huge blocks make huge programs: use range, "
        "or smaller blocks.",
    ),
    "kernel-error": FindingText(
        "The kernel stops with an error",
        "The line below could not be executed.",
        "Mend the line and check again.",
    ),
}

LAUNCH_FAILS = "The kernel cannot be launched like this"  # an error before its first line

OUTCOMES = {
    "timeout": FindingText(
        "The kernel comes to no end in the time that it has",
        "The judge stopped it at the time limit. A loop whose end never comes is the usual "
        "cause; very few programs that go through a large input in small blocks are another.",
        "Look at the loop's bounds and step: does the counter change, does it reach the end, and "
        "how often does it run for a million elements?",
    ),
    "asleep": FindingText(
        "The submission waits without computing",
        "The judge stopped it: for more than five seconds it neither computed nor waited for a "
        "processor. Kernels and launchers compute. They do not sleep, and they do not wait for "
        "input, a file or a lock.",
        "Remove the call that waits, such as time.sleep or input.",
    ),
    "too-slow": FindingText(
        "The kernel is right, but too slow for the larger cases",
        "Every smaller case is right; this one was stopped when it had used up the time of the "
        "processor that a case has: 10 s, and 30 s for a large one. That is worth half of the "
        "points. Many very small programs, one program that does everything, or a loop over "
        "single elements: each step costs the interpreter, and a GPU, as much as a step over a "
        "whole block.",
        "Let each program work on a block of many elements, and launch as many programs as there "
        "are blocks.",
    ),
    "crashed": FindingText(
        "The process that ran the submission crashed",
        "A signal of the operating system ended it, or the GPU did, usually after it had touched "
        "memory that it does not own.",
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
        "After the call an input of the launcher holds other values than before. Either the kernel "
        "stores to it: the launch passes the tensors in another order than the kernel's `def` line "
        "names them, so that an input arrives at the parameter of the output, or tl.store gets the "
        "pointer of an input. Or the launcher passes an input as the output (output = x), or "
        "changes it itself, as x += y does.",
        "Allocate the output with torch.empty_like or torch.empty, and store only to it. Put the "
        "launch beside the `def` line of the kernel: the first argument arrives at the first "
        "parameter, the second at the second. The output must arrive at the parameter that "
        "tl.store writes to, and the inputs at those that tl.load reads.",
    ),
}

WRONG_VALUES = FindingText(
    "Some values are wrong",
    "All elements were stored, but not all of them are right.",
    "Work the first wrong element out by hand and compare it with what the kernel does.",
)
