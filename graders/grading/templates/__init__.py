"""The pages of HTML that a class gets, and how one is made of its template."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).resolve().parent


def rendered(name: str, **values: Any) -> str:
    """The page that the template of this name makes of the values, which are escaped."""
    return _template(name).render(**values)


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string((FOLDER / name).read_text(encoding="utf-8"))
