"""The GPU of a class, for a learner without one: `check(matmul, gpu=True)` and the board.

The environment gives the address of the service (`TILEWISE_GPU`, `TILEWISE_GPU_TOKEN`; a hub sets
the first), or else the file that `connect` writes.
"""

from __future__ import annotations

from triton_util.class_gpu.places import ServicePlace, place, write
from triton_util.class_gpu.service import Service
from triton_util.notebook.session import Display

__all__ = ["connect", "join_board", "leave_board", "show_board"]


def connect(address: str, token: str) -> None:
    """Store the address of your class's service and your token for all later sessions."""
    write(address, token)
    print(f"Remembered: check(..., gpu=True) asks {address}")


def join_board() -> None:
    """Show your best results on the board of the class, under a randomly drawn name."""
    name = _service().ask("POST", "api/board", {})["name"]
    print(f"You are on the board as {name!r}. leave_board() takes you off it.")


def leave_board() -> None:
    """Remove your name and your results from the board."""
    _service().ask("DELETE", "api/board")
    print("You are not on the board.")


def show_board() -> None:
    """Show the board of the class."""
    told = _service().ask("GET", "api/board")
    Display().show(_framed(str(told["page"])), str(told["name"] or "You are not on the board."))


def _service() -> Service:
    found = place()
    if found is None:
        raise LookupError(ServicePlace.MISSING)
    return Service(found)


def _framed(page: str) -> str:
    """A page in a frame within the notebook, in which nothing can run or reach outside."""
    import html

    return (
        '<iframe sandbox="" title="Board of the class" width="100%" height="420" '
        f'srcdoc="{html.escape(page, quote=True)}"></iframe>'
    )
