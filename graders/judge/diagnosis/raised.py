"""What to do about an error in the launcher's own Python, by the text of the error."""

from __future__ import annotations

import re

from graders.judge.diagnosis.generic import FindingText

TITLE = "The launcher stops with an error"
# A pattern of `Type: text`, what it means, and the next step.
ROWS: tuple[tuple[str, str, str], ...] = (
    (
        r"CUDA",
        "",
        "Allocate where the inputs are, wherever that is: torch.empty_like(x), or "
        "torch.empty(..., device=x.device).",
    ),
    (
        r"^KeyError: '(?P<name>\w+)'",
        "Nothing is kept under the name {name}.",
        'A grid function gets the parameters of the kernel by name: meta["BLOCK_SIZE"] needs a '
        "parameter of the kernel that is spelt exactly so.",
    ),
    (
        r"^ValueError: (not enough|too many) values to unpack",
        "The names left of the = are not as many as the values on its right.",
        "x.shape has one number for each axis: n_rows, n_cols = x.shape for a matrix, "
        "x.numel() for the number of all elements.",
    ),
    (
        r"^IndexError: tuple index out of range",
        "A tuple is asked for an entry that it does not have.",
        "x.shape[0] is the first size and x.shape[1] the second; a vector has one only.",
    ),
    (
        r"^IndexError: Dimension out of range",
        "There is no such axis.",
        "Axes count from 0: a vector has x.stride(0) and x.size(0), a matrix also those of 1.",
    ),
    (
        r"^(NameError: name|UnboundLocalError: \D*)'(?P<name>\w+)'",
        "{name} has no value yet when this line runs.",
        "Check the spelling, and set it above this line, in the launcher.",
    ),
    (
        r"^TypeError: '(builtin_function_or_method|method)' object",
        "A method stands here without its brackets.",
        "Call it: x.numel(), x.stride(0), x.size(0). (x.shape is the one without brackets.)",
    ),
    (
        r"^TypeError: .*'(builtin_function_or_method|method)'",
        "A method is used here as if it were its result: the brackets are missing.",
        "Call it: x.numel(), x.stride(0), x.size(0). (x.shape is the one without brackets.)",
    ),
    (
        r"^TypeError: (?P<name>\w+)\(\) missing \d+ required",
        "{name} is called with too few arguments.",
        "Compare the call with the function's parameters.",
    ),
    (
        r"^TypeError: '(Size|torch\.Size|tuple)' object is not callable",
        "x.shape is a tuple, not a function.",
        "Write x.shape[0], or x.size(0).",
    ),
    (
        r"^TypeError: can only concatenate tuple|"
        r"^TypeError: unsupported operand .*'(torch\.Size|tuple)'",
        "A tuple of numbers stands where one number is needed.",
        "x.numel() is the number of elements, x.shape[0] the number of rows, x.stride(0) the first "
        "stride.",
    ),
)


def raised_text(error: str) -> FindingText:
    """Title, meaning and next step for `Type: text`; no meaning where no row fits."""
    for pattern, message, advice in ROWS:
        match = re.search(pattern, error)
        if match:
            return FindingText(TITLE, message.format_map(match.groupdict()), advice)
    return FindingText(TITLE, "", "Mend it and check again.")
