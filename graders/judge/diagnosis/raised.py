"""What to do about an error in the launcher's own Python, by the text of the error."""

from __future__ import annotations

import re

from graders.judge.diagnosis.generic import FindingText

TITLE = "The launcher stops with an error"
LAUNCHER = "launcher"  # the operation of a fault in a function of Triton's that the launcher calls
# A pattern of `Type: text`, what it means, and the next step.
ROWS: tuple[tuple[str, str, str], ...] = (
    (
        r"CUDA",
        "",
        "Allocate on the device of the inputs: torch.empty_like(x), or torch.empty(..., "
        "device=x.device).",
    ),
    (
        r"^KeyError: '(?P<name>\w+)'",
        "There is no entry with the name {name}.",
        'A grid function gets the parameters of the kernel by name: meta["BLOCK_SIZE"] needs a '
        "parameter of the kernel with exactly that name.",
    ),
    (
        r"^ValueError: (not enough|too many) values to unpack",
        "The number of names left of the = differs from the number of values on its right.",
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
        r"^(NameError: name |UnboundLocalError: \D*)'(?P<name>\w+)'",
        "{name} has no value yet when this line runs.",
        "Check the spelling, and set {name} above this line, in the launcher.",
    ),
    (
        r"^ImportError: attempted relative import",
        "An import that begins with a dot needs a file beside this one, and a submission is one "
        "file or one notebook.",
        "Copy the functions that you need from that file into this one.",
    ),
    (
        r"^(AssertionError|RuntimeError): Torch not compiled with (?P<name>\w+) enabled",
        "The launcher asks torch for {name}, which the judge's torch does not have.",
        "Remove that call, or ask for what an NVIDIA GPU has: torch.cuda.get_device_properties(0).",
    ),
    (
        r"^(ModuleNotFoundError|ImportError): (No module named|cannot import name) "
        r"'(?P<name>[\w.]+)'",
        "{name} cannot be imported: a submission is one file or one notebook, without your own "
        "files beside it. It may import torch, triton, numpy and the standard library.",
        "Copy the functions that you need from {name} into this file or notebook.",
    ),
    (
        r"^TypeError: (cannot unpack non-iterable|.*must be an iterable, not) "
        r"(builtin_function_or_method|method)",
        "A method is used here without its round brackets, so there is nothing to unpack.",
        "Call it: x.stride() and x.size() give as many numbers as x has axes. (x.shape is the one "
        "without brackets.)",
    ),
    (
        r"^TypeError: cannot unpack non-iterable (?P<kind>int|float|NoneType)",
        "There are several names left of the =, but only one value on its right ({kind}).",
        "Give as many values as there are names: n_rows, n_cols = x.shape for a matrix, "
        "block_m, block_n = 16, 64.",
    ),
    (
        r"^TypeError: .*must be an iterable, not (?P<kind>\w+)",
        "The star unpacks several values, and this is a single one ({kind}).",
        "Leave out the star, or unpack x.stride() or x.shape.",
    ),
    (
        r"^TypeError: '(?P<kind>int|float|NoneType)' object is not subscriptable",
        "[ ] selects one entry of several, but this is a single value ({kind}).",
        "Leave out the [ ], or ask a tuple: x.shape[0], x.stride()[0].",
    ),
    (
        r"^TypeError: '(?P<kind>type|function|_lru_cache_wrapper)' object is not subscriptable",
        "[ ] follows a {kind}; only a kernel is launched with [ ].",
        "Call a function with round brackets. Is @triton.jit missing above the kernel?",
    ),
    (
        r"^TypeError: '(?P<kind>(?!builtin_|method)\w+)' object is not subscriptable",
        "[ ] selects one entry of several, but a {kind} has no entries.",
        "Check the value before the [ ]: a tuple such as x.shape has entries.",
    ),
    (
        r"^AttributeError: 'NoneType' object has no attribute '(?P<name>\w+)'",
        "The value before .{name} is None.",
        "A function without `return` gives None, and so does a launch. Allocate the output before "
        "the launch: output = torch.empty_like(x).",
    ),
    (
        r"^TypeError: empty\(\): argument 'size'|^TypeError: (empty|zeros|full|ones)\(\)",
        "torch.empty needs the shape as a tuple of integers, and the dtype by its name.",
        "Write torch.empty_like(x), or torch.empty((n_rows, n_cols), dtype=x.dtype, "
        "device=x.device).",
    ),
    (
        r"^TypeError: '(?P<kind>int|float|tuple|list|str|NoneType)' object is not callable",
        "Round brackets call a function, but here they follow a value ({kind}).",
        "Remove the brackets. (A grid that is a tuple needs none: kernel[grid](…).)",
    ),
    (
        r"^TypeError: '(builtin_function_or_method|method)' object",
        "A method is used here without its brackets.",
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
        r"^TypeError: '(Size|torch\.Size)' object is not callable",
        "x.shape is a tuple, not a function.",
        "Write x.shape[0], or x.size(0).",
    ),
    (
        r"^TypeError: can only concatenate tuple|"
        r"^TypeError: unsupported operand .*'(torch\.Size|tuple)'",
        "There is a tuple of numbers where one number is needed.",
        "x.numel() is the number of elements, x.shape[0] the number of rows, x.stride(0) the first "
        "stride.",
    ),
)


def raised_text(error: str) -> FindingText:
    """Title, meaning and next step for `Type: text`; no meaning if no row matches."""
    for pattern, message, advice in ROWS:
        match = re.search(pattern, error)
        if match:
            named = match.groupdict()
            return FindingText(TITLE, message.format_map(named), advice.format_map(named))
    return FindingText(
        TITLE, "", ("Fix this line: the original error says what Python could not do.")
    )
