"""Small things that outlive a restart: which hints were shown, how the quiz was answered.

They lie beside the progress. What cannot be read is forgotten, and what cannot be written is not
kept: nothing here may stop a lesson.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from triton_util.client import attempts

_FILE = "remembered.json"
PASSED_CODE = "passed_code"  # of each exercise the source that passed last: the capstone runs on it


def load(kind: str) -> dict[str, Any]:
    """What was kept of one kind, by name; {} where nothing was."""
    try:
        found = json.loads((attempts.folder() / _FILE).read_text(encoding="utf-8"))[kind]
        return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def keep(kind: str, name: str, value: Any) -> None:
    """Keep one value, in place of the one before."""
    path = attempts.folder() / _FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = {}
    found = found if isinstance(found, dict) else {}
    kept = found.get(kind)
    found[kind] = {**(kept if isinstance(kept, dict) else {}), name: value}
    with contextlib.suppress(OSError):
        attempts.write(path, json.dumps(found, indent=1, sort_keys=True) + "\n")
