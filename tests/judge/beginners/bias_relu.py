"""Attempts of beginners at `bias_relu`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "bias-not-loaded": Attempt(
        "compile-error",
        "A pointer is computed with here",
        ("x + bias[None, :]", "x + bias_ptr"),
    ),
    "bias-down": Attempt(
        "compile-error",
        "Make rows and columns with [:, None] and [None, :]",
        ("bias[None, :]", "bias[:, None]"),
    ),
    "bias-mask": Attempt(
        "compile-error",
        "has shape (1, 16, 64), but its pointers have shape (16, 64)",
        ("mask=cols < n_cols, other=0.0", "mask=mask, other=0.0"),
    ),
    "bias-made-a-row-too-early": Attempt(
        "compile-error",
        "on a block that has two axes already",
        (
            "bias_ptr + cols * stride_bias, mask=cols < n_cols",
            "bias_ptr + (cols * stride_bias)[None, :], mask=(cols < n_cols)[None, :]",
        ),
    ),
    "sizes-behind-the-strides": Attempt(
        "launch-order",
        "The mistake is in the launch, not in the mask",
        (
            "        n_rows,\n        n_cols,\n        x.stride(0),\n        x.stride(1),\n",
            "        x.stride(0),\n        x.stride(1),\n        n_rows,\n        n_cols,\n",
        ),
    ),
    "tl-relu": Attempt(
        "compile-error",
        "Write tl.maximum(x, 0.0)",
        ("tl.maximum(x + bias[None, :], 0.0)", "tl.relu(x + bias[None, :])"),
    ),
    "maximum-of-one": Attempt(
        "compile-error",
        "it compares two values, lane by lane",
        ("tl.maximum(x + bias[None, :], 0.0)", "tl.maximum(x + bias[None, :])"),
    ),
    "max-of-the-block": Attempt(
        "block-reduced",
        "its 0 is an axis",
        ("tl.maximum(x + bias[None, :], 0.0)", "tl.max(x + bias[None, :], 0)"),
    ),
    "stride-not-called": Attempt(
        "kernel-error",
        "The launch passes a function for stride_bias",
        ("bias.stride(0)", "bias.stride"),
    ),
    "inputs-swapped": Attempt(
        "address-outside",
        "x_ptr gets a tensor of the shape of bias",
        (
            "        x,\n        bias,\n        output,",
            "        bias,\n        x,\n        output,",
        ),
    ),
    "output-forgotten": Attempt(
        "kernel-error",
        "output_ptr ← 64",
        ("        bias,\n        output,", "        bias,"),
    ),
    "one-number-for-two": Attempt(
        "raised",
        "block_m, block_n = 16, 64",
        ("block_m, block_n = 16, 64", "block_m, block_n = 16"),
    ),
    "block-left-out": Attempt(
        "kernel-error",
        "Nothing arrives at BLOCK_M.",
        ("        BLOCK_M=block_m,\n", ""),
    ),
    "names-in-small": Attempt(
        "kernel-error",
        "There is no parameter called block_m.",
        ("BLOCK_M=block_m,\n        BLOCK_N=block_n", "block_m=block_m,\n        block_n=block_n"),
    ),
    "bias-indexed": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("tl.load(bias_ptr + cols * stride_bias, mask=cols < n_cols, other=0.0)", "bias_ptr[cols]"),
    ),
    "max-axis-float": Attempt(
        "compile-error",
        "here it is 0.0",
        ("tl.maximum(x + bias[None, :], 0.0)", "tl.max(x + bias[None, :], 0.0)"),
    ),
    "bias-size-asked": Attempt(
        "compile-error",
        "does not know how many elements lie there",
        ("mask=cols < n_cols", "mask=cols < len(bias_ptr)"),
    ),
    "clamp-with-min": Attempt(
        "compile-error",
        "for one of them there are tl.maximum(x, low)",
        ("tl.maximum(x + bias[None, :], 0.0)", "tl.clamp(x + bias[None, :], min=0)"),
    ),
    "rows-times-columns": Attempt(
        "compile-error",
        "Make rows and columns with [:, None] and [None, :]",
        ("rows[:, None] * n_cols", "rows * n_cols"),
    ),
    "float-block": Attempt(
        "compile-error",
        "a float: divide with //",
        ("block_m, block_n = 16, 64", "block_m, block_n = 16, n_cols / 2"),
    ),
    "result-misspelt": Attempt(
        "undefined-name",
        "Did you mean result?",
        ("result.to(output_ptr", "reslut.to(output_ptr"),
    ),
    "output-of-ones": Attempt(
        "wrong-return",
        "it returned a tensor of shape (4096,)",
        (
            "torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)",
            "torch.empty(n_rows * n_cols, dtype=x.dtype, device=x.device)",
        ),
    ),
    "bias-strides-two": Attempt(
        "raised",
        "Axes count from 0",
        ("bias.stride(0)", "bias.stride(1)"),
    ),
    "result-is-x": Attempt(
        "wrong-return",
        "Allocate the output",
        ("    output = torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)\n", ""),
        ("bias,\n        output,", "bias,\n        x,"),
        ("return output", "return x"),
    ),
    "plus-in-python": Attempt(
        "not-triton",
        "Write a + b.",
        ("x + bias[None, :]", "x.add(bias[None, :])"),
    ),
    "grid-called": Attempt(
        "raised",
        "A grid that is a tuple needs none",
        ("bias_relu_kernel[grid](", "bias_relu_kernel[grid()]("),
    ),
}
