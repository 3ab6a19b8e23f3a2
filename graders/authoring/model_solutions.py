"""Write the model solutions: a card shows one after a pass, and the capstone falls back on them.

The file is compressed, like the puzzles, so that a search of the folder does not show them.
"""

from __future__ import annotations

import gzip
import json

from graders.authoring.lesson import read_solutions
from graders.authoring.rooms import Rooms
from graders.judge import discovery
from triton_util.model_solutions import FILE

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def models(rooms: Rooms) -> dict[str, str]:
    """The source of the model solution of each exercise, complete."""
    lessons = dict.fromkeys(item.lesson for item in discovery.exercises().values())
    return {
        name: IMPORTS + source
        for lesson in lessons
        for name, source in read_solutions(rooms.solutions / f"{lesson}.py").items()
    }


def write(rooms: Rooms) -> bool:
    """Bring the file up to date; True if it changed."""
    content = json.dumps(models(rooms), indent=0).encode()
    # versions of zlib may compress differently, so compare the uncompressed content
    if FILE.is_file() and gzip.decompress(FILE.read_bytes()) == content:
        return False
    FILE.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    return True
