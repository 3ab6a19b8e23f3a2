"""What the judge says about a launcher that does more, or less, than launch kernels."""

from __future__ import annotations

from dataclasses import dataclass

from graders.judge.plan.steps import Note
from triton_util.report import Finding


@dataclass(frozen=True)
class ToldWords:
    """A title, and sentences in which {what} is replaced by the operation.

    `code` is the finding's code, if it differs from the observation's own.
    """

    title: str
    message: str
    next_step: str
    code: str = ""


WORDS = {
    "torch-computes": ToldWords(
        "torch computes here, not the kernel",
        "`{what}` computes on tensor data in the launcher.",
        "Compute it in the kernel: the launcher only allocates, looks at shapes and strides, and "
        "launches.",
    ),
    "torch-copies": ToldWords(
        "torch moves the data here, not the kernel",
        "The launcher copies tensor data ({what}), and moving data is what this exercise is about.",
        "Pass the tensor and its strides to the kernel, and let the kernel move the data.",
        "torch-computes",
    ),
    "torch-moves": ToldWords(
        "torch moves data here, before or after the kernel",
        "The launcher copies tensor data ({what}). In this exercise it only allocates, counts and "
        "launches: a copy moves the bytes once more.",
        "Pass the tensors to the kernel as they are. Mask off the lanes past the end.",
    ),
    "argument-becomes-result": ToldWords(
        "The result begins as a copy of an argument",
        "The launcher copies an argument ({what}) and returns that copy. So torch provides every "
        "element that the kernel does not store.",
        "Allocate an empty result, out = torch.empty_like(x), and let the kernel store all of it. "
        "A copy that is only read may stay.",
        "torch-computes",
    ),
    "argument-written": ToldWords(
        "torch writes into an argument",
        "The launcher copies numbers into one of its arguments ({what}). That changes the "
        "caller's tensor, and torch moves the data instead of the kernel.",
        "Do not change arguments. Allocate the result, out = torch.empty_like(x), let the kernel "
        "store into it, and return it.",
        "torch-computes",
    ),
    "python-computes": ToldWords(
        "Python computes here, not the kernel",
        "The launcher passes {what} that Python computed. A few sizes or strides are fine; the "
        "kernel must compute the numbers of the result.",
        "Compute them in the kernel, from the program id and the sizes.",
        "torch-computes",
    ),
    "alters-tensor": ToldWords(
        "A tensor is given other memory",
        "The launcher gives an existing tensor other memory. The judge follows a launcher by the "
        "memory that it allocates, and cannot follow it here.",
        "Allocate a new tensor, out = torch.empty_like(x), and return it.",
    ),
    "reads-values": ToldWords(
        "The launcher reads a value of a tensor",
        "`{what}` needs a number from GPU memory, so on a GPU the launcher would have to wait for "
        "all earlier launches. The judge runs launchers without values, so it stops here.",
        "In the launcher, decide by shapes, strides and dtypes; in the kernel, decide by values.",
    ),
    "tensor-on-cpu": ToldWords(
        "A tensor of this launch is in the CPU's memory",
        "torch.empty and its like allocate in the CPU's memory, unless they get a `device`. A GPU "
        "refuses to launch a kernel with such a tensor. The judge's interpreter would not notice.",
        "Allocate on the device of the inputs: torch.empty_like(x), or torch.empty(..., "
        "dtype=x.dtype, device=x.device).",
    ),
    "no-kernel": ToldWords(
        "No kernel is launched",
        "{what} never launches a kernel.",
        "Write a kernel with @triton.jit and launch it: kernel[grid](…).",
    ),
    "kernel-name": ToldWords(
        "A GPU's assembler cannot read this name",
        "The name of the kernel `{what}` has letters outside ASCII. The judge renamed the kernel; "
        "on your own GPU the assembler would stop with an error.",
        "Use ASCII letters, digits and underscores in the kernel's name. Variables, parameters "
        "and the launcher may have any letters.",
    ),
    "kernel-without-grid": ToldWords(
        "The kernel is called without a grid",
        "A kernel is launched on a grid: the number of programs is in brackets between its name "
        "and its arguments.",
        "Write kernel[grid](…), for example kernel[(triton.cdiv(n, BLOCK_SIZE),)](…).",
    ),
    "kernel-not-jit": ToldWords(
        "A kernel needs @triton.jit",
        "The launch passes a plain Python function to its kernel.",
        "Write @triton.jit on the line above its def: then the kernel can call it.",
    ),
    "no-such-method": ToldWords(
        "A tensor has no method of that name",
        "Tensors have no `{what}`.",
        "Correct the name: a tensor's attributes and methods are in torch's documentation of "
        "torch.Tensor.",
    ),
    "too-many-steps": ToldWords(
        "The launcher launches far too often",
        "One call makes more than 30,000 launches and copies. Each launch takes microseconds, "
        "even if its kernel does nothing.",
        "Launch once, with one program for each piece of the work.",
    ),
    "timeout": ToldWords(
        "The launcher does not finish",
        "It computed for more than ten seconds without launching anything.",
        "Look at the loops of the launcher: what ends each of them?",
    ),
    "not-launchable": ToldWords(
        "The judge cannot follow this launcher",
        "The judge cannot record what the launcher asks the GPU to do: {what}.",
        "Launch kernels with tensors, numbers and constants, and return the output tensor.",
    ),
    "foreign-kernel": ToldWords(
        "This kernel is not part of the submission",
        "The launcher launches a kernel that is not defined in the submission itself: {what}.",
        "Write the kernel as a function with @triton.jit, in the same file or notebook.",
    ),
    "foreign-argument": ToldWords(
        "A kernel is passed something that is not part of the Triton language",
        "An argument or a default of the kernel is a module, a function of a library, or a tensor "
        "inside a constant.",
        "Pass tensors, numbers, dtypes, your own kernels and functions of tl.",
    ),
    "foreign-code": ToldWords(
        "A launch loads other code than the kernel",
        "The option `{what}` lets the compiler use code that is not in the kernel.",
        "Remove it: a launch may choose num_warps and num_stages.",
    ),
    "python-walks": ToldWords(
        "Python loops over the tiles, not the kernel",
        "One call makes dozens of launches or fills, each for a few tiles. So a loop in the "
        "launcher sets the order of the tiles, but in this exercise each program must find its "
        "tile by its own id.",
        "Launch once, with one program for each tile, and compute row and column from "
        "`tl.program_id(0)`.",
    ),
    "checks-values": ToldWords(
        "A check looks at the values",
        "`{what}` looks at all of a tensor: on a GPU the launcher waits there for all earlier "
        "launches. The judge assumed that the check passed.",
        "Keep such checks behind a debug flag.",
    ),
}
REMARKS = frozenset({"checks-values"})


def capture_finding(code: str, what: str, line: int | None, guess: str = "") -> Finding:
    """The finding for an observation."""
    words = WORDS[code]
    message = words.message.replace("{what}", what)
    message = f"{message} {guess}".strip()
    return Finding("read", words.code or code, words.title, message, line, None, words.next_step)


def told_finding(told: Note) -> Finding:
    """The finding for a note of the recorder."""
    what = "".join(c for c in told.what if c.isprintable())[:80]
    return capture_finding(told.code, what, told.line)
