"""The model solutions that the capstone falls back on are those of the course."""

import gzip
import json
from pathlib import Path

from graders.authoring import capstone_models
from graders.authoring.rooms import Rooms, find_root
from triton_util.capstone.operations import BY_TORCH, LESSONS, MODELS

ROOMS = Rooms(find_root(Path(__file__)))


def test_the_file_holds_what_the_course_gives() -> None:
    kept = json.loads(gzip.decompress(MODELS.read_bytes()))
    assert kept == capstone_models.models(ROOMS), "run `tilewise build --practice` and commit it"
    assert list(kept) == list(BY_TORCH)


def test_the_table_names_the_right_lessons() -> None:
    from graders.judge import discovery

    numbers = discovery.numbers()
    assert {name: numbers[discovery.exercise(name).lesson][:2] for name in BY_TORCH} == LESSONS
