"""Prepares torch and triton as soon as a checked program has imported them."""

from __future__ import annotations

import os

from triton_util.sanitizer import after_import


def watch() -> None:
    """From now on prepare `torch` and `triton` as soon as they are imported."""
    os.environ["TRITON_INTERPRET"] = "1"
    after_import.run({"torch": _prepare_torch, "triton": _prepare_triton})


def _prepare_torch() -> None:
    if os.environ.get("TILEWISE_CUDA", "1") != "0":
        from triton_util.sanitizer.gpu import cuda

        cuda.install()


def _prepare_triton() -> None:
    from triton_util.sanitizer import process

    process.attach()
