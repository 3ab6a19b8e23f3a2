"""Files that are written in one step: a reader finds the old one or the new one."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_atomically(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON beside the file and rename it: there is the old one or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".fresh-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file)
        os.replace(temporary, path)
    except BaseException:  # a full disk, say: nothing is left behind
        os.unlink(temporary)
        raise


def read_json(path: Path) -> dict[str, Any]:
    """What `write_atomically` has written; {} when there is nothing or the file is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
