"""Messages about a value of the wrong kind for its place.  See `messages`.

These rows are searched first, because they are more precise than the later rows.
"""

from __future__ import annotations

Row = tuple[str, str, str, str]

VALUES: tuple[Row, ...] = (
    (
        "brackets-of-a-call",
        r"cannot convert <function (?P<function>\w+) at|"
        r"'function' object (has no attribute '?(?!arg_names|fn\b)\w+|is not subscriptable)|"
        r"'function' and '|and 'function'",
        "{function} stands here without its round brackets: that is the function itself, and not "
        "what it gives.",
        "{usage}",
    ),
    (
        "number-called",
        r"unhashable type: '(tensor|Block)'|'(tensor|Block)' object is not callable",
        "{name} is a number or a block, and it is called here like a function.",
        "Leave out the brackets behind it: {name}.",
    ),
    (
        "python-conversion",
        r"\b(?P<function>int|float)\(\) argument must be",
        "Python's {function}() converts one number of Python's own, and this is a block, or a "
        "number that only the GPU knows.",
        "Convert with .to: x.to(tl.int32), x.to(tl.float32).",
    ),
    (
        "axis-no-number",
        r"create_reduce\(\): incompatible function arguments|"
        r"'<=?' not supported between instances of '(int|str)' and '(int|str)'",
        "An axis is a whole number, 0 or 1, and here it is something else.",
        "Write tl.sum(x, axis=0) for a block of one axis; of rows and columns, axis=1 goes along "
        "the rows.",
    ),
    (
        "pointer-stored",
        r"cannot cast pointer<",
        "tl.store gets a pointer for its value: the address, and not the numbers that lie there.",
        "Load first, x = tl.load(x_ptr + offsets, mask=mask), and store x.",
    ),
    (
        "whole-number-for-fp8",
        r"cannot cast u?int\d+(\[\S*\])? to (<\[[^\]]*\], )?(?P<format>fp8\w+)",
        "A whole number stands where a number in {format} is due, and Triton does not convert one "
        "into the other.",
        "Write it with a point: other=0.0 in place of other=0. A block of whole numbers goes "
        "through .to(tl.float32) first.",
    ),
    (
        "list-for-a-block",
        r"'list' object has no attribute|cannot convert \[|'list' and '(tensor|Block)'|"
        r"'(tensor|Block)' and 'list'",
        "A list of Python stands where a block is needed.",
        "Write tl.arange(0, BLOCK_SIZE) for a block of offsets, tl.zeros((BLOCK_SIZE,), "
        "tl.float32) for a block of numbers.",
    ),
    (
        "method-handed-over",
        r"argument (?P<name>\w+) holds a (builtin_function_or_method|method|function), which",
        "The launch passes a function for {name}: the round brackets of a call are missing.",
        "Call it: x.stride(0), x.numel(), x.size(0). (x.shape is the one without brackets.)",
    ),
    (
        "entry-of-a-number",
        r"'(?P<what>int|float|constexpr|dtype)' object is not subscriptable",
        "[ ] asks for one entry of several, and this is a single {what}.",
        "Leave out the [ ].",
    ),
)

# What a learner's line adds to an error's text: kind → (sentence, advice), see `lines`.
BY_LINE: dict[str, tuple[str, str]] = {
    "pointer-not-loaded": (
        "A pointer is computed with here, as if it were the numbers that lie there: it is their "
        "address.",
        "Load first, x = tl.load(x_ptr + offsets, mask=mask), and compute with x.",
    ),
    "shape-of-a-pointer": (
        "{name} is a pointer: an address, which knows no shape, no strides and no length.",
        "Pass what you need from the launcher as numbers: x.numel(), x.shape[0], x.stride(0).",
    ),
    "axis-no-number": (
        "An axis is a whole number, 0 or 1, and here it is {axis}.",
        "Write axis=0. (tl.max and tl.sum make one number of a block; tl.maximum(x, 0.0) compares "
        "lane by lane.)",
    ),
    "range-of-a-float": (
        "The length of a block must be a whole number, and `/` gives a float: {division} is one.",
        "Divide with //, as in tl.arange(0, BLOCK_SIZE // 2).",
    ),
    "range-of-a-program": (
        "Both ends of tl.arange must be known when the kernel is compiled, and these depend on the "
        "program.",
        "Count from 0 and add the start of the block: pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE).",
    ),
    "list-for-arguments": (
        "{function} gets several values in brackets here: a list or tuple, which is no block.",
        "Combine blocks by arithmetic, each by its own name: 0.5 * a + 0.5 * b is a weighted sum. "
        "(tl.dot multiplies matrices: two blocks, each with rows and columns.)",
    ),
    "used-before-set": (
        "{name} is used here before it has a value: it gets one only in this line or below.",
        "{guess}",
    ),
    "python-function": (
        "Python's {name}() is not there in a kernel.",
        "{guess}",
    ),
}
