"""Refuse a command with a GraderError, where torch must not be imported before there is one.

A GraderError is defined beside the records of exercises, which need torch: two seconds of a
processor, which a report on a class does not have to spend.
"""

from __future__ import annotations


def refusal(message: str) -> Exception:
    """The GraderError to raise."""
    from graders.judge.records import GraderError

    return GraderError(message)


def is_refusal(error: Exception) -> bool:
    """Whether it is a GraderError, which is told in one line."""
    from graders.judge.records import GraderError

    return isinstance(error, GraderError)
