"""Identifies who sends a request: a user of the hub, or a learner in the class file.

An identity comes only from the token. The one exception is the shared token of a class: its users
are distinguished by a secret that each learner's own machine drew. Without that secret,
another user cannot take the learner's identity.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, Protocol

SHARED = "shared:"  # prefix of the names of learners with the shared token
AT_ONCE = 16  # requests to the hub: thousands of wrong tokens must not overload it
SECRET = re.compile(r"[A-Za-z0-9_-]{32,128}")
_HEADER = re.compile(r"(?:token|bearer) +([A-Za-z0-9._~+/=-]{8,512})", re.IGNORECASE)


def token_in(header: str) -> str:
    """Return the token of an Authorization header, or ""."""
    found = _HEADER.fullmatch(header.strip())
    return found[1] if found else ""


class Identities(Protocol):
    """Finds the owner of a token."""

    async def learner(self, token: str, secret: str) -> str | None:
        """Return an opaque, stable name of the learner; None if not in this class.

        secret: what the learner's machine drew, or "".
        """


class ClassFile:
    """Tokens in a file that only its owner can read: one for each learner, or one for all.

    `{"shared": TOKEN, "learners": {NAME: TOKEN}}`. The file is read when the service starts.
    """

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text(encoding="utf-8"))
        self.shared = str(data.get("shared", ""))
        self.learners = {str(name): str(token) for name, token in data["learners"].items()}
        self._names = {_digest(token): name for name, token in self.learners.items()}

    async def learner(self, token: str, secret: str) -> str | None:
        # by digest: the time does not reveal how much of a token was correct
        name = self._names.get(_digest(token))
        if name is not None:
            return f"class:{name}"
        if self.shared and hmac.compare_digest(_digest(self.shared), _digest(token)):
            return f"{SHARED}{_digest(secret)}" if SECRET.fullmatch(secret) else None
        return None


def write_class_file(path: Path, names: Iterable[str], shared: bool) -> None:
    """Make the file, or add learners to it; existing tokens stay."""
    data: dict[str, Any] = {"shared": "", "learners": {}}
    if path.exists():
        data |= json.loads(path.read_text(encoding="utf-8"))
    if shared and not data["shared"]:
        data["shared"] = secrets.token_urlsafe(24)
    for name in names:
        data["learners"].setdefault(name, secrets.token_urlsafe(24))
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
    new.replace(path)


class HubTokens:
    """Users of a JupyterHub whose token has the scope to reach this service.

    The hub's answers are cached for a minute, so a revoked token still works that long.
    """

    def __init__(self, hub: Any) -> None:
        self._hub = hub
        self._asking = asyncio.Semaphore(AT_ONCE)

    async def learner(self, token: str, secret: str) -> str | None:
        async with self._asking:
            return self.of_model(await self._hub.user_for_token(token, sync=False))

    def of_model(self, model: dict[str, Any] | None) -> str | None:
        """Return the learner in the hub's answer about a token or a cookie."""
        if model is None or model.get("kind") != "user":  # a service is not a learner
            return None
        if not self._hub.check_scopes(self._hub.access_scopes, model):
            return None
        return f"hub:{model['name']}"


def client_of(learner: str, address: str) -> str:
    """Return who gets a turn: the learner, or all users of the shared token at that address.

    One machine can draw any number of secrets, and can use a whole IPv6 network.
    """
    if not learner.startswith(SHARED):
        return learner
    try:
        found = ip_address(address)
    except ValueError:
        return f"{SHARED}{address}"
    bits = 64 if found.version == 6 else 32
    return f"{SHARED}{ip_network((found, bits), strict=False)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
