"""The questions of the tour, which has no graded exercise."""

from __future__ import annotations

from graders.judge.records import Choice, Exercise, Question

EXERCISES: tuple[Exercise, ...] = ()

QUIZ = (
    Question(
        "Which variable makes Triton kernels run in the interpreter on the CPU, and when must it "
        "be set?",
        (
            Choice(
                "DEBUG_TRITON=1, at any time.",
                "Triton does not know that variable; setting it changes nothing.",
            ),
            Choice(
                "TRITON_INTERPRET=1, before triton is imported.",
                "Yes. The set-up cell of each lesson does it where there is no GPU.",
                right=True,
            ),
            Choice(
                "TRITON_INTERPRET=1, any time before the kernel is launched.",
                "Too late: `@triton.jit` decides when it meets the function. A kernel that was "
                "defined before asks for a GPU.",
            ),
        ),
    ),
    Question(
        "In the interpreter one kernel takes 3 seconds and another 1 second. What does that say "
        "about a GPU?",
        (
            Choice(
                "The second one is three times as fast there.",
                "The interpreter's time is the time of Python and numpy. A GPU spends its time "
                "on quite other things.",
            ),
            Choice(
                "Nothing. Count the bytes and the operations instead.",
                "Yes. These are the same on every machine, and they predict a GPU's time well.",
                right=True,
            ),
            Choice(
                "The first one is limited by memory.",
                "Whether a kernel waits for memory shows in its bytes and operations, not in the "
                "interpreter's time.",
            ),
        ),
    ),
    Question(
        "A check passes. What do you know?",
        (
            Choice(
                "That the kernel is right for every input.",
                "No finite number of inputs proves that. But the cases are chosen where mistakes "
                "live.",
            ),
            Choice(
                "That it agreed with a trusted reference on many chosen inputs, touched no memory "
                "outside its arguments, and compiles for GPUs.",
                "Yes. A strong sign, and the same judge as in a class.",
                right=True,
            ),
            Choice(
                "That it is as fast as it can be.",
                "Speed is looked at only where there is a GPU; elsewhere the gate says that it "
                "was not run.",
            ),
        ),
    ),
)
