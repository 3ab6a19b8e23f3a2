"""Small values that survive a restart: hints that were shown, quiz answers.

They are stored beside the progress. Errors in reading or writing are ignored, because they must
not stop a lesson.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from triton_util.client import attempts

_FILE = "remembered.json"
PASSED_CODE = "passed_code"  # the source that passed last, by exercise; the capstone runs on it


def load(kind: str) -> dict[str, Any]:
    """The stored values of one kind, by name; {} if there are none."""
    try:
        found = json.loads((attempts.folder() / _FILE).read_text(encoding="utf-8"))[kind]
        return dict(found)
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def keep(kind: str, name: str, value: Any) -> None:
    """Store one value, in place of the earlier one."""
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
