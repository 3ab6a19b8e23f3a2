"""Attempts of beginners at `strided_copy`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "strides-as-a-tuple": Attempt(
        "kernel-error",
        "A whole tuple arrives at stride_row",
        ("x.stride(0), x.stride(1),", "x.stride(),"),
    ),
    "strides-without-brackets": Attempt(
        "raised",
        "A method is used here without its brackets",
        ("x.stride(0), x.stride(1),", "x.stride[0], x.stride[1],"),
    ),
    "strides-of-numpy": Attempt(
        "no-such-method",
        "Write x.stride(0), x.stride(1)",
        ("x.stride(0), x.stride(1),", "x.strides[0], x.strides[1],"),
    ),
    "stride-not-called": Attempt(
        "kernel-error",
        "The launch passes a function for stride_row",
        ("x.stride(0), x.stride(1),", "x.stride, x.stride,"),
    ),
    "sizes-swapped": Attempt(
        "wrong-return",
        "which name has x.shape given it?",
        ("n_rows, n_cols = x.shape", "n_cols, n_rows = x.shape"),
    ),
    "float-rows": Attempt(
        "compile-error",
        "use // for whole numbers",
        ("offsets // n_cols", "offsets / n_cols"),
    ),
    "unpacked-number": Attempt(
        "raised",
        "only one value on its right (int)",
        ("n_rows, n_cols = x.shape", "n_rows, n_cols = x.numel()"),
    ),
    "one-stride-forgotten": Attempt(
        "kernel-error",
        "Nothing arrives at stride_col.",
        ("x.stride(0), x.stride(1),", "x.stride(0),"),
    ),
    "divided-by-the-height": Attempt(
        "divided-by-wrong-size",
        "offsets // n_cols is the row of the output",
        ("offsets // n_cols", "offsets // n_rows"),
        ("offsets % n_cols", "offsets % n_rows"),
    ),
    "quotient-by-the-height": Attempt(
        "divided-by-wrong-size",
        "offsets // n_cols is the row of the output",
        ("offsets // n_cols", "offsets // n_rows"),
    ),
    "two-indices": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("tl.load(x_ptr + rows * stride_row + cols * stride_col, mask=mask)", "x_ptr[rows, cols]"),
    ),
    "stride-of-a-pointer": Attempt(
        "not-triton",
        "The launcher passes what the kernel needs as numbers",
        ("rows * stride_row", "rows * x_ptr.stride(0)"),
    ),
    "shape-called": Attempt(
        "raised",
        "Write x.shape[0], or x.size(0)",
        ("n_rows, n_cols = x.shape", "n_rows = x.shape(0)\n    n_cols = x.shape(1)"),
    ),
    "dtype-forgotten": Attempt(
        "wrong-return",
        "torch.empty alone makes float32",
        (
            "torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)",
            "torch.empty((n_rows, n_cols), device=x.device)",
        ),
    ),
    "device-and-dtype-forgotten": Attempt(
        "tensor-on-cpu",
        "dtype=x.dtype, device=x.device",
        (
            "torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)",
            "torch.empty((n_rows, n_cols))",
        ),
    ),
    "output-like-the-view": Attempt(
        "wrong-return",
        "Allocate with the shape alone",
        ("torch.empty((n_rows, n_cols), dtype=x.dtype, device=x.device)", "torch.empty_like(x)"),
    ),
    "axes-from-one": Attempt(
        "raised",
        "Axes count from 0",
        ("x.stride(0), x.stride(1),", "x.stride(1), x.stride(2),"),
    ),
    "strides-the-wrong-way-round": Attempt(
        "strides-swapped",
        "x.stride(0) belongs to the row index",
        ("x.stride(0), x.stride(1),", "x.stride(1), x.stride(0),"),
    ),
    "divmod": Attempt(
        "not-triton",
        "Write a // b and a % b",
        (
            "    rows = offsets // n_cols\n    cols = offsets % n_cols\n",
            "    rows, cols = divmod(offsets, n_cols)\n",
        ),
    ),
    "contiguous-in-the-launcher": Attempt(
        "torch-computes",
        "moving data is what this exercise is about",
        ("n_rows, n_cols = x.shape", "x = x.contiguous()\n    n_rows, n_cols = x.shape"),
    ),
    "strides-before-sizes": Attempt(
        "launch-order",
        "n_rows = 53, n_cols = 1, stride_row = 37",
        (
            "n_rows, n_cols, x.stride(0), x.stride(1), BLOCK",
            "x.stride(0), x.stride(1), n_rows, n_cols, BLOCK",
        ),
    ),
    "stride-misspelt": Attempt(
        "undefined-name",
        "Did you mean stride_row?",
        ("rows * stride_row", "rows * stride_rows"),
    ),
    "stride-called-in-the-kernel": Attempt(
        "compile-error",
        "stride_row is a number or a block",
        ("rows * stride_row", "rows * stride_row(0)"),
    ),
    "device-forgotten-comma": Attempt(
        "kernel-error",
        "There is no parameter called BLOCK.",
        ("BLOCK_SIZE=block_size", "BLOCK=block_size"),
    ),
    "keyword-twice": Attempt(
        "syntax-error",
        "An argument without a name follows one with a name",
        ("x, output, n_rows", "x, output, x_ptr=x, n_rows=n_rows, n_rows"),
    ),
}
