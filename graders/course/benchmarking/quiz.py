"""The questions of the lesson benchmarking."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "You read the host's clock before and after a launch, without waiting. What do you "
        "measure?",
        (
            Choice(
                "The kernel",
                "A launch returns before the kernel has finished, often before it has started.",
            ),
            Choice(
                "The host's work for the launch",
                "Yes: a few microseconds, however long the kernel takes.",
                right=True,
            ),
            Choice(
                "The kernel and all earlier work in the queue",
                "The host would have to wait for that. It does not.",
            ),
            Choice(
                "The compilation of the kernel",
                "Only the first call compiles. Later calls return after a few microseconds.",
            ),
        ),
    ),
    Question(
        "Each round runs `inputs = fresh_inputs()`, `start = gpu.record()`, `gpu.flush_l2()`, "
        "`run(*inputs)`, `end = gpu.record()`. What is wrong?",
        (
            Choice(
                "The inputs are in the cache when the kernel runs",
                "The flush comes after the inputs, so they are not.",
            ),
            Choice(
                "The time between the events includes the flush",
                "Yes: flush first, then record the first event.",
                right=True,
            ),
            Choice(
                "The host must wait before each event",
                "That would empty the queue, and a gap before a short kernel would be measured, "
                "too.",
            ),
            Choice(
                "The second event must be recorded before the launch",
                "Then the kernel would not be between the two events.",
            ),
        ),
    ),
    Question(
        "Why flush the L2 cache before each call?",
        (
            Choice(
                "So that the inputs come from memory",
                "Yes. In a program other kernels run in between. In a loop over the same "
                "inputs, the cache keeps them.",
                right=True,
            ),
            Choice(
                "So that the kernel does not return old results",
                "The result is the same with or without a flush. The time is not.",
            ),
            Choice(
                "Because a full cache slows the kernel down",
                "A cache with your inputs makes the kernel faster than it is in a program.",
            ),
            Choice(
                "So that every call runs at the same clock",
                "The clock depends on load and power, not on the cache.",
            ),
        ),
    ),
    Question(
        "Which number of many calls do you report?",
        (
            Choice(
                "The best: everything above it is disturbance",
                "Some calls are faster than usual. The more calls you make, the better the best "
                "one gets.",
            ),
            Choice(
                "The mean: it uses all calls",
                "One disturbed call in twenty can raise it by half.",
            ),
            Choice(
                "The median, with the spread",
                "Yes. Half of the calls are faster, half slower, and the spread shows how "
                "reliable it is.",
                right=True,
            ),
            Choice(
                "The last one, because the GPU is warm then",
                "A single call may be a disturbed one.",
            ),
        ),
    ),
    Question(
        "Why compare with a strong baseline, such as cuBLAS?",
        (
            Choice(
                "It shows whether the kernel is worth using",
                "Yes. Against a chain of eager operations nearly every fused kernel wins.",
                right=True,
            ),
            Choice(
                "It proves that the kernel is correct",
                "That needs a reference and a tolerance. A baseline is about speed.",
            ),
            Choice(
                "It makes the GPU run at a higher clock",
                "It does not. Under load the clock rather falls.",
            ),
            Choice(
                "It makes figures from different days comparable",
                "Only measurements in turns, in one run, are comparable.",
            ),
        ),
    ),
    Question(
        "A kernel reaches 6,000 GB/s on an H200, whose memory does 4,800 by its data sheet. "
        "What now?",
        (
            Choice(
                "Publish it: the kernel is well written",
                "No kernel moves more bytes than the memory can.",
            ),
            Choice(
                "The hardware compresses the data, so this is normal",
                "Ordinary tensors are not compressed.",
            ),
            Choice(
                "Look for the mistake in the measurement",
                "Yes: for example a warm cache, bytes counted twice, or a kernel that did not run.",
                right=True,
            ),
            Choice(
                "Report TFLOP/s instead, which have no limit",
                "They have a limit, too, and the time is still wrong.",
            ),
        ),
    ),
)
