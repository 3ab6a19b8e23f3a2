"""The judge's side of calls: collects what a plain function returned in each case.

The function runs in a jailed process, one case after the other. The process's output is not
trusted: a line that a stand-in cannot have written ends it.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graders.judge.calling.remote import BrokenLineError, Remote, kinds
from graders.judge.compiling.process import Answer, CompileWorker, EndedError
from graders.judge.plan.steps import Raised
from graders.judge.records import Case, Exercise, Fault, GraderError, PlainFunction
from graders.judge.submission.loading import Submission

FILENAME = "<submission>"
# CPU seconds: `call_task` stops the function after 30 at the latest. Wall time may be three times
# as long, and on a busy machine most of it passes between two lines.
CHILD_SECONDS = 38.0
SILENT_SECONDS = 15.0  # without a line; with more lines, only the machine is slow
MOST_USES = 200_000  # of stand-ins, in all cases together
_CONTROL = "def control():\n    return 1.0\n"


@dataclass(frozen=True)
class Call:
    """One case of a plain function: its arguments, and the numbers that it must return.

    `number` is its place among the cases.
    """

    case: Case
    args: tuple[Any, ...]
    expected: tuple[float, ...]
    number: int = 0


@dataclass(frozen=True)
class Called:
    """The outcome of a call. Exactly one of `numbers`, `returned`, `raised`, `ended` is set.

    `returned` describes a result that is not the numbers. `ended` is how the process ended
    during this call: "timeout", "out-of-memory", "crashed" or "exited". `faults` are uses that
    the objects in the judge refused.
    """

    call: Call
    numbers: tuple[float, ...] | None = None
    returned: str = ""
    raised: Raised | None = None
    ended: str = ""
    faults: tuple[Fault, ...] = ()


def made_calls(
    exercise: Exercise, function: PlainFunction, cases: Sequence[Case], seed: int
) -> list[Call]:
    """Return the calls of some cases; an error here is ours, not the learner's.

    Their order is drawn: a function that counts its calls does not know which case it is in.
    """
    made = []
    for number, case in enumerate(cases):
        try:
            make = function.arguments
            args = case.args if make is None else make(seed, *case.args)
            right = exercise.reference(*args)
            expected = right if isinstance(right, tuple) else (right,)
            if len(expected) != len(function.returns) or not all(map(math.isfinite, expected)):
                raise ValueError(f"the reference gives {right!r}")
        except Exception as error:
            raise GraderError(
                f"exercise {exercise.name}, case {case.name!r}: the record itself fails: {error}"
            ) from error
        made.append(Call(case, tuple(args), tuple(map(float, expected)), number))
    random.Random(seed).shuffle(made)
    return made


@dataclass
class Conversation:
    """The exchange of lines with the process in which a function runs, case after case."""

    function: PlainFunction
    calls: Sequence[Call]
    outcomes: list[Called] = field(default_factory=list)
    unloaded: Raised | None = None
    uses: int = 0
    stopped: bool = False  # too many uses, or continuing is pointless
    last: float = field(default_factory=time.monotonic)  # when the last line came
    _remotes: list[Remote] = field(default_factory=list)

    def request(self, submission: Submission) -> dict[str, Any]:
        """Return the request to the process. It describes cases by values and object numbers."""
        cases, first = [], 0
        for call in self.calls:
            remote = Remote(self.function.remote, first)
            cases.append([remote.encoded(arg) for arg in call.args])
            self._remotes.append(remote)
            first += 1 << 24  # so that objects of different cases have different numbers
        return {
            "task": "call",
            "source": submission.source,
            "filename": FILENAME,
            "function": submission.launcher,
            "kinds": kinds(self.function.remote),
            "cases": cases,
        }

    @property
    def over(self) -> bool:
        """Whether trying further cases is pointless after the last answer."""
        return bool(self.outcomes) and self._remotes[len(self.outcomes) - 1].over

    def reply(self, line: bytes) -> bytes | None:
        """Return the answer to a line; None if it needs none. Raises EndedError."""
        self.last = time.monotonic()
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise EndedError from None
        if not isinstance(message, dict):
            raise EndedError
        if "unloaded" in message:
            self.unloaded = _raised(message["unloaded"])
            return None
        if len(self.outcomes) == len(self.calls):
            raise EndedError
        try:
            if "use" in message:
                remote = self._remotes[len(self.outcomes)]
                self.uses += 1
                self.stopped = self.uses > MOST_USES or remote.over
                if self.stopped:
                    raise EndedError
                answer = remote.used(message)
                return json.dumps(answer).encode() + b"\n"
        except BrokenLineError:
            raise EndedError from None
        self.outcomes.append(self._outcome(message))
        if self._remotes[len(self.outcomes) - 1].over:
            raise EndedError
        return None

    def _outcome(self, message: Mapping[str, Any]) -> Called:
        number = len(self.outcomes)
        call, faults = self.calls[number], tuple(self._remotes[number].faults)
        if "raised" in message:
            return Called(call, raised=_raised(message["raised"]), faults=faults)
        read = _numbers(message.get("returned"), len(call.expected))
        if isinstance(read, str):
            return Called(call, returned=read, faults=faults)
        return Called(call, numbers=read, faults=faults)

    def close(self, ended: str) -> None:
        """Record how the first case without an outcome ended."""
        number = len(self.outcomes)
        if ended and number < len(self.calls) and not self.over:
            faults = tuple(self._remotes[number].faults)
            self.outcomes.append(Called(self.calls[number], ended=ended, faults=faults))


def call_all(
    submission: Submission, function: PlainFunction, calls: Sequence[Call], worker: CompileWorker
) -> Conversation:
    """Call the function for every case, until one of them does not end; in the order of the calls.

    The outcomes are in the order of the cases.
    Raises GraderError if this machine cannot call functions, or is too slow. A function that does
    not end sends no more lines; on a slow machine, lines still come when the time is over.
    """
    talk = Conversation(function, calls)
    answer = worker.ask(talk.request(submission), CHILD_SECONDS, talk.reply)
    if answer.ended == "time" and time.monotonic() - talk.last < SILENT_SECONDS:
        raise GraderError("this machine is too busy to call the function in reasonable time")
    ended = "timeout" if talk.stopped else _ended(answer)
    if ended == "exited" and not talk.over:
        _check_machine(worker)
    talk.close(ended)
    talk.outcomes.sort(key=lambda one: one.call.number)
    return talk


def _check_machine(worker: CompileWorker) -> None:
    """Raise GraderError if a function of our own does not end either."""
    control = Submission("<control>", _CONTROL, "control")
    call = Call(Case("control", ()), (), (1.0,))
    talk = Conversation(PlainFunction(("one",), 0.0), [call])
    worker.ask(talk.request(control), None, talk.reply)
    if [outcome.numbers for outcome in talk.outcomes] != [(1.0,)]:
        raise GraderError("no function can be called on this machine")


def _ended(answer: Answer) -> str:
    if answer.timeout:
        return "timeout"
    if answer.ended == "memory":
        return "out-of-memory"
    if answer.signal and answer.ended != "size":
        return "crashed"
    return "" if "end" in answer.at else "exited"


def _numbers(returned: Any, count: int) -> tuple[float, ...] | str:
    """Return the numbers that came back, or a description of anything else."""
    if not isinstance(returned, dict):
        return "nothing that the judge can read"
    if "tuple" not in returned:
        if count > 1:
            return "one number" if _is_number(returned) else _kind(returned)
        items = [returned]
    else:
        items = returned["tuple"] if isinstance(returned["tuple"], list) else []
        if returned.get("length") != count or len(items) != count or count == 1:
            return f"a tuple of {_count(returned.get('length'))}"
    strange = next((item for item in items if not _is_number(item)), None)
    if strange is not None:
        return _kind(strange) if count == 1 else f"a tuple that holds {_kind(strange)}"
    try:
        return tuple(float(item["number"]) for item in items)
    except OverflowError:
        return "a number beyond all floats"


def _is_number(item: Any) -> bool:
    return isinstance(item, dict) and type(item.get("number")) in (int, float)


def _kind(item: Any) -> str:
    kind = item.get("kind") if isinstance(item, dict) else None
    if not isinstance(kind, str) or not kind.isidentifier():
        return "something that is no number"
    if kind == "NoneType":
        return "None"
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind[:40]}"


def _count(length: Any) -> str:
    if type(length) is not int or not 0 <= length < 1000:
        return "many numbers"
    return f"{length} number" if length == 1 else f"{length} numbers"


def _raised(told: Any) -> Raised:
    told = told if isinstance(told, dict) else {}
    kind, text, line = told.get("kind"), told.get("text"), told.get("line")
    return Raised(
        kind=kind[:100] if isinstance(kind, str) and kind.isidentifier() else "Exception",
        text=text[:2_000] if isinstance(text, str) else "",
        line=line if type(line) is int else None,
        where="function",
    )
