"""What a card says first is short, and its small table says what is known of the case."""

from __future__ import annotations

import pytest

from graders.judge import discovery
from graders.judge.diagnosis import generic
from graders.judge.diagnosis.facts import with_program
from triton_util.client.phrases import first_sentence
from triton_util.report import Table

MOST_WORDS = 59
TEXTS = {
    m.code: (m.title, m.message)
    for exercise in discovery.exercises().values()
    for m in exercise.misconceptions
}
TEXTS |= {code: (text.title, text.message) for code, text in generic.FAULTS.items()}


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_title_and_first_sentence_are_read_at_a_glance(code: str) -> None:
    title, message = TEXTS[code]
    words = f"{title} {first_sentence(message)[0]}".split()
    assert len(words) <= MOST_WORDS, f"{code}: {len(words)} words before the next step"


def test_program_and_offsets_come_from_the_first_wrong_line() -> None:
    rows = (("0", "0 to 3", "all"), ("1", "4 to 7", "none"))
    table = Table("told", ("program", "offsets", "mask"), rows, (False, True))
    told = with_program((("shape", "x: (8,)"),), table)
    assert told == (("shape", "x: (8,)"), ("program", "1"), ("offsets", "4 to 7"))
    known = (("program", "5"),)
    assert with_program(known, table) == known
    assert with_program((), None) == ()
