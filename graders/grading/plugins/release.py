"""nbgrader's release of feedback, which does not end at a submission that it never received.

A page lies in the exchange under a secret that `nbgrader submit` has made. Who handed in by a
learning platform has none, and nbgrader's own command ends there, with nothing for those behind.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from graders.judge.plain_text import quoted

SECRET = "submission_secret.txt"  # nbgrader's; feedback lies in the exchange under its digest


class ReleaseToTheExchange(ExchangeReleaseFeedback):  # type: ignore[misc]
    """Takes the place of nbgrader's `ExchangeReleaseFeedback`, with the same options."""

    def copy_files(self) -> None:
        """Release what came by the exchange; whoever did not is named."""
        folders = {path.parent for path in Path(self.coursedir.root).glob(self._pages())}
        without = sorted(f.parent.name for f in folders if not (f / SECRET).is_file())
        excluded = self.coursedir.student_id_exclude
        for student in without:
            self.log.warning(
                "NOT RELEASED: %s has no secret of the exchange: see `tilewise feedback`",
                quoted(student),
            )
        self.coursedir.student_id_exclude = ",".join(filter(None, [excluded, *without]))
        try:
            super().copy_files()
        finally:
            self.coursedir.student_id_exclude = excluded

    def _pages(self) -> str:
        folder = self.coursedir.feedback_directory
        return f"{folder}/*/{self.coursedir.assignment_id}/*.html"
