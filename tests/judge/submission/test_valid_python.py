"""What Python reads and the judge does not has a name of its own."""

from __future__ import annotations

import pytest

from graders.judge import discovery
from graders.judge.submission.loading import SubmissionError, from_text
from tests.attacks.attack import HEAD, KERNEL, LAUNCH, honest, launcher

DEEP = "x" + " + x" * 200
BOLD_IF = "".join(chr(0x1D41A + ord(letter) - ord("a")) for letter in "if")
CASES = {
    "too-deep": launcher(f"{DEEP}\n{LAUNCH}"),
    "keyword-name": launcher(f"{BOLD_IF} = 1\n{LAUNCH}"),
    "too-large": launcher(f"[{'0, ' * 60_000}]\n{LAUNCH}"),
}


@pytest.mark.parametrize("code", CASES)
def test_valid_python_is_not_called_invalid(code: str) -> None:
    with pytest.raises(SubmissionError) as refused:
        from_text(HEAD + KERNEL + CASES[code], discovery.exercise("vector_add"))
    told = refused.value.finding
    assert told.code == code
    assert "not valid Python" not in told.title


def test_a_keyword_among_the_parameters_of_a_kernel_is_named_with_its_line() -> None:
    text = honest().replace("n_elements", BOLD_IF)
    with pytest.raises(SubmissionError) as refused:
        from_text(text, discovery.exercise("vector_add"))
    assert (refused.value.finding.code, refused.value.finding.line) == ("keyword-name", 6)
