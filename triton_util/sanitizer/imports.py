"""Prepares torch and triton as soon as a checked program has imported them."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any


def watch() -> None:
    """From now on prepare `torch` and `triton` as soon as they are imported."""
    os.environ["TRITON_INTERPRET"] = "1"
    sys.meta_path.insert(0, _Finder())


def _prepare_torch() -> None:
    if os.environ.get("TILEWISE_CUDA", "1") != "0":
        from triton_util.sanitizer.gpu import cuda

        cuda.install()


def _prepare_triton() -> None:
    from triton_util.sanitizer import process

    process.attach()


_PREPARING: dict[str, Callable[[], None]] = {"torch": _prepare_torch, "triton": _prepare_triton}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the two packages as Python would, and runs code after they have loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in _PREPARING:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, _PREPARING[name])
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, prepare: Callable[[], None]) -> None:
        self._loader, self._prepare = loader, prepare

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._prepare()
