"""What an attack is, and the honest submission that every attack is built around."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

Evidence = Literal["forged", "secret", "file", "connection", "process", "none"]


@dataclass(frozen=True)
class Attack:
    """One submission for the exercise vector_add that wants something it must not get.

    `evidence` is what success would leave: a wrong way to the right result ("forged"), the
    bait's text in the report ("secret"), a file, a network connection or a process. The
    source may name the bait with @SECRET@ (a file that anybody may read), @DIRECTORY@ (where
    anybody may write), @PORT@ (somebody listens there), @JUDGE@ (the judge's process id),
    @ROOT@ (the repository), @CLONE@ (that system call's number) and @NEKOT@ (the bait's text
    backwards, to say that it succeeded).
    """

    name: str
    goal: str
    source: str
    evidence: Evidence
    gates_only: bool = False  # no business of the jail: it aims at the gates in front of it
    may_pass: bool = False  # harmless noise around an honest kernel
    safe_unjailed: bool = True  # may be tried without a jail, to see that it is a real attack


HEAD = """\
import torch
import triton
import triton.language as tl

"""

KERNEL = '''\
@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Add one block."""
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)

'''

LAUNCH = """\
output = torch.empty_like(x)
add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, output, x.numel(), BLOCK_SIZE=1024)
return output
"""


def launcher(body: str) -> str:
    """A launcher whose whole body is `body`."""
    return "def vector_add(x, y):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


def honest() -> str:
    """The control: it must pass, or the suite shows nothing."""
    return HEAD + KERNEL + launcher(LAUNCH)


def inside(deed: str, before: str = "") -> str:
    """The deed is done in the launcher, in front of an honest launch."""
    body = textwrap.dedent(deed).strip() + "\n" + LAUNCH
    return HEAD + textwrap.dedent(before) + KERNEL + launcher(body)


def at_import(deed: str) -> str:
    """The deed is done while the module loads; the launcher uses it, so that it is kept."""
    load = "def deed():\n" + textwrap.indent(textwrap.dedent(deed).strip(), "    ") + "\n"
    return HEAD + KERNEL + load + "DONE = deed()\n" + launcher("done = DONE\n" + LAUNCH)


def instead(body: str, before: str = "") -> str:
    """The launcher does something else; an honest kernel stands there for show."""
    return HEAD + KERNEL + textwrap.dedent(before) + launcher(body)


def loot(expression: str, imports: str = "") -> str:
    """Get hold of some text and carry it out in an error message."""
    return inside(f"{imports}\nraise ValueError('loot: ' + str({expression}))")
