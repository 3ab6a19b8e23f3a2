"""Updates the gradebook from the rules, so that nbgrader's own pages agree with ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from graders.grading.gradebooks import opened
from graders.grading.intake.roster import enter
from graders.grading.intake.rules import grant
from graders.grading.ledger.book import Ledger
from graders.grading.ledger.terms import terms_of


@contextmanager
def ledger_of(course: Path, config: Any, *assignments: str) -> Iterator[Ledger]:
    """Open and settle the ledger of a class whose gradebook has these assignments."""
    database = str(config.CourseDirectory.db_url)
    with opened(database, *assignments):
        pass  # report its error first
    settle(course, config, assignments)
    with opened(database, *assignments) as gradebook:
        yield Ledger(gradebook, terms_of(course, config))


def settle(course: Path, config: Any, assignments: Sequence[str]) -> None:
    """Write due dates, extensions and penalties of these assignments into the gradebook."""
    terms = terms_of(course, config)
    database = str(config.CourseDirectory.db_url)
    enter(terms.roster, database)
    for assignment in assignments:
        came = {path.parent.name for path in course.glob(f"submitted/*/{assignment}")}
        grant(terms.rules, assignment, sorted(came), database)
    with opened(database, *assignments) as gradebook:
        ledger = Ledger(gradebook, terms)
        for assignment in assignments:
            ledger.settle(assignment)


def due_dates(config: Any) -> dict[str, datetime | None]:
    """Return when each assignment in the gradebook is due, in UTC."""
    with opened(str(config.CourseDirectory.db_url)) as gradebook:
        return {assignment.name: assignment.duedate for assignment in gradebook.assignments}
