"""The templates of a class's HTML pages, and a function that renders them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).resolve().parent


def rendered(name: str, **values: Any) -> str:
    """Return the page of the named template with these values, which are escaped."""
    return _template(name).render(**values)


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string((FOLDER / name).read_text(encoding="utf-8"))
