"""The model solutions that learners get after a pass are those of the course."""

import gzip
import json
from pathlib import Path

from graders.authoring import model_solutions
from graders.authoring.rooms import Rooms, find_root
from graders.judge import discovery
from triton_util.capstone.operations import BY_TORCH, LESSONS
from triton_util.model_solutions import FILE

ROOMS = Rooms(find_root(Path(__file__)))


def test_the_file_holds_what_the_course_gives() -> None:
    kept = json.loads(gzip.decompress(FILE.read_bytes()))
    assert kept == model_solutions.models(ROOMS), "run `tilewise build --practice` and commit it"
    assert set(kept) == {item.name for item in discovery.exercises().values()}


def test_the_table_names_the_right_lessons() -> None:
    numbers = discovery.numbers()
    assert {name: numbers[discovery.exercise(name).lesson][:2] for name in BY_TORCH} == LESSONS
