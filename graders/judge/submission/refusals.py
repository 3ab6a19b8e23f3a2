"""What is said when a submission cannot be read: one clear line and the next step each."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from graders.judge.report import Finding


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
    """The exception for one plain reason, found by the gate *read*."""
    return SubmissionError(
        Finding("read", code, title, message, line, None, next_step, None, original)
    )


# Part of the parser's own message → the same in a tutor's words.
SYNTAX_WORDS: tuple[tuple[str, str], ...] = (
    ("expected ':'", "A colon is missing at the end of this line."),
    ("was never closed", "A bracket is opened here and never closed."),
    ("unmatched", "A bracket is closed here that was never opened."),
    ("does not match opening", "A bracket is closed by a bracket of another kind."),
    ("unterminated", "A string starts here and its closing quote is missing."),
    ("expected an indented block", "The body of the block above has to be indented."),
    ("unexpected indent", "This line is indented further than the block that it belongs to."),
    ("unindent does not match", "This line's indentation fits none of the blocks around it."),
    ("inconsistent use of tabs", "Tabs and spaces are mixed in the indentation."),
    ("Perhaps you forgot a comma", "A comma seems to be missing between two items."),
    ("Maybe you meant '=='", "A single = assigns; comparing takes two: ==."),
    (
        "invalid non-printable character",
        "There is an invisible character here, as pasting from a web page leaves.",
    ),
    (
        "invalid character",
        "There is a character here that Python does not know, such as a typographic quote.",
    ),
    (
        "positional argument follows keyword",
        "An argument without a name stands after one with a name.",
    ),
    ("cannot assign to", "What stands left of the = cannot be assigned to."),
    (
        "'return' outside function",
        "This return stands outside a function: is its indentation right?",
    ),
    ("nested too deeply", "The expression is nested too deeply."),
)


def syntax_refusal(error: SyntaxError, place: str, line: int | None) -> SubmissionError:
    """A syntax error with its place, its text and what it usually means."""
    raw = error.msg or "invalid syntax"
    words = next(
        (said for part, said in SYNTAX_WORDS if part in raw), "Python cannot read this line."
    )
    text = (error.text or "").strip()
    shown = f" `{text[:100]}`" if text else ""
    return refusal(
        "syntax-error",
        "This is not valid Python yet",
        f"{place}:{shown}. {words}" if shown else f"{place}: {words}",
        "Mend the line and check again.",
        line=line,
        original=f"SyntaxError: {raw}",
    )


def did_you_mean(wanted: str, known: Sequence[str]) -> str:
    """`Did you mean …?` or nothing."""
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(wanted.lower(), list(lowered), n=1, cutoff=0.6)
    return f"Did you mean {lowered[close[0]]}?" if close else ""


def missing_launcher(wanted: str, signature: str, known: Sequence[str]) -> SubmissionError:
    """The launcher is not there under its name."""
    guess = did_you_mean(wanted, known)
    listed = ", ".join(list(known)[:8])
    found = f"The functions here are: {listed}." if listed else "No function is defined here."
    return refusal(
        "function-missing",
        f"There is no function {wanted}",
        f"The exercise asks for a function {signature}. {found} {guess}".strip(),
        f"Name the launcher {wanted}, at the top level of the file or of a cell.",
    )
