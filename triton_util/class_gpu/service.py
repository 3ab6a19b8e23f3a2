"""The class's service over HTTP: one check from submission to report."""

from __future__ import annotations

import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from triton_util.class_gpu.places import ServicePlace
from triton_util.client.judge import JudgeUnavailable

ANSWER_BYTES = 8 << 20
ANSWER_SECONDS = 40.0
NEWS_SECONDS = 2.0  # for which one request waits for news, so that the card stays up to date
TRIES = 4  # of a request that gets no answer
PATIENCE = 3600.0
_MEND = "Check again in a moment. `check` without `gpu=True` needs no service."


@dataclass(frozen=True)
class Queued:
    """The state of a waiting check: `position` others start before it, None if unknown."""

    state: str
    position: int
    expected_seconds: float | None
    workers: int
    retried: int


class Refused(Exception):  # noqa: N818 - an answer of the service
    """The service answered with a refusal."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follow no redirects, because a token must go only to its own address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Service:
    """Asks one service. Raises JudgeUnavailable if it cannot be reached or refuses."""

    def __init__(self, place: ServicePlace, sleep: Callable[[float], None] = time.sleep) -> None:
        self._place, self._sleep = place, sleep
        self._opener = urllib.request.build_opener(_NoRedirects)

    def judge(
        self, exercise: str, source: str, progress: Callable[[Queued], None]
    ) -> dict[str, Any]:
        """The answer for one source: `report`, and `speed` if it was timed.

        The key makes a repeated request the same check. If the service has lost the check, as after
        a restart, it is submitted once more.
        """
        told: dict[str, Any] = {}
        key, deadline = secrets.token_urlsafe(24), time.monotonic() + PATIENCE
        try:
            while time.monotonic() < deadline:
                if not told:
                    data = {"exercise": exercise, "source": source, "key": key}
                    told = self._repeated("POST", "api/jobs", data)
                if told.get("state") == "done":
                    return dict(told["answer"])
                progress(_queued(told))
                path = f"api/jobs/{told['id']}?wait={NEWS_SECONDS}"
                told = self._news(path)
        except (KeyboardInterrupt, JudgeUnavailable):
            self._withdraw(str(told.get("id", "")))
            raise
        except Refused as refused:
            raise JudgeUnavailable(refused.message, _MEND) from None
        except (KeyError, TypeError, ValueError):
            _not_understood()
        raise JudgeUnavailable("The class's GPU did not come to this check for an hour.", _MEND)

    def ask(self, method: str, path: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send one request that is not a check, and return the answer."""
        try:
            return self._repeated(method, path, data)
        except Refused as refused:
            raise JudgeUnavailable(refused.message, _MEND) from None

    def _news(self, path: str) -> dict[str, Any]:
        try:
            return self._repeated("GET", path)
        except Refused as refused:
            if refused.status == 404:
                return {}
            raise

    def _repeated(
        self, method: str, path: str, data: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask until an answer comes; a restarting service is worth some seconds of waiting."""
        for number in range(TRIES):
            try:
                return self._once(method, path, data)
            except (urllib.error.URLError, OSError) as error:
                last = error
                self._sleep(2.0**number / 2)
        reason = getattr(last, "reason", last)
        raise JudgeUnavailable(
            f"The class's GPU service at {self._place.address} cannot be reached ({reason}).", _MEND
        )

    def _once(self, method: str, path: str, data: dict[str, Any] | None) -> dict[str, Any]:
        request = urllib.request.Request(
            self._place.address + path,
            None if data is None else json.dumps(data).encode(),
            {
                "Authorization": f"token {self._place.token}",
                "X-Tilewise-Learner": self._place.secret,
                "Content-Type": "application/json",
            },
            method=method,
        )
        try:
            with self._opener.open(request, timeout=ANSWER_SECONDS) as answer:
                return _object(answer.read(ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                said = _said(error.read(10_000))
            if error.code in (500, 502, 504):
                raise OSError(f"{error.code}") from None
            raise Refused(error.code, said or f"The service answered {error.code}.") from None

    def _withdraw(self, job_id: str) -> None:
        """Withdraw a check that is no longer needed, if that can be done at once."""
        if job_id:
            try:
                self._once("DELETE", f"api/jobs/{job_id}", None)
            except (OSError, ValueError, Refused, JudgeUnavailable):
                return


def _queued(told: dict[str, Any]) -> Queued:
    seconds = told["expected_seconds"]
    return Queued(
        str(told["state"]),
        int(told["position"]),
        None if seconds is None else float(seconds),
        int(told["workers"]),
        int(told["retried"]),
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        _not_understood()
    return found if isinstance(found, dict) else _not_understood()


def _said(body: bytes) -> str:
    try:
        said = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return ""
    return "".join(character for character in str(said)[:500] if character.isprintable())


def _not_understood() -> NoReturn:
    raise JudgeUnavailable(
        "The class's GPU service gave an answer that could not be understood.",
        "Is the address right, and the course on both sides of one version? Ask your instructor.",
    )
