"""Attempts of beginners at `relu2d`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "misspelt-function": Attempt(
        "compile-error",
        "Did you mean tl.maximum?",
        ("tl.where(x > 0, x, 0.0)", "tl.maximun(x, 0.0)"),
    ),
    "numpy-clip": Attempt(
        "not-triton",
        "Write tl.maximum(x, 0.0)",
        ("tl.where(x > 0, x, 0.0)", "x.clip(0)"),
    ),
    "torch-relu": Attempt(
        "not-triton",
        "torch is a Python library, and a kernel cannot use it",
        ("tl.where(x > 0, x, 0.0)", "torch.relu(x)"),
    ),
    "numpy-choice-of-elements": Attempt(
        "not-triton",
        "select with tl.where",
        (
            "    tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)",
            "    x[x < 0] = 0.0\n    tl.store(output_ptr + offsets, x, mask=mask)",
        ),
    ),
    "shape-for-a-number": Attempt(
        "kernel-error",
        "x.numel() is the number",
        ("output.numel()", "output.shape"),
    ),
    "brackets-of-a-call": Attempt(
        "kernel-error",
        "the brackets are missing",
        ("output.numel()", "output.numel"),
    ),
    "numpy-maximum": Attempt(
        "undefined-name",
        "tl.maximum(x, 0.0)",
        ("tl.where(x > 0, x, 0.0)", "np.maximum(x, 0)"),
    ),
    "tl-relu": Attempt(
        "compile-error",
        "tl has no relu. Write tl.maximum(x, 0.0)",
        ("tl.where(x > 0, x, 0.0)", "tl.relu(x)"),
    ),
    "x-relu": Attempt(
        "not-triton",
        "Write tl.maximum(x, 0.0)",
        ("tl.where(x > 0, x, 0.0)", "x.relu()"),
    ),
    "tl-max": Attempt(
        "block-reduced",
        "tl.max(x, 0) gives the largest element along axis 0",
        ("tl.where(x > 0, x, 0.0)", "tl.max(x, 0)"),
    ),
    "tl-max-float": Attempt(
        "compile-error",
        "tl.maximum(x, 0.0) compares lane by lane",
        ("tl.where(x > 0, x, 0.0)", "tl.max(x, 0.0)"),
    ),
    "if-on-a-block": Attempt(
        "compile-error",
        "Choose lane by lane with tl.where",
        (
            "    tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)",
            ("    if x < 0:\n        x = 0.0\n    tl.store(output_ptr + offsets, x, mask=mask)"),
        ),
    ),
    "where-of-pointers": Attempt(
        "compile-error",
        "Are the numbers behind the pointer meant?",
        ("tl.where(x > 0, x, 0.0)", "tl.where(x_ptr > 0, x_ptr, 0.0)"),
    ),
    "where-without-else": Attempt(
        "compile-error",
        "what a lane gets where the condition holds",
        ("tl.where(x > 0, x, 0.0)", "tl.where(x > 0, x)"),
    ),
    "rows-only": Attempt(
        "rows-for-elements",
        "n_elements = 1030",
        ("output.numel()", "x.shape[0]"),
    ),
    "three-names": Attempt(
        "raised",
        "The number of names left of the = differs from the number of values",
        ("n_elements = output.numel()", "b, h, w = x.shape\n    n_elements = b * h * w"),
    ),
    "float-of-a-block": Attempt(
        "compile-error",
        "Python's float() converts one number",
        ("tl.where(x > 0, x, 0.0)", "max(float(x), 0.0)"),
    ),
    "name-of-the-launcher": Attempt(
        "compile-error",
        "Sizes and strides are passed by the launcher",
        ("offsets < n_elements", "offsets < x.numel()"),
    ),
    "empty-called-wrongly": Attempt(
        "raised",
        "x.shape is a tuple, not a function",
        ("torch.empty_like(x)", "torch.empty(x.shape())"),
    ),
    "not-in-place": Attempt(
        "wrong-return",
        "Allocate the output",
        ("output = torch.empty_like(x)", "output = x"),
    ),
    "import-inside": Attempt(
        "not-triton",
        "Remove this line. A kernel can use tl,",
        ("    pid = tl.program_id(axis=0)", "    import torch\n    pid = tl.program_id(axis=0)"),
    ),
    "where-torch": Attempt(
        "not-triton",
        "Did you mean tl.where?",
        ("tl.where(x > 0, x, 0.0)", "torch.where(x > 0, x, 0.0)"),
    ),
    "math-fabs": Attempt(
        "compile-error",
        "Write tl.abs(x)",
        ("tl.where(x > 0, x, 0.0)", "(x + abs(x)) / 2"),
    ),
}
