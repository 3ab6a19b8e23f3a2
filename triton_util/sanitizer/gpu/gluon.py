"""Kernels of `triton.experimental.gluon`: recorded as not checked, since only a GPU runs them."""

from __future__ import annotations

import inspect
from typing import Any

from triton_util.sanitizer.record import RunRecord


def install(record: RunRecord) -> None:
    """From now on a launch of a Gluon kernel is recorded, and does nothing."""
    try:
        from triton.experimental.gluon._runtime import GluonJITFunction
    except ImportError:  # a triton without Gluon
        return
    from triton_util.interpreter import Fault

    def run(self: Any, *_: Any, grid: Any, warmup: bool = False, **__: Any) -> None:
        record.launched()
        record.note(unchecked=True)
        function = self.fn
        record.finding(
            Fault(
                code="not-interpreted",
                message="Gluon kernels run on a GPU only, so this one was not run.",
                kernel=function.__name__,
                filename=function.__code__.co_filename,
                line=inspect.getsourcelines(function)[1],
            )
        )

    GluonJITFunction.run = run
