"""Attempts of beginners at `transpose`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "tl-trans-in-the-launcher": Attempt(
        "kernel-error",
        "Leave the computing to the kernel",
        (
            (
                "    transpose_kernel[grid](\n"
                "        x, output, n_rows, n_cols, x.stride(0), x.stride(1), "
                "BLOCK_SIZE=block_size\n"
                "    )\n"
            ),
            "    output = tl.trans(x)\n",
        ),
    ),
    "sizes-swapped-in-the-launch": Attempt(
        "launch-order",
        "in this order, n_rows, n_cols, stride_row, stride_col",
        ("x, output, n_rows, n_cols,", "x, output, n_cols, n_rows,"),
    ),
    "output-T": Attempt(
        "wrong-return",
        "return that tensor as it is",
        ("return output", "return output.T"),
    ),
    "x-T": Attempt(
        "wrong-return",
        "a transposed view of a dense tensor",
        ("return output", "return x.T"),
    ),
    "block-T": Attempt(
        "compile-error",
        "a 1D block has one axis",
        ("output_ptr + offsets, x, mask", "output_ptr + offsets, x.T, mask"),
    ),
    "block-transpose": Attempt(
        "not-triton",
        "Write tl.trans(x)",
        ("output_ptr + offsets, x, mask", "output_ptr + offsets, x.transpose(0, 1), mask"),
    ),
    "tl-transpose": Attempt(
        "compile-error",
        "tl has no transpose. Write tl.trans(x)",
        ("output_ptr + offsets, x, mask", "output_ptr + offsets, tl.transpose(x), mask"),
    ),
    "output-of-the-old-shape": Attempt(
        "wrong-return",
        "where the shape (53, 37) is expected",
        ("torch.empty((n_cols, n_rows)", "torch.empty((n_rows, n_cols)"),
    ),
    "two-indices-set": Attempt(
        "not-triton",
        "output_ptr + output_rows * stride + output_cols * stride",
        (
            "    tl.store(output_ptr + offsets, x, mask=mask)",
            "    output_ptr[output_rows, output_cols] = x",
        ),
    ),
    "not-turned": Attempt(
        "strides-swapped",
        "Nothing is transposed",
        (
            "output_cols * stride_row + output_rows * stride_col",
            "output_rows * stride_row + output_cols * stride_col",
        ),
    ),
    "sizes-called": Attempt(
        "compile-error",
        "n_rows is a number or a block, and it is called here",
        ("offsets // n_rows", "offsets // n_rows()"),
    ),
    "empty-without-a-tuple": Attempt(
        "raised",
        "torch.empty needs the shape as a tuple",
        (
            "torch.empty((n_cols, n_rows), dtype=x.dtype, device=x.device)",
            "torch.empty(n_cols, n_rows, x.dtype)",
        ),
    ),
    "size-attribute": Attempt(
        "raised",
        "A method is used here without its round brackets",
        ("n_rows, n_cols = x.shape", "n_rows, n_cols = x.size"),
    ),
    "rows-and-columns-of-torch": Attempt(
        "no-such-method",
        "Write x.shape[0] for the number of rows",
        ("n_rows, n_cols = x.shape", "n_rows, n_cols = x.rows, x.cols"),
    ),
    "shape-in-one-name": Attempt(
        "raised",
        "torch.empty needs the shape as a tuple of integers",
        ("n_rows, n_cols = x.shape", "n_rows = x.shape\n    n_cols = x.shape"),
    ),
    "load-and-store-swapped": Attempt(
        "inputs-changed",
        "tl.store writes to an input",
        (
            (
                "    x = tl.load(x_ptr + output_cols * stride_row + output_rows * "
                "stride_col, mask=mask)\n"
                "    tl.store(output_ptr + offsets, x, mask=mask)"
            ),
            (
                "    x = tl.load(output_ptr + offsets, mask=mask)\n"
                "    tl.store(x_ptr + output_cols * stride_row + output_rows * stride_col, "
                "x, mask=mask)"
            ),
        ),
    ),
    "mask-without-brackets": Attempt(
        "brackets-missing",
        "Put each comparison in brackets",
        ("mask = output_rows < n_cols", "mask = output_rows < n_cols & output_cols < n_rows"),
    ),
    "bracket-missing": Attempt(
        "syntax-error",
        "A bracket is opened here and never closed",
        ("block_size),)", "block_size,)"),
    ),
    "grid-in-the-launch": Attempt(
        "kernel-without-grid",
        "Write kernel[grid](…)",
        (
            "transpose_kernel[grid](\n        x, output",
            "transpose_kernel(\n        grid, x, output",
        ),
    ),
    "return-forgotten": Attempt(
        "wrong-return",
        "End the launcher with return output",
        ("    return output", "    output"),
    ),
    "block-size-not-passed": Attempt(
        "kernel-error",
        "Nothing arrives at BLOCK_SIZE.",
        (", BLOCK_SIZE=block_size", ""),
    ),
}
