"""What a tutor says of a plain function that goes wrong in a way which every exercise knows."""

from __future__ import annotations

from graders.judge.diagnosis.generic import FindingText
from graders.judge.plain_text import one_line

RETURNED = FindingText(
    "The function returns the wrong thing",
    "What comes back is not what the contract asks for.",
    "Look at every `return` of the function: does each path end in one, and with plain numbers?",
)
NOT_FINITE = FindingText(
    "A result is no finite number",
    "An infinity or a NaN comes from a division by zero, or from numbers that grow beyond all "
    "floats.",
    "Print the parts of the expression for this case, and look which one is zero or endless.",
)
SWAPPED = FindingText(
    "The results stand in the wrong order",
    "Each number is right, and stands in the place of another one.",
    "Compare the order in your `return` with the contract's.",
)
UNIT = FindingText(
    "The result is off by a power of ten",
    "All digits are right, so the formula is. A unit is not: milliseconds for seconds, say, or "
    "bytes for gigabytes.",
    "Write the unit beside each quantity, and multiply by the power of ten where it changes: a "
    "millisecond is 1e-3 s, a gigabyte 1e9 bytes.",
)
VALUES = FindingText(
    "A result is wrong",
    "The function returns numbers, and they are not the right ones.",
    "Work this case out by hand, and compare it with what your function does step by step.",
)
ENDED = {
    "timeout": FindingText(
        "The function comes to no end",
        "The judge stopped it at the time limit. A loop whose end never comes is the usual cause.",
        "Look at the loops: what ends each of them?",
    ),
    "out-of-memory": FindingText(
        "The function asks for too much memory",
        "It needs gigabytes where some numbers would do.",
        "Look for a list or a tensor that grows with the size of the problem.",
    ),
    "crashed": FindingText(
        "The process that ran the function crashed",
        "A signal of the operating system ended it.",
        "Take out what reaches beyond plain Python, and check again.",
    ),
    "exited": FindingText(
        "The function ended its process",
        "It must return its result and nothing else.",
        "Remove what ends the program, and what writes anywhere.",
    ),
}
# The type of an error, and the next step.
ADVICE = {
    "ZeroDivisionError": "Which of the numbers is 0 here? An empty list has no mean, either.",
    "NameError": "Check the spelling, and set the name above this line.",
    "UnboundLocalError": "Set the name on every path that leads to this line.",
    "KeyError": "Compare the key with what the contract names.",
    "IndexError": "How long is the list here, and from where do you count?",
    "AttributeError": "Compare the name behind the dot with the contract.",
    "ImportError": "Do without that module: nothing but Python and torch is needed.",
    "ModuleNotFoundError": "Do without that module: nothing but Python and torch is needed.",
}


def raised(kind: str, text: str) -> FindingText:
    """What is said of an error."""
    title = "The function stops with an error"
    advice = ADVICE.get(kind, "Mend the line and check again.")
    told = f"{kind}: {one_line(text)}" if text else f"{kind}."
    return FindingText(title, told, advice)
