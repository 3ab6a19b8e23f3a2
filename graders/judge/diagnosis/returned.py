"""What to do about a launcher that returns something other than the result."""

from __future__ import annotations

from graders.judge.cases import tensors
from graders.judge.cases.compare import Expectation
from graders.judge.diagnosis.generic import FindingText

TITLE = "The launcher returns the wrong thing"
LOOK_AT_RETURN = "Look at the line that allocates the output and at the return statement."
# Part of the text about the returned value, and what to do then.
RETURNS = (
    ("returned None", "End the launcher with `return output`, as far to the left as its body."),
    (
        "value of type Compiled",
        "A launch returns no result: it fills the tensor that you pass to it. Launch in one line, "
        "and write `return output` in the next.",
    ),
    (
        "of dtype",
        "Allocate with the dtype of the input: torch.empty_like(x), or torch.empty(shape, "
        "dtype=x.dtype, device=x.device). torch.empty alone makes float32.",
    ),
    (
        "not contiguous",
        "Allocate with the shape alone, torch.empty(shape, dtype=x.dtype, device=x.device), and "
        "return that tensor as it is.",
    ),
    (
        "of shape",
        "Compare the shape in torch.empty with the contract: which size comes first there, and "
        "which name has x.shape given it?",
    ),
    (
        "shares its memory",
        "Allocate the output, output = torch.empty_like(x), pass it to the launch, and return it.",
    ),
)


def wrong_return_text(expectation: Expectation, returned: str) -> FindingText:
    """The text for a wrong return value.

    `returned` describes the value, in words that follow "but"; empty if it must not be shown.
    """
    if not returned:
        wanted = "It must return a new tensor of the correct shape and dtype."
        return FindingText(TITLE, wanted, LOOK_AT_RETURN)
    dtype = tensors.dtype_word(expectation.dtype)
    named = f"{expectation.name}, " if expectation.name else ""
    want = f"{named}a new tensor of shape {expectation.shape} and dtype {dtype}"
    advice = next((said for part, said in RETURNS if part in returned), LOOK_AT_RETURN)
    return FindingText(TITLE, f"It must return {want}, but {returned}.", advice)
