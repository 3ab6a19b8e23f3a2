"""Writes files atomically: a reader finds the old version or the new one, never half of it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_atomically(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON to a temporary file in the same folder, and rename it to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".fresh-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(temporary, path)
    except BaseException:  # for example a full disk: leave no temporary file
        os.unlink(temporary)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """Return what `write_atomically` wrote; {} if the file is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
