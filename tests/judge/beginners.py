"""Attempts of beginners: a slip in a right kernel, and words that its message must have.

exercise → name → (text of the model solution, what a beginner writes instead, words).
"""

from __future__ import annotations

Attempts = dict[str, tuple[str, str, str]]

ATTEMPTS: dict[str, Attempts] = {
    "copy": {
        "misspelt-store": ("tl.store(", "tl.stroe(", "Did you mean tl.store?"),
        "misspelt-name": ("offsets < n", "ofsets < n", "Did you mean offsets?"),
        "misspelt-argument": ("(axis=0)", "(axes=0)", "Did you mean axis?"),
        "float-grid": (
            "triton.cdiv(n_elements, block_size)",
            "n_elements / block_size",
            "triton.cdiv gives a whole number where / gives a float",
        ),
        "float-block": ("block_size = 1024", "block_size = 1e3", "1000.0, a float"),
        "grid-left-out": ("copy_kernel[grid](", "copy_kernel(", "called without a grid"),
        "store-value-first": (
            "tl.store(output_ptr + offsets, x,",
            "tl.store(x, output_ptr + offsets,",
            "tl.store needs pointers, and these are numbers",
        ),
        "length-of-a-pointer": (
            "offsets < n_elements",
            "offsets < len(x_ptr)",
            "does not know how many elements lie there",
        ),
        "mask-given-as-other": (
            "tl.load(x_ptr + offsets, mask=mask)",
            "tl.load(x_ptr + offsets, other=mask)",
            "there is no mask",
        ),
    },
    "relu2d": {
        "misspelt-function": (
            "tl.where(x > 0, x, 0.0)",
            "tl.maximun(x, 0.0)",
            "Did you mean tl.maximum?",
        ),
        "numpy-clip": ("tl.where(x > 0, x, 0.0)", "x.clip(0)", "Write tl.maximum(x, 0.0)"),
        "torch-relu": (
            "tl.where(x > 0, x, 0.0)",
            "torch.relu(x)",
            "torch is a Python library; a kernel runs on the GPU",
        ),
        "numpy-choice-of-elements": (
            "    tl.store(output_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)",
            "    x[x < 0] = 0.0\n    tl.store(output_ptr + offsets, x, mask=mask)",
            "choose with tl.where",
        ),
        "shape-for-a-number": ("output.numel()", "output.shape", "x.numel() is the number"),
        "brackets-of-a-call": ("output.numel()", "output.numel", "the brackets are missing"),
    },
}
