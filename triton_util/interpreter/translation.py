"""Errors in a tutor's words."""

from __future__ import annotations

from typing import Any

from .faults import Fault


def fault_from(error: BaseException, place: dict[str, Any]) -> Fault:
    """A kernel-error fault for an exception raised by a kernel."""
    text = f"{type(error).__name__}: {error}"
    return Fault(code="kernel-error", message=text, original=text, kind="other", **place)
