"""Messages for failures of a plain function that can happen in every exercise."""

from __future__ import annotations

from graders.judge.diagnosis.generic import FindingText
from graders.judge.plain_text import one_line

RETURNED = FindingText(
    "The function returns the wrong thing",
    "The returned value is not what the contract asks for.",
    "Look at every `return` of the function: does each path end in one, with plain numbers?",
)
NOT_FINITE = FindingText(
    "A result is not a finite number",
    "An infinity or a NaN comes from a division by zero, or from numbers too large for a float.",
    "Print the parts of the expression for this case: which one is zero or infinite?",
)
SWAPPED = FindingText(
    "The results are in the wrong order",
    "Each number is correct, but at the place of another one.",
    "Compare the order in your `return` with the contract's.",
)
UNIT = FindingText(
    "The result is off by a power of ten",
    "All digits are correct, so the formula is too. A unit is wrong: milliseconds for seconds, or "
    "bytes for gigabytes.",
    "Write the unit beside each quantity, and multiply by the power of ten where it changes: a "
    "millisecond is 1e-3 s, a gigabyte 1e9 bytes.",
)
VALUES = FindingText(
    "A result is wrong",
    "The function returns numbers, but not the correct ones.",
    "Compute this case by hand, and compare each step with your function.",
)
ENDED = {
    "timeout": FindingText(
        "The function does not finish",
        "The judge stopped it at the time limit. Usually a loop never ends.",
        "Look at the loops: what ends each of them?",
    ),
    "out-of-memory": FindingText(
        "The function asks for too much memory",
        "It needs gigabytes where a few numbers are enough.",
        "Look for a list or a tensor that grows with the size of the problem.",
    ),
    "crashed": FindingText(
        "The process that ran the function crashed",
        "The operating system stopped it with a signal.",
        "Remove what goes beyond plain Python, and check again.",
    ),
    "exited": FindingText(
        "The function ended its process",
        "It must return its result and nothing else.",
        "Remove calls that end the program or write anywhere.",
    ),
}
# The type of an error, and the next step.
ADVICE = {
    "ZeroDivisionError": "Which of the numbers is 0 here? (An empty list has no mean.)",
    "NameError": "Check the spelling, and set the name above this line.",
    "UnboundLocalError": "Set the name on every path that leads to this line.",
    "KeyError": "Compare the key with what the contract names.",
    "IndexError": "How long is the list here? Its first index is 0.",
    "AttributeError": "Compare the name after the dot with the contract.",
    "ImportError": "Do without that module: nothing but Python and torch is needed.",
    "ModuleNotFoundError": "Do without that module: nothing but Python and torch is needed.",
}


def raised(kind: str, text: str) -> FindingText:
    """Return the message about an error."""
    title = "The function stops with an error"
    advice = ADVICE.get(kind, "Fix this line, then check again.")
    told = f"{kind}: {one_line(text)}" if text else f"{kind}."
    return FindingText(title, told, advice)
