"""Write the model solutions that the capstone falls back on.

They are compressed, like the puzzles: nobody should meet them while searching a folder.
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
    """Bring the file up to date; True when it changed."""
    content = json.dumps(models(rooms), indent=0).encode()
    # two versions of zlib may compress differently: what counts is inside
    if MODELS.is_file() and gzip.decompress(MODELS.read_bytes()) == content:
        return False
    MODELS.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))
    return True
