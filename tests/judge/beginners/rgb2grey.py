"""Attempts of beginners at `rgb2grey`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "channels-last": Attempt(
        "wrong-return",
        "it returned a tensor of shape (3, 64)",
        ("_, height, width = img.shape", "height, width, _ = img.shape"),
    ),
    "two-names": Attempt(
        "raised",
        "The number of names left of the = differs from the number of values",
        ("_, height, width = img.shape", "height, width = img.shape"),
    ),
    "red-not-loaded": Attempt(
        "compile-error",
        "A pointer is computed with here",
        ("0.2989 * red +", "0.2989 * red_ptrs +"),
    ),
    "image-indexed": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("tl.load(red_ptrs, mask=mask, other=0)", "img_ptr[0, rows, cols]"),
    ),
    "channel-picked": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("red = tl.load(red_ptrs, mask=mask, other=0).to(tl.float32)", "red = img_ptr[0]"),
    ),
    "strides-not-unpacked": Attempt(
        "kernel-error",
        "unpacked by a star, *x.stride()",
        ("*img.stride()", "img.stride()"),
    ),
    "stride-not-called": Attempt(
        "raised",
        "A method is used here without its round brackets",
        ("*img.stride()", "*img.stride"),
    ),
    "none-in-small-letters": Attempt(
        "undefined-name",
        "Write None.",
        ("rows[:, None] * stride_row", "rows[:, none] * stride_row"),
    ),
    "comma-missing": Attempt(
        "compile-error",
        "Make rows and columns with [:, None] and [None, :]",
        ("rows[:, None] * stride_row", "rows[: None] * stride_row"),
    ),
    "axes-not-added": Attempt(
        "compile-error",
        "Make rows and columns with [:, None] and [None, :]",
        (
            "img_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col",
            "img_ptr + rows * stride_row + cols * stride_col",
        ),
    ),
    "mask-of-one-axis": Attempt(
        "compile-error",
        "axis 0 has 16 elements in one and 64 in the other",
        (
            "mask = (rows[:, None] < height) & (cols[None, :] < width)",
            "mask = (rows < height) & (cols < width)",
        ),
    ),
    "decimal-commas": Attempt(
        "compile-error",
        "0,5 is two numbers, and 0.5 one",
        (
            "0.2989 * red + 0.5870 * green + 0.1140 * blue",
            "0,2989 * red + 0,5870 * green + 0,1140 * blue",
        ),
    ),
    "grid-multiplied": Attempt(
        "kernel-error",
        "The grid is not a tuple",
        (
            "grid = (triton.cdiv(height, block_h), triton.cdiv(width, block_w))",
            "grid = triton.cdiv(height, block_h) * triton.cdiv(width, block_w)",
        ),
    ),
    "one-axis-twice": Attempt(
        "tiles-lost",
        "Check the grid axis of each id",
        ("tl.program_id(axis=1)", "tl.program_id(axis=0)"),
    ),
    "axis-two": Attempt(
        "tiles-lost",
        "Check the grid axis of each id",
        ("tl.program_id(axis=1)", "tl.program_id(axis=2)"),
        ("tl.program_id(axis=0)", "tl.program_id(axis=1)"),
    ),
    "axis-three": Attempt(
        "compile-error",
        "they are called 0, 1 and 2",
        ("tl.program_id(axis=1)", "tl.program_id(axis=3)"),
    ),
    "axis-as-text": Attempt(
        "compile-error",
        "they are called 0, 1 and 2",
        ("tl.program_id(axis=1)", "tl.program_id('y')"),
    ),
    "width-of-the-image": Attempt(
        "no-such-method",
        "Write x.shape[0] for the number of rows",
        ("_, height, width = img.shape", "height, width = img.height, img.width"),
    ),
    "block-of-the-whole-width": Attempt(
        "compile-error",
        "Take the next power of two",
        ("block_h, block_w = 16, 64", "block_h, block_w = 1, width"),
    ),
    "matrix-product": Attempt(
        "compile-error",
        "tl.dot gets several values in brackets here",
        (
            "0.2989 * red + 0.5870 * green + 0.1140 * blue",
            "tl.dot([0.2989, 0.5870, 0.1140], [red, green, blue])",
        ),
    ),
    "summed-list": Attempt(
        "compile-error",
        "0.5 * a + 0.5 * b is a weighted sum",
        (
            "0.2989 * red + 0.5870 * green + 0.1140 * blue",
            "tl.sum((0.2989 * red, 0.5870 * green, 0.1140 * blue), axis=0)",
        ),
    ),
    "mean": Attempt(
        "compile-error",
        "tl has no mean",
        ("0.2989 * red + 0.5870 * green + 0.1140 * blue", "tl.mean(red, green, blue)"),
    ),
    "astype": Attempt(
        "not-triton",
        "Write x.to(tl.float32)",
        ("grey.to(output_ptr.dtype.element_ty)", "grey.astype(tl.uint8)"),
    ),
    "int": Attempt(
        "compile-error",
        "Convert with .to",
        ("grey.to(output_ptr.dtype.element_ty)", "int(grey)"),
    ),
    "img-in-the-kernel": Attempt(
        "undefined-name",
        "There is img_ptr, the address of the first element",
        ("< height)", "< img.shape[1])"),
    ),
    "sizes-swapped-in-the-launch": Attempt(
        "launch-order",
        "After the tensors come, in this order, height, width, stride_channel",
        ("img, output, height, width,", "img, output, width, height,"),
    ),
}
