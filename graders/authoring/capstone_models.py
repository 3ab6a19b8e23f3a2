"""Write the model solutions that the capstone falls back on.

The file is compressed, like the puzzles, so that a search of the folder does not show them.
"""

from __future__ import annotations

import gzip
import json

from graders.authoring.lesson import read_solutions
from graders.authoring.rooms import Rooms
from graders.judge import discovery
from triton_util.capstone.operations import BY_TORCH, MODELS

IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


def models(rooms: Rooms) -> dict[str, str]:
    """The source of the model solution of each operation, complete."""
    return {
        name: IMPORTS + read_solutions(rooms.solutions / f"{lesson}.py")[name]
        for name in BY_TORCH
        for lesson in [discovery.exercise(name).lesson]
    }


def write(rooms: Rooms) -> bool:
    """Bring the file up to date; True if it changed."""
    content = json.dumps(models(rooms), indent=0).encode()
    # versions of zlib may compress differently, so compare the uncompressed content
    if MODELS.is_file() and gzip.decompress(MODELS.read_bytes()) == content:
        return False
    MODELS.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    return True
