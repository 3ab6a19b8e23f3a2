"""What the judge says about a launcher that does more, or less, than launch."""

from __future__ import annotations

from dataclasses import dataclass

from graders.judge.plan.steps import Note
from graders.judge.report import Finding


@dataclass(frozen=True)
class ToldWords:
    """A title, and sentences in which {what} stands for the operation.

    `code` is that of the finding where it is not the observation's own.
    """

    title: str
    message: str
    next_step: str
    code: str = ""


WORDS = {
    "torch-computes": ToldWords(
        "torch computes here, not the kernel",
        "`{what}` computes on tensor data in the launcher.",
        "Let the kernel do it: the launcher only allocates, looks at shapes and strides, and "
        "launches.",
    ),
    "torch-copies": ToldWords(
        "torch moves the data here, not the kernel",
        "The launcher copies tensor data ({what}), and moving data is what this exercise is about.",
        "Hand the kernel the tensor as it is, with its strides, and let it do the moving.",
        "torch-computes",
    ),
    "torch-moves": ToldWords(
        "torch moves data here, before the kernel or behind it",
        "The launcher copies tensor data ({what}). In this exercise it only allocates, counts and "
        "launches: a copy moves as many bytes once more.",
        "Hand the kernel the tensors as they are. Lanes behind the end are switched off by a mask.",
    ),
    "argument-becomes-result": ToldWords(
        "The result begins as a copy of an argument",
        "The launcher copies an argument ({what}) and returns that copy. Whatever the kernel does "
        "not store in it is the argument's, moved by torch.",
        "Allocate the result empty, out = torch.empty_like(x), and let the kernel store all of it. "
        "A copy that is made to be read may stay.",
        "torch-computes",
    ),
    "argument-written": ToldWords(
        "torch writes into an argument",
        "The launcher copies numbers into one of its arguments ({what}). The caller's tensor is "
        "changed by that, and it is torch that moves the data, not the kernel.",
        "Leave arguments as they are. Allocate the result, out = torch.empty_like(x), let the "
        "kernel store in it, and return it.",
        "torch-computes",
    ),
    "python-computes": ToldWords(
        "Python computes here, not the kernel",
        "The launcher hands over {what} that Python has worked out. A few sizes or strides are "
        "fine; the numbers of the result are the kernel's work.",
        "Compute them in the kernel, from the program id and the sizes.",
        "torch-computes",
    ),
    "alters-tensor": ToldWords(
        "A tensor is given other memory",
        "The launcher puts other memory behind a tensor that is there already. The judge follows "
        "a launcher by the memory that it allocates, and cannot follow it here.",
        "Allocate a new tensor, out = torch.empty_like(x), and return it.",
    ),
    "reads-values": ToldWords(
        "The launcher reads a value of a tensor",
        "`{what}` needs a number that lies in the GPU's memory. On a GPU the launcher would have "
        "to wait there until all launches before it are done. The judge runs launchers without "
        "any values, so it ends here.",
        "Decide by shapes, strides and dtypes in the launcher, and by values in the kernel.",
    ),
    "no-kernel": ToldWords(
        "No kernel is launched",
        "{what} never launches a kernel.",
        "Write a kernel with @triton.jit and launch it: kernel[grid](…).",
    ),
    "kernel-name": ToldWords(
        "A GPU's assembler cannot read this name",
        "The name of the kernel `{what}` has letters outside ASCII. The judge gave the kernel "
        "another name; on your own GPU the program ends with an error of the assembler.",
        "Rename the kernel with ASCII letters, digits and underscores. Variables, parameters and "
        "the launcher may have any letters.",
    ),
    "kernel-without-grid": ToldWords(
        "The kernel is called without a grid",
        "A kernel is launched on a grid: the number of programs stands in brackets between its "
        "name and its arguments.",
        "Write kernel[grid](…), for example kernel[(triton.cdiv(n, BLOCK_SIZE),)](…).",
    ),
    "kernel-not-jit": ToldWords(
        "A kernel needs @triton.jit",
        "The launch hands its kernel a plain Python function.",
        "Write @triton.jit on the line above its def: that makes a part of the kernel of it.",
    ),
    "no-such-method": ToldWords(
        "A tensor has no method of that name",
        "Tensors have no `{what}`.",
        "Mend the name and check again.",
    ),
    "too-many-steps": ToldWords(
        "The launcher launches far too often",
        "One call makes more than 30,000 launches and copies. A launch takes microseconds even "
        "when its kernel does nothing.",
        "Let one launch do the work: its grid has as many programs as there are pieces.",
    ),
    "timeout": ToldWords(
        "The launcher comes to no end",
        "It computes for more than ten seconds without launching anything new.",
        "Look at the loops of the launcher: what ends them?",
    ),
    "not-launchable": ToldWords(
        "The judge cannot follow this launcher",
        "What it asks the GPU to do cannot be written down: {what}.",
        "Launch kernels with tensors, numbers and constants, and return the output tensor.",
    ),
    "foreign-kernel": ToldWords(
        "This kernel is not part of the submission",
        "The launcher launches a kernel whose definition does not stand in the submission as it "
        "is: {what}.",
        "Write the kernel as a function with @triton.jit, in the same file or notebook.",
    ),
    "foreign-argument": ToldWords(
        "A kernel is handed something that is no part of the Triton language",
        "An argument or a default of the kernel is a module, a function of a library, or a tensor "
        "inside a constant.",
        "Hand over tensors, numbers, dtypes, your own kernels and functions of tl.",
    ),
    "foreign-code": ToldWords(
        "A launch loads other code than the kernel",
        "The option `{what}` lets the compiler take code that does not stand in the kernel.",
        "Leave it out: num_warps and num_stages are what a launch may choose.",
    ),
    "python-walks": ToldWords(
        "Python walks through the tiles, not the kernel",
        "One call makes dozens of launches or fills, each for a tile or for a few. Then the order "
        "is that of a loop in the launcher, and no program finds its tile by its own id, which is "
        "what the exercise is about.",
        "Launch once, with one program for each tile, and compute row and column from "
        "`tl.program_id(0)`.",
    ),
    "checks-values": ToldWords(
        "A check looks at the values",
        "`{what}` looks at all of a tensor: on a GPU the launcher waits there for every launch "
        "before it. The judge ran it as passed.",
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
    """The finding for what the recorder told."""
    what = "".join(c for c in told.what if c.isprintable())[:80]
    return capture_finding(told.code, what, told.line)
