"""The clone, and its kernels whose verdict is known."""

from pathlib import Path

from graders.authoring import kernels
from graders.authoring.rooms import Rooms

ROOT = Path(__file__).resolve().parents[2]
ROOMS = Rooms(ROOT)


def correct(exercise: str, name: str = "textbook") -> str:
    """The text of a correct kernel in tests/course."""
    return kernels.correct_kernel(ROOMS, exercise, name)


def wrong(exercise: str, name: str) -> str:
    """The text of a wrong kernel in tests/course."""
    return kernels.wrong_kernel(ROOMS, exercise, name)
