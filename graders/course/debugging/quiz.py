"""The questions of the lesson debugging."""

from graders.judge.records import Choice, Question

QUIZ = (
    Question(
        "When does TRITON_INTERPRET=1 take effect for all kernels?",
        (
            Choice(
                "As soon as the variable is set, also in a running notebook.",
                "`@triton.jit` decides when it meets a kernel. Kernels that were defined before "
                "still need a GPU.",
            ),
            Choice(
                "When it is set before triton is imported.",
                "Yes: then all of Triton is interpreted. In a notebook, restart the kernel, set "
                "the variable in the first cell, then import Triton.",
                right=True,
            ),
            Choice(
                "When the kernel is launched with CPU tensors.",
                "Without the interpreter Triton refuses CPU tensors. It never switches by itself.",
            ),
            Choice(
                "When it is set before the first launch, because Triton compiles only then.",
                "Triton does compile at the first launch. But `@triton.jit` has already chosen "
                "between compiler and interpreter.",
            ),
        ),
    ),
    Question(
        "What does a vector of several blocks look like after this kernel?\n"
        "```python\n"
        "offsets = pid * n_elements + tl.arange(0, BLOCK_SIZE)\n"
        "mask = offsets < n_elements\n"
        "x = tl.load(x_ptr + offsets, mask=mask)\n"
        "tl.store(output_ptr + offsets, x, mask=mask)\n"
        "```",
        (
            Choice(
                "Only the first block was copied.",
                "Yes. Program 0 is correct because 0 times anything is 0. All the others start "
                "past the end, where the mask switches every lane off.",
                right=True,
            ),
            Choice(
                "The blocks arrive in the wrong order.",
                "No program reaches a second block: they are n_elements apart, not BLOCK_SIZE.",
            ),
            Choice(
                "Every second block is missing.",
                "That happens if programs are two blocks apart. Here they are n_elements apart.",
            ),
            Choice(
                "The kernel crashes, because program 1 starts past the end.",
                "The mask switches those lanes off, so the bug is silent.",
            ),
        ),
    ),
    Question(
        "A launcher has the line `assert x.is_contiguous`. What does it check?",
        (
            Choice(
                "That x is contiguous.",
                "The parentheses are missing: this is the method itself, not its result.",
            ),
            Choice(
                "Nothing: a method object is always true.",
                "Yes. Write `assert x.is_contiguous()`.",
                right=True,
            ),
            Choice(
                "That x is a tensor with the method `is_contiguous`.",
                "Python does raise an AttributeError if the method is missing. But that is not "
                "what the assertion tests, and every tensor has the method.",
            ),
            Choice(
                "That x is contiguous, but only when Python runs without `-O`.",
                "`-O` does remove assertions. Without it this one still never fails.",
            ),
        ),
    ),
    Question(
        "A copy kernel has `tl.load(x_ptr + offsets, mask=mask)` and then "
        "`tl.store(output_ptr + offsets, x)`. Which test finds the bug in Triton's own "
        "interpreter?",
        (
            Choice(
                "A length of several full blocks, compared with `torch.equal`",
                "In full blocks every lane has an element, so the missing mask has no effect.",
            ),
            Choice(
                "A length that leaves the last block partly empty, compared with `torch.equal`",
                "The lanes past the end write after the output. The output itself is correct.",
            ),
            Choice(
                "Random numbers with both signs, of all dtypes",
                "The values do not matter: the copy itself is correct.",
            ),
            Choice(
                "An output that is part of a larger tensor, whose rest is compared as well",
                "Yes. The numbers after the output change. A checked interpreter also reports it.",
                right=True,
            ),
        ),
    ),
    Question(
        "What does agreement with a golden reference such as `torch.add` show?",
        (
            Choice(
                "The kernel is correct for all inputs.",
                "It is correct for these inputs. Other lengths can show a missing mask, and views "
                "can show a wrong stride.",
            ),
            Choice(
                "The kernel is correct for the inputs that you tried.",
                "Yes. So choose inputs where bugs show: odd lengths, one element, none, views, "
                "negative numbers, every dtype.",
                right=True,
            ),
            Choice(
                "Nothing, because torch uses the same GPU.",
                "It is an independent program for the same task, so agreement is strong evidence.",
            ),
            Choice(
                "The kernel touches no memory outside its tensors.",
                "A comparison sees only the output. A kernel may write elsewhere as well.",
            ),
        ),
    ),
)
