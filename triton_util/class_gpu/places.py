"""The address of the class's service, and the token to use for it."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from triton_util.client import attempts

ADDRESS, TOKEN, HUB_TOKEN = "TILEWISE_GPU", "TILEWISE_GPU_TOKEN", "JUPYTERHUB_API_TOKEN"
_FILE = "gpu.json"


@dataclass(frozen=True)
class ServicePlace:
    """An address, the token for it, and the secret by which the service knows this machine."""

    address: str
    token: str
    secret: str

    MISSING: ClassVar[str] = (
        "No GPU service is configured. Your instructor gives you its address and a token: set "
        f"{ADDRESS} and {TOKEN}, or run `triton_util.class_gpu.connect(address, token)` once."
    )


def place() -> ServicePlace | None:
    """The service of this learner; None if none is configured.

    The hub's own token is sent only to the address that the hub has set.
    """
    kept = _read()
    address = os.environ.get(ADDRESS, "")
    if address:
        token = os.environ.get(TOKEN) or os.environ.get(HUB_TOKEN, "")
    else:
        address, token = str(kept.get("address", "")), str(kept.get("token", ""))
    if urlsplit(address).scheme not in ("http", "https"):
        return None
    return ServicePlace(f"{address.rstrip('/')}/", token, _secret(kept))


def write(address: str, token: str) -> None:
    """Store address and token for later sessions, in a file that only this user can read."""
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"{address!r} is no address: it looks like https://host/services/gpu/")
    kept = _read()
    _write({**kept, "address": address, "token": token})


def _secret(kept: dict[str, Any]) -> str:
    """A secret drawn once for this machine; it identifies the sender if a class shares a token."""
    found = str(kept.get("secret", ""))
    if not found:
        found = secrets.token_urlsafe(32)
        _write({**kept, "secret": found})
    return found


def _read() -> dict[str, Any]:
    try:
        found = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(data: dict[str, Any]) -> None:
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file)
    new.replace(path)


def _path() -> Path:
    return attempts.folder() / _FILE
