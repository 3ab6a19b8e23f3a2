"""The messages if a submission cannot be read: each has one clear line and a next step."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from graders.judge.plain_text import one_line, plain, shortened
from triton_util.report import Finding

# An unreadable file is not a wrong answer: the instructor has to look at it.
UNREADABLE = frozenset(
    {
        "file-missing",
        "not-a-notebook",
        "broken-json",
        "damaged-notebook",
        "binary",
        "not-utf8",
        "too-costly",
        "reading-failed",
    }
)
TRITON_NAMES = frozenset({"load", "store", "arange", "program_id", "num_programs", "where"})
MOST_WORDS = 2_000  # characters of a message: names in it may be long
MOST_NAMES, LONGEST_NAME = 500, 80  # limits for a guess, because comparing takes time


class SubmissionError(Exception):
    """The submission cannot be judged as it was handed in; `finding` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def refusal(
    code: str,
    title: str,
    message: str,
    next_step: str = "",
    *,
    line: int | None = None,
    original: str = "",
) -> SubmissionError:
    """Return the exception for a refusal by the gate *read*."""
    said, raw = (shortened(plain(text), MOST_WORDS) for text in (message, original))
    return SubmissionError(
        Finding("read", code, one_line(title), said, line, next_step=next_step, original=raw)
    )


# Part of the parser's own message → an explanation for learners.
SYNTAX_WORDS: tuple[tuple[str, str], ...] = (
    ("expected ':'", "A colon is missing at the end of this line."),
    ("was never closed", "A bracket is opened here and never closed."),
    ("unmatched", "A bracket is closed here that was never opened."),
    ("does not match opening", "A bracket is closed by a bracket of another kind."),
    ("unterminated", "A string starts here and its closing quote is missing."),
    ("expected an indented block", "The body of the block above has to be indented."),
    ("unexpected indent", "This line is indented further than its block."),
    ("unindent does not match", "This line's indentation matches none of the blocks around it."),
    ("inconsistent use of tabs", "Tabs and spaces are mixed in the indentation."),
    ("Perhaps you forgot a comma", "A comma seems to be missing between two items."),
    ("Maybe you meant '=='", "A single = assigns; comparing takes two: ==."),
    (
        "invalid non-printable character",
        "There is an invisible character here, perhaps pasted from a web page.",
    ),
    (
        "invalid character",
        "There is a character here that Python does not know, such as a typographic quote.",
    ),
    (
        "positional argument follows keyword",
        "An argument without a name follows one with a name.",
    ),
    ("cannot assign to", "The expression left of the = cannot be assigned to."),
    (
        "'return' outside function",
        "This return is outside a function: is its indentation correct?",
    ),
)
# The same for what Python accepts but the judge does not → code, title, message and next step.
VALID_PYTHON: tuple[tuple[str, tuple[str, str, str, str]], ...] = (
    (
        "nested too deeply",
        (
            "too-deep",
            "The code is nested too deeply",
            "An expression or a block has more than 150 levels, as a sum of 150 terms has. Python "
            "may read it; the judge does not.",
            "Split it into several statements.",
        ),
    ),
    (
        "reads as the keyword",
        (
            "keyword-name",
            "A name reads as a keyword of Python",
            "A name here is spelled with letters of another alphabet, which Python takes for plain "
            "ones. So it reads as a keyword, and the judge cannot write it down again.",
            "Write the name with plain letters, or take another one.",
        ),
    ),
)


def syntax_refusal(error: SyntaxError, place: str, line: int | None) -> SubmissionError:
    """Return the refusal of a syntax error, with its place, its text and its usual cause."""
    raw = error.msg or "invalid syntax"
    for part, (code, title, said, step) in VALID_PYTHON:
        if part in raw:
            return refusal(code, title, f"{place}: {said}", step, line=line)
    words = next(
        (said for part, said in SYNTAX_WORDS if part in raw), "Python cannot read this line."
    )
    text = (error.text or "").strip()
    shown = f" `{text[:100]}`" if text else ""
    return refusal(
        "syntax-error",
        "This is not valid Python yet",
        f"{place}:{shown}. {words}" if shown else f"{place}: {words}",
        "Fix this line, then check again.",
        line=line,
        original=f"SyntaxError: {raw}",
    )


def did_you_mean(wanted: str, known: Sequence[str]) -> str:
    """Return `Did you mean …?` or ""."""
    if len(wanted) > LONGEST_NAME:
        return ""
    near = [name for name in known if len(name) <= LONGEST_NAME][:MOST_NAMES]
    lowered = {name.lower(): name for name in near}
    close = get_close_matches(wanted.lower(), list(lowered), n=1, cutoff=0.6)
    return f"Did you mean {lowered[close[0]]}?" if close else ""


def missing_launcher(wanted: str, signature: str, known: Sequence[str]) -> SubmissionError:
    """Return the refusal of a submission without a launcher of the required name."""
    guess = did_you_mean(wanted, known)
    listed = ", ".join(list(known)[:8])
    found = f"The functions here are: {listed}." if listed else "No function is defined here."
    return refusal(
        "function-missing",
        f"There is no function {wanted}",
        f"The exercise asks for a function {signature}. {found} {guess}".strip(),
        f"Name the launcher {wanted}, and define it at the top level of the file or of a cell.",
    )
