"""Refuse a command with a GraderError, without importing torch unless there is one.

GraderError is defined beside the records of exercises, which need torch. Importing it takes two
seconds, which a report on a class need not spend.
"""

from __future__ import annotations


def refusal(message: str) -> Exception:
    """The GraderError to raise."""
    from graders.judge.records import GraderError

    return GraderError(message)


def is_refusal(error: Exception) -> bool:
    """Whether it is a GraderError, which is reported in one line."""
    from graders.judge.records import GraderError

    return isinstance(error, GraderError)
