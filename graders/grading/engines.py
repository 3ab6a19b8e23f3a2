"""One SQLAlchemy engine for all gradebooks that nbgrader opens while it writes a class.

nbgrader makes an engine for each gradebook, ten for one student, and a fresh engine compiles
every query anew: about a third of the time that writing takes. Its connections are closed
with each gradebook as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import nbgrader.api
from sqlalchemy import create_engine

_engine_of = cache(create_engine)


@contextmanager
def shared() -> Iterator[None]:
    """Gradebooks of the same database share an engine inside the block."""
    usual = nbgrader.api.create_engine
    nbgrader.api.create_engine = _engine_of
    try:
        yield
    finally:
        nbgrader.api.create_engine = usual
