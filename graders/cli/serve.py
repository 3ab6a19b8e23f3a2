"""`tilewise serve`: shares this machine's GPUs, or a cluster's, with a whole class."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from graders.judge.plain_text import one_line
from graders.judge.records import GraderError


@click.command()
@click.option("--address", default="127.0.0.1", help="Where to listen; 0.0.0.0 is everywhere.")
@click.option("--port", type=click.IntRange(1, 65535), default=8712)
@click.option("--scheduler", metavar="URL", default="", help="A Dask scheduler, tcp://host:8786.")
@click.option("--workers", type=click.IntRange(1), help="Processes (default: one for each GPU).")
@click.option(
    "--class-file",
    type=click.Path(path_type=Path),
    default=Path(".tilewise") / "service.json",
    help="The tokens of learners; made where it is missing. A hub needs none.",
)
@click.option(
    "--learners", type=click.Path(exists=True, path_type=Path), help="A name in each line."
)
@click.option("--board", type=click.Path(path_type=Path), help="Keep a board in this file.")
@click.option("--seconds", type=click.FloatRange(1), default=300.0, help="For one check.")
@click.option("--waiting", type=click.IntRange(1), default=2000, help="Checks in the queue.")
@click.option("--per-hour", type=click.FloatRange(1), default=120.0, help="Checks of a learner.")
@click.option(
    "--learners-per-address",
    type=click.IntRange(1),
    default=10,
    help="Whose checks an address may ask for with the shared token.",
)
def serve(
    address: str,
    port: int,
    scheduler: str,
    workers: int | None,
    class_file: Path,
    learners: Path | None,
    board: Path | None,
    seconds: float,
    waiting: int,
    per_hour: float,
    learners_per_address: int,
) -> None:
    """Serve `check(..., gpu=True)` to a class. Under JupyterHub, the hub identifies learners.

    Without a hub, it makes one token for all, or with --learners one for each.
    """
    from graders.service import running  # imports torch, tornado, Dask: slow
    from graders.service.limits import ServiceLimits

    hub = running.hub_place()
    if hub is None:
        _prepare_class(class_file, learners)
    settings = running.ServiceSettings(
        place=hub or running.Place(address, port),
        scheduler=scheduler,
        workers=workers or _gpus(),
        class_file=None if hub else class_file,
        board=board,
        limits=ServiceLimits(
            waiting=waiting,
            running=seconds,
            per_hour=per_hour,
            learners_per_address=learners_per_address,
        ),
    )

    def ready(place: running.Place) -> None:
        click.echo(f"Serving at {place.url}", err=True)
        if hub is None:
            click.echo(_for_learners(place.url, class_file), err=True)

    try:
        running.run(settings, ready)
    except (GraderError, OSError, ValueError) as error:
        click.echo(f"Error: {one_line(str(error), 2000)}", err=True)
        sys.exit(2)


def _gpus() -> int:
    import torch

    return max(1, torch.cuda.device_count())


def _prepare_class(class_file: Path, learners: Path | None) -> None:
    from graders.service.identity import write_class_file

    if learners is not None:
        names = [line.strip() for line in learners.read_text(encoding="utf-8").splitlines()]
        write_class_file(class_file, filter(None, names), shared=False)
    elif not class_file.exists():
        write_class_file(class_file, (), shared=True)


def _for_learners(url: str, class_file: Path) -> str:
    """Return what learners have to set, without the tokens, which stay in the file."""
    return (
        f"Learners set TILEWISE_GPU={url} and TILEWISE_GPU_TOKEN to their token, which stands in "
        f"{class_file}."
    )
