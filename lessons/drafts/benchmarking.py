"""Quiz and hints of lesson 10, for graders/exercises/benchmarking.py.

They move there, and 10_benchmarking.py one folder up, once the judge can grade plain Python.
"""

from graders.judge.records import Choice, Question

HINTS = {
    "fair_ms": (
        "The host's clock is the wrong one for this. Put two events into the queue, right before "
        "and right after the launch, and read them when you have waited.",
        "Warm up with some dozens of launches. Then, in each round: new inputs first, *then* flush "
        "the cache, then event, launch, event. Wait once, behind all rounds. (While the GPU "
        "flushes, the host gets ahead: so a short kernel has no gap before it.)",
        "`inputs = fresh_inputs(); gpu.flush_l2(); start = gpu.record(); run(*inputs); "
        "pairs.append((start, gpu.record()))`, 51 times; `gpu.synchronize()`; then "
        "`sorted(end.ms - start.ms for start, end in pairs)[25]`.",
    ),
    "throughput": (
        "Count what must be read and written at least, once each, and what must be computed.",
        "`torch.Size(shape).numel()` is the number of elements. Layer norm reads two rows more, "
        "weight and bias. A product has three matrices, and 2 · m · k · n operations.",
        "`seconds = milliseconds * 1e-3`; GB/s is `elements * dtype.itemsize / seconds * 1e-9`, "
        "TFLOP/s `operations / seconds * 1e-12`.",
    ),
}

QUIZ = (
    Question(
        "Somebody reads the host's clock before and after a launch. What is measured?",
        (
            Choice(
                "The kernel.",
                "A launch returns before the kernel has run, often before it has begun.",
            ),
            Choice(
                "What the host needs to launch it.",
                "Yes: a few microseconds, however long the kernel takes.",
                right=True,
            ),
            Choice(
                "The kernel and everything that was in the queue before it.",
                "For that the host would have to wait. It does not.",
            ),
        ),
    ),
    Question(
        "Why flush the L2 cache before each call?",
        (
            Choice(
                "So that the inputs come from memory, as they do between other kernels.",
                "Yes. In a loop over the same inputs the cache would hold them.",
                right=True,
            ),
            Choice(
                "So that the result is right.",
                "The result is the same; the time is not.",
            ),
            Choice(
                "Because a full cache slows the kernel down.",
                "A cache with your inputs makes it faster, more than it will be in a program.",
            ),
        ),
    ),
    Question(
        "Which number of many calls do you report?",
        (
            Choice(
                "The best: everything above it is disturbance.",
                "Clocks and luck go both ways. The best of many tells mostly how many there were.",
            ),
            Choice(
                "The mean: it uses all of them.",
                "One disturbed call in twenty can raise it by half.",
            ),
            Choice(
                "The median, with the spread.",
                "Yes. Half of the calls are faster, half slower; the spread says how sure that is.",
                right=True,
            ),
        ),
    ),
    Question(
        "Why is a strong baseline, such as cuBLAS, worth the trouble?",
        (
            Choice(
                "It shows whether the kernel is worth having at all.",
                "Yes. Against a chain of eager operations nearly anything wins.",
                right=True,
            ),
            Choice(
                "It proves that the kernel is right.",
                "That takes a reference and a tolerance. A baseline is about speed.",
            ),
            Choice(
                "It makes the GPU run at a higher clock.",
                "It does not. If anything the card gets hotter.",
            ),
        ),
    ),
    Question(
        "A kernel reaches 6,000 GB/s on an H200, whose memory does 4,800 on paper. What now?",
        (
            Choice(
                "Publish.",
                "No kernel moves more than the memory can.",
            ),
            Choice(
                "It uses compression.",
                "A kernel that reads and writes ordinary tensors has none.",
            ),
            Choice(
                "Look for the mistake: a warm cache, bytes counted twice, a kernel that did not "
                "run.",
                "Yes. A figure above the limit is a finding about the stopwatch.",
                right=True,
            ),
        ),
    ),
)
