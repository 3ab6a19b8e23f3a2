"""Releases feedback as nbgrader does, but skips submissions that came by a learning platform.

A page's name in the exchange comes from a secret that `nbgrader submit` made. A submission from a
learning platform has none. nbgrader's own command stops there and skips all later students.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

from graders.judge.plain_text import quoted

SECRET = "submission_secret.txt"  # nbgrader's; its digest names the feedback page in the exchange


class ReleaseToTheExchange(ExchangeReleaseFeedback):  # type: ignore[misc]
    """Replaces nbgrader's `ExchangeReleaseFeedback`; it has the same options."""

    def copy_files(self) -> None:
        """Release feedback for submissions from the exchange, and name the other students."""
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
