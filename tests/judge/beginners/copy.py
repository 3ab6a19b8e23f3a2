"""Attempts of beginners at `copy`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "misspelt-store": Attempt(
        "compile-error",
        "Did you mean tl.store?",
        ("tl.store(", "tl.stroe("),
    ),
    "misspelt-name": Attempt(
        "undefined-name",
        "Did you mean offsets?",
        ("offsets < n", "ofsets < n"),
    ),
    "misspelt-argument": Attempt(
        "compile-error",
        "Did you mean axis?",
        ("(axis=0)", "(axes=0)"),
    ),
    "float-grid": Attempt(
        "kernel-error",
        "triton.cdiv gives a whole number where / gives a float",
        ("triton.cdiv(n_elements, block_size)", "n_elements / block_size"),
    ),
    "float-block": Attempt(
        "compile-error",
        "1000.0, a float",
        ("block_size = 1024", "block_size = 1e3"),
    ),
    "grid-left-out": Attempt(
        "kernel-without-grid",
        "called without a grid",
        ("copy_kernel[grid](", "copy_kernel("),
    ),
    "store-value-first": Attempt(
        "compile-error",
        "the place comes first, and the value second",
        ("tl.store(output_ptr + offsets, x,", "tl.store(x, output_ptr + offsets,"),
    ),
    "length-of-a-pointer": Attempt(
        "compile-error",
        "does not know how many elements lie there",
        ("offsets < n_elements", "offsets < len(x_ptr)"),
    ),
    "mask-given-as-other": Attempt(
        "compile-error",
        "there is no mask",
        ("tl.load(x_ptr + offsets, mask=mask)", "tl.load(x_ptr + offsets, other=mask)"),
    ),
    "loop-with-indices": Attempt(
        "not-triton",
        "Write tl.store(output_ptr + i, value, mask=mask)",
        (
            (
                "    x = tl.load(x_ptr + offsets, mask=mask)\n"
                "    tl.store(output_ptr + offsets, x, mask=mask)"
            ),
            "    for i in range(n_elements):\n        output_ptr[i] = x_ptr[i]",
        ),
    ),
    "slice": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("tl.load(x_ptr + offsets, mask=mask)", "x_ptr[0:BLOCK_SIZE]"),
    ),
    "store-forgotten": Attempt(
        "nothing-stored",
        "End the kernel with tl.store",
        ("    tl.store(output_ptr + offsets, x, mask=mask)\n", ""),
    ),
    "pointer-stored": Attempt(
        "compile-error",
        "tl.store gets a pointer for its value",
        ("output_ptr + offsets, x, mask", "output_ptr + offsets, x_ptr, mask"),
    ),
    "pointers-stored": Attempt(
        "compile-error",
        "tl.store gets a pointer for its value",
        ("output_ptr + offsets, x, mask", "output_ptr + offsets, x_ptr + offsets, mask"),
    ),
    "name-before-it-is-set": Attempt(
        "compile-error",
        "x is used here before it has a value",
        ("x = tl.load(x_ptr + offsets", "x = tl.load(x + offsets"),
    ),
    "one-too-many": Attempt(
        "missing-mask",
        "Build the mask with <",
        ("offsets < n", "offsets <= n"),
    ),
    "mask-as-second": Attempt(
        "compile-error",
        "tl.load expects a mask here, true or false for each lane, but gets a number",
        ("tl.load(x_ptr + offsets, mask=mask)", "tl.load(x_ptr + offsets, n_elements)"),
    ),
    "return-of-the-launch": Attempt(
        "wrong-return",
        "A launch returns no result",
        (
            (
                "    copy_kernel[grid](x, output, n_elements, BLOCK_SIZE=block_size)\n"
                "    return output"
            ),
            "    return copy_kernel[grid](x, output, n_elements, BLOCK_SIZE=block_size)",
        ),
    ),
    "input-returned": Attempt(
        "wrong-return",
        "Allocate the output, output = torch.empty_like(x)",
        ("return output", "return x"),
    ),
    "clone": Attempt(
        "torch-computes",
        "The launcher copies tensor data",
        ("return output", "return x.clone()"),
    ),
    "kernel-not-jit": Attempt(
        "kernel-not-jit",
        "Write @triton.jit on the line above def copy_kernel",
        ("@triton.jit\n", ""),
    ),
    "pid-of-axis-one": Attempt(
        "offset-ignores-pid",
        "the offsets of the store do not depend on tl.program_id",
        ("axis=0", "axis=1"),
    ),
    "if-on-the-offsets": Attempt(
        "compile-error",
        "this condition is a whole block of them",
        (
            (
                "    x = tl.load(x_ptr + offsets, mask=mask)\n"
                "    tl.store(output_ptr + offsets, x, mask=mask)"
            ),
            (
                "    if offsets < n_elements:\n"
                "        x = tl.load(x_ptr + offsets)\n"
                "        tl.store(output_ptr + offsets, x)"
            ),
        ),
    ),
    "arange-from-pid": Attempt(
        "compile-error",
        "Count from 0 and add the start of the block",
        (
            "pid.to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
            "tl.arange(pid * BLOCK_SIZE, (pid + 1) * BLOCK_SIZE)",
        ),
    ),
    "size-in-brackets": Attempt(
        "raised",
        "A method is used here without its brackets",
        ("output.numel()", "output.size[0]"),
    ),
    "data-ptr": Attempt(
        "compile-error",
        "x_ptr ← 1099511627776",
        ("[grid](x, output", "[grid](x.data_ptr(), output.data_ptr()"),
    ),
    "none-output": Attempt(
        "raised",
        "The value before .numel is None",
        ("torch.empty_like(x)", "None"),
    ),
}
