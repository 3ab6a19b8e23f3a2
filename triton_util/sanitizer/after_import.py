"""Runs functions as soon as modules have been imported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any


def run(preparing: Mapping[str, Callable[[], None]]) -> None:
    """From now on call each function after the module with its name was imported."""
    sys.meta_path.insert(0, _Finder(preparing))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds these modules as Python would, and runs code after they have loaded."""

    def __init__(self, preparing: Mapping[str, Callable[[], None]]) -> None:
        self._preparing = preparing

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._preparing:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._preparing[name])
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
