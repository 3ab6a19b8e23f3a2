"""What the hub of a class adds to JupyterHub: its accounts, and limits that the kernel enforces."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import pwd
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator
from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Integer, Unicode

NOBODY = {"salt": "00" * 16, "scrypt": "00" * 64}  # who is unknown costs the same time


class ClassAccounts(Authenticator):
    """Names and passwords of `tilewise course hub`; the file is read at every log-in."""

    path = Unicode(help="accounts.json of the class").tag(config=True)

    def normalize_username(self, username: str) -> str:
        """Names keep their case: the name of an account is the student's id in the gradebook."""
        return username

    async def authenticate(self, handler: Any, data: dict[str, str]) -> dict[str, Any] | None:
        accounts = json.loads(Path(self.path).read_text(encoding="utf-8"))
        account = accounts.get(data["username"])
        right = await asyncio.to_thread(matches, data["password"], account or NOBODY)
        if account is None or not right or account["role"] == "left":
            return None
        return {"name": data["username"], "admin": account["role"] == "instructor"}


def matches(password: str, account: dict[str, str]) -> bool:
    """Whether that is the account's password."""
    salt = bytes.fromhex(account["salt"])
    found = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)
    return hmac.compare_digest(found.hex(), account["scrypt"])


class Limited(LocalProcessSpawner):
    """A server in the name of its learner, with limits on memory and threads.

    `mem_limit` bounds the data of each process (RLIMIT_DATA; address space would stop CUDA),
    `threads` what all processes of the learner may have together (RLIMIT_NPROC).
    """

    threads = Integer(512, help="Threads and processes of one learner.").tag(config=True)

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        become, memory, threads = super().make_preexec_fn(name), self.mem_limit, self.threads

        def limit_and_become() -> None:
            if memory:
                resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
            become()

        return limit_and_become


def make_home(spawner: LocalProcessSpawner) -> None:
    """A home that only its owner can enter, before the first start."""
    account = pwd.getpwnam(spawner.user.name)
    home = Path(account.pw_dir)
    if not home.exists():
        home.mkdir(mode=0o700, parents=True)
        os.chown(home, account.pw_uid, account.pw_gid)


def open_exchange(root: Path, course_id: str, number: int, group: int) -> None:
    """The course's place in the exchange belongs to the class before a learner can take it."""
    place = root / course_id
    if not place.exists():
        place.mkdir(mode=0o755)
        os.chown(place, number, group)


GPU_SCOPE = "access:services!service=gpu"


def gpu_service(address: str, token: str) -> dict[str, Any]:
    """`tilewise serve` as a service of the hub; it may ask the hub who somebody is, and no more."""
    return {"name": "gpu", "url": address, "api_token": token, "oauth_no_confirm": True}


def gpu_roles() -> list[dict[str, Any]]:
    """What lets users, and the tokens of their servers, reach that service."""
    return [
        {"name": "user", "scopes": ["self", GPU_SCOPE]},
        {
            "name": "server",
            "scopes": ["users:activity!user", "access:servers!server", GPU_SCOPE],
        },
    ]
