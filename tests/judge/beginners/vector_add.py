"""Attempts of beginners at `vector_add`."""

from __future__ import annotations

from tests.judge.beginners.attempt import Attempt

ATTEMPTS = {
    "program-id-without-brackets": Attempt(
        "compile-error",
        "tl.program_id stands here without its round brackets",
        ("tl.program_id(axis=0)", "tl.program_id"),
        ("pid.to(tl.int64) * BLOCK_SIZE", "pid * BLOCK_SIZE"),
    ),
    "arange-without-brackets": Attempt(
        "compile-error",
        "tl.arange stands here without its round brackets",
        ("tl.arange(0, BLOCK_SIZE)", "tl.arange"),
    ),
    "half-a-block": Attempt(
        "compile-error",
        "/ gives a float: BLOCK_SIZE / 2 is one",
        ("tl.arange(0, BLOCK_SIZE)", "tl.arange(0, BLOCK_SIZE / 2)"),
    ),
    "number-called": Attempt(
        "compile-error",
        "n_elements is a number or a block, and it is called here like a function",
        ("offsets < n_elements", "offsets < n_elements()"),
    ),
    "pointers-added": Attempt(
        "compile-error",
        "Two pointers cannot be added: they are addresses",
        ("x + y, mask", "x_ptr + y_ptr, mask"),
    ),
    "pointer-scaled": Attempt(
        "compile-error",
        "Are the numbers behind the pointer meant? Load them first",
        ("x + y, mask", "x_ptr * 1 + y, mask"),
    ),
    "pointer-indexed": Attempt(
        "compile-error",
        "A pointer cannot be indexed with [ ]",
        ("tl.load(x_ptr + offsets, mask=mask)", "x_ptr[offsets]"),
    ),
    "shape-of-a-pointer": Attempt(
        "compile-error",
        "x_ptr is a pointer: an address, which knows no shape",
        ("offsets < n_elements", "offsets < x_ptr.shape[0]"),
    ),
    "return-forgotten": Attempt(
        "wrong-return",
        "it returned None.",
        ("    return output\n", ""),
    ),
    "output-not-allocated": Attempt(
        "undefined-name",
        "Allocate it first: output = torch.empty_like(x)",
        (
            "    output = torch.empty_like(x)\n    n_elements = output.numel()",
            "    n_elements = x.numel()",
        ),
    ),
    "grid-of-a-number": Attempt(
        "kernel-error",
        "the comma makes it a tuple",
        ("(triton.cdiv(n_elements, block_size),)", "triton.cdiv(n_elements, block_size)"),
    ),
    "launcher-capital": Attempt(
        "undefined-name",
        "Did you mean block_size?",
        ("BLOCK_SIZE=block_size", "BLOCK_SIZE=BLOCK_SIZE"),
    ),
    "round-brackets-for-the-grid": Attempt(
        "kernel-without-grid",
        "Write kernel[grid](…)",
        ("add_kernel[grid](", "add_kernel(grid)("),
    ),
    "numpy-arange": Attempt(
        "undefined-name",
        "In a kernel there is no np",
        ("tl.arange(0, BLOCK_SIZE)", "np.arange(BLOCK_SIZE)"),
    ),
    "constexpr-forgotten": Attempt(
        "compile-error",
        "Declare the parameter as BLOCK_SIZE: tl.constexpr",
        ("BLOCK_SIZE: tl.constexpr", "BLOCK_SIZE"),
    ),
    "block-of-a-thousand": Attempt(
        "compile-error",
        "The length of a block must be a power of two",
        ("block_size = 1024", "block_size = 1000"),
    ),
    "kernel-returns": Attempt(
        "compile-error",
        "A kernel that is launched returns nothing",
        ("    tl.store(output_ptr + offsets, x + y, mask=mask)", "    return x + y"),
    ),
    "relative-import": Attempt(
        "raised",
        "begins with a dot needs a file beside this one",
        (
            "    output = torch.empty_like(x)",
            "    from .helpers import make_output\n    output = make_output(x)",
        ),
    ),
    "another-makers-gpu": Attempt(
        "raised",
        "asks torch for XPU, which the judge's torch does not have",
        (
            "    output = torch.empty_like(x)",
            "    torch.xpu.get_device_properties(0)\n    output = torch.empty_like(x)",
        ),
    ),
    "tuned-plain-python": Attempt(
        "kernel-error",
        "Write @triton.jit on the line directly above def",
        (
            "@triton.jit\n",
            "@triton.autotune([triton.Config({'BLOCK_SIZE': 1024})], key=['n_elements'])\n",
        ),
    ),
    "block-pointers": Attempt(
        "compile-error",
        "pointers = x_ptr + rows[:, None] * stride_row + cols[None, :] * stride_col",
        (
            "tl.load(x_ptr + offsets, mask=mask)",
            "tl.load(tl.make_block_ptr(x_ptr, (n_elements,), (1,), (0,), (BLOCK_SIZE,), (0,)))",
        ),
    ),
    "root-of-python": Attempt(
        "not-triton",
        "Compute a constant in the launcher, and pass it as an argument",
        ("x + y, mask", "x + y * math.sqrt(1.0), mask"),
        ("@triton.jit\n", "import math\n\n@triton.jit\n"),
    ),
    "inside-of-the-language": Attempt(
        "not-triton",
        "is internal to Triton's language",
        ("x + y, mask", "tl.core.add(x, y, True), mask"),
    ),
    "own-module": Attempt(
        "raised",
        "without your own files beside it",
        (
            "    output = torch.empty_like(x)",
            "    from helpers import make_output\n    output = make_output(x)",
        ),
    ),
    "own-module-on-top": Attempt(
        "raised",
        "without your own files beside it",
        ("@triton.jit", "from helpers import make_output\n\n\n@triton.jit"),
        ("torch.empty_like(x)", "make_output(x)"),
    ),
    "size-without-brackets": Attempt(
        "kernel-error",
        "the brackets are missing",
        ("output.numel()", "output.size"),
    ),
    "size-called": Attempt(
        "kernel-error",
        "x.numel() is the number of elements",
        ("output.numel()", "output.size()"),
    ),
    "output-first": Attempt(
        "inputs-changed",
        "the launch passes the tensors in the wrong order",
        ("[grid](x, y, output,", "[grid](output, x, y,"),
    ),
    "n-forgotten": Attempt(
        "kernel-error",
        "Nothing arrives at n_elements.",
        ("output, n_elements, BLOCK", "output, BLOCK"),
    ),
    "mask-misspelt": Attempt(
        "undefined-name",
        "Did you mean mask?",
        ("x + y, mask=mask", "x + y, mask=maks"),
    ),
    "store-without-pointer": Attempt(
        "compile-error",
        "tl.store needs pointers, and these are numbers",
        ("tl.store(output_ptr + offsets, x + y,", "tl.store(offsets, x + y,"),
    ),
    "python-list": Attempt(
        "compile-error",
        "A list of Python stands where a block is needed",
        ("tl.arange(0, BLOCK_SIZE)", "list(range(BLOCK_SIZE))"),
    ),
    "torch-adds": Attempt(
        "no-kernel",
        "vector_add never launches a kernel",
        (
            (
                "    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=block_size)\n"
                "    return output"
            ),
            "    return x + y",
        ),
    ),
    "more-than-there-is": Attempt(
        "out-of-memory",
        "Look at the shapes that you allocate",
        ("torch.empty_like(x)", "torch.empty_like(x)\n    big = torch.ones(5 * 10**9)"),
    ),
    "empty-of-a-tensor": Attempt(
        "raised",
        "Write torch.empty_like(x)",
        ("torch.empty_like(x)", "torch.empty(x)"),
    ),
    "subscript-of-program-id": Attempt(
        "compile-error",
        "Write tl.program_id(0)",
        ("tl.program_id(axis=0)", "tl.program_id[0]"),
    ),
    "int-of-a-block": Attempt(
        "compile-error",
        "Convert with .to: x.to(tl.int32)",
        ("pid.to(tl.int64) * BLOCK_SIZE", "int(pid) * BLOCK_SIZE"),
    ),
    "round": Attempt(
        "compile-error",
        "Python's round() is not there in a kernel",
        ("x + y, mask", "round(x + y), mask"),
    ),
    "sum-with-float-axis": Attempt(
        "compile-error",
        "An axis is a whole number, 0 or 1, and here it is 1.0",
        ("x + y, mask", "x + tl.sum(y, axis=1.0), mask"),
    ),
    "sum-with-text-axis": Attempt(
        "compile-error",
        "An axis is a whole number, 0 or 1, and here it is '0'",
        ("x + y, mask", "x + tl.sum(y, axis='0'), mask"),
    ),
    "x-not-loaded": Attempt(
        "undefined-name",
        "There is x_ptr, the address of the first element",
        ("    x = tl.load(x_ptr + offsets, mask=mask)\n", ""),
    ),
}
