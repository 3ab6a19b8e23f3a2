"""Read a launch plan that comes from a process in which untrusted code ran.

The plan is read field by field, and any deviation from the agreed form raises `PlanError`. So users
of a `LaunchPlan` can rely on its types and bounds, and on nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from graders.judge.plan.code import Code
from graders.judge.plan.steps import (
    Allocate,
    CasePlan,
    Constant,
    Copy,
    Fill,
    Kernel,
    Launch,
    LaunchPlan,
    Note,
    Parameter,
    Raised,
    Step,
    TensorRef,
    Trial,
    Tune,
    Value,
    most_numbers,
)

MOST_STEPS = 30_000  # of one case, with hooks and configurations
MOST_VALUES = 250_000  # of a plan, without plain numbers and texts: each takes some 300 bytes
MOST_KERNELS = 64
MOST_TOLD = 200
MOST_ARGUMENTS = 200
MOST_TEXT = 4_000
MOST_ELEMENTS = 1 << 46
MOST_STORAGES = 1 << 30
MOST_LINES = 1 << 24
MOST_INTEGER = 1 << 64  # Python's integers have no bound; Triton's have
DEEPEST = 6
_TEXTS = frozenset({"dtype", "module", "unknown"})

T = TypeVar("T")


class PlanError(ValueError):
    """The plan does not have the agreed form."""


def plan_from_lines(lines: Iterable[Mapping[str, Any]], cases: int) -> LaunchPlan:
    """The plan for `cases` cases, of which each line describes a part; raises PlanError.

    The JSON of a line is freed while it is read and before the next line is taken, because it needs
    several times the memory of a plan.
    """
    reader = PlanReader()
    try:
        for line in lines:
            reader.line(line, cases)
        return reader.plan()
    except PlanError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise PlanError(f"{type(error).__name__}: {str(error)[:200]}") from error


def kernels_from_json(raw: Any) -> tuple[Kernel, ...]:
    """Read kernels that the judge itself has written."""
    codes: list[Code | None] = []
    for kernel in raw:
        code = kernel["code"]
        known = codes[code] if isinstance(code, int) else None
        codes.append(known or (None if code is None else Code.from_json(code)))
    made = (PlanReader().kernel(kernel) for kernel in raw)
    return tuple(replace(kernel, code=code) for kernel, code in zip(made, codes, strict=True))


@lru_cache(maxsize=2)  # what several jobs share is read once
def steps_from_text(text: str) -> tuple[Step, ...]:
    """Read steps that the judge itself has written with `steps.steps_to_text`."""
    return PlanReader().steps(json.loads(text))


class PlanReader:
    """Reads a plan. It counts the steps of a case, so that no case can be too long."""

    def __init__(self) -> None:
        self._module = CasePlan()
        self._cases: list[CasePlan] = []
        self._kernels: list[Kernel] = []
        self._told: list[Note] = []
        self._steps = 0
        self._values_read = 0
        self._highest_kernel = -1
        self._tuners = 0  # the tuners around the step that is being read

    def line(self, line: Mapping[str, Any], cases: int) -> None:
        """Read one line: steps of the module or a case, and the kernels and observations since."""
        if "module" in line:
            self._module = self.case(line["module"])
        elif "case" in line:
            if len(self._cases) == cases:
                raise PlanError(f"more than {cases} cases")
            self._cases.append(self.case(line["case"]))
        news = _dict(line.get("end", line))
        self._kernels += _listed(news.get("kernels", []), MOST_KERNELS, self.kernel)
        self._told += _listed(news.get("told", []), MOST_TOLD, _told)
        if len(self._kernels) > MOST_KERNELS or len(self._told) > MOST_TOLD:
            raise PlanError(f"more than {MOST_KERNELS} kernels, or {MOST_TOLD} observations")

    def plan(self) -> LaunchPlan:
        """The plan, from all lines so far."""
        if self._highest_kernel >= len(self._kernels):
            raise PlanError("a kernel that is not in the plan")
        cases = tuple(self._cases)
        return LaunchPlan(tuple(self._kernels), self._module, cases, tuple(self._told))

    def kernel(self, raw: Any) -> Kernel:
        """Read a kernel and the values of its names."""
        names = {_text(name, 200): self.value(value) for name, value in _dict(raw["names"]).items()}
        return Kernel(
            line=_count(raw["line"], MOST_LINES),
            name=_name(raw["name"]),
            names=names,
            parameters=_listed(raw["parameters"], MOST_ARGUMENTS, self._parameter),
            specialize_not=_listed(raw["specialize_not"], MOST_ARGUMENTS, _name),
            align_not=_listed(raw["align_not"], MOST_ARGUMENTS, _name),
            noinline=bool(raw["noinline"]),
            constant=bool(raw["constant"]),
        )

    def _parameter(self, raw: Any) -> Parameter:
        name, annotation, default, has_default = raw
        return Parameter(_name(name), _text(annotation, 40), self.value(default), bool(has_default))

    def case(self, raw: Any) -> CasePlan:
        """Read what the launcher did for one case."""
        self._steps = 0
        raised = raw["raised"]
        return CasePlan(
            steps=self.steps(raw["steps"]),
            result=self.value(raw["result"]),
            inputs=_listed(raw["inputs"], MOST_ARGUMENTS, _storage_or_none),
            raised=None if raised is None else _raised(raised),
        )

    def steps(self, raw: Any) -> tuple[Step, ...]:
        """Read steps in their order; each is removed from the list once it is read."""
        if not isinstance(raw, list) or len(raw) > MOST_STEPS:
            raise PlanError(f"no list, or one of more than {MOST_STEPS}")
        raw.reverse()
        return tuple(self.step(raw.pop()) for _ in range(len(raw)))

    def step(self, raw: Any) -> Step:
        """Read one step."""
        self._count_step()
        kind, *fields = raw
        read = _READERS.get(kind)
        if read is None:
            raise PlanError("no kind of step")
        return read(self, *fields)

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise PlanError(f"more than {MOST_STEPS} steps for one call")

    def _allocate(self, storage: Any, dtype: Any, count: Any, line: Any) -> Step:
        number = _count(storage, MOST_STORAGES)
        return Allocate(number, _name(dtype), _count(count, MOST_ELEMENTS), _line(line))

    def _fill(self, target: Any, value: Any) -> Step:
        return Fill(self.tensor(target), _number(value))

    def _copy(self, target: Any, source: Any, line: Any) -> Step:
        return Copy(self.tensor(target), self.tensor(source), _line(line))

    def _constant(self, storage: Any, dtype: Any, values: Any) -> Step:
        numbers = _listed(values, most_numbers(_name(dtype)), _number)
        return Constant(_count(storage, MOST_STORAGES), _name(dtype), numbers)

    def _launch(
        self,
        kernel: Any,
        grid: Any,
        positional: Any,
        named: Any,
        line: Any,
        allocator: Any = False,
    ) -> Step:
        return Launch(
            self._kernel_number(kernel),
            _grid(grid),
            _listed(positional, MOST_ARGUMENTS, self.value),
            self._values(named),
            _line(line),
            bool(allocator),
        )

    def _kernel_number(self, raw: Any) -> int:
        number = _count(raw, MOST_KERNELS - 1)
        self._highest_kernel = max(self._highest_kernel, number)
        return number

    def _tune(self, *fields: Any) -> Step:
        tuner, key, configs, known, kernel, arguments, trials, finish, line, prunes = fields
        self._tuners += 1
        if self._tuners > DEEPEST:
            raise PlanError("tuners within tuners")
        made = Tune(
            tuner=_count(tuner, 1000),
            key=_text(key, 20_000),
            configs=_count(configs, 100_000),
            known=bool(known),
            kernel=_text(kernel, 200),
            arguments=self._values(arguments),
            trials=_listed(trials, 1000, self._trial),
            finish=self.steps(finish),
            line=_line(line),
            prunes=_name(prunes) if prunes else "",
        )
        self._tuners -= 1
        return made

    def _trial(self, raw: Any) -> Trial:
        self._count_step()
        config, before, launch, after, chosen = raw
        return Trial(
            config=self._values(config),
            before=self.steps(before),
            launch=self.steps(launch),
            after=self.steps(after),
            chosen=self.steps(chosen),
        )

    def _values(self, raw: Any) -> dict[str, Value]:
        listed = _dict(raw)
        if len(listed) > MOST_ARGUMENTS:
            raise PlanError("too many arguments")
        return {_text(name, 200): self.value(value) for name, value in listed.items()}

    def value(self, raw: Any, depth: int = 0) -> Value:
        """Read the value of an argument, in the forms that `plan.steps` lists."""
        if raw is None or isinstance(raw, bool | float):
            return raw
        if isinstance(raw, int):
            return _integer(raw)
        if isinstance(raw, str):
            return _text(raw, MOST_TEXT)
        ((kind, inner),) = _dict(raw).items()
        self._values_read += 1
        if depth > DEEPEST or self._values_read > MOST_VALUES:
            raise PlanError("a value that is nested too deeply, or too many values")
        return {kind: self._inner(kind, inner, depth)}

    def _inner(self, kind: str, inner: Any, depth: int) -> Any:
        if kind == "tensor":
            return self.tensor({"tensor": inner}).to_json()["tensor"]
        if kind == "constexpr":
            return self.value(inner, depth + 1)
        if kind == "tuple":
            return list(_listed(inner, MOST_ARGUMENTS, lambda item: self.value(item, depth + 1)))
        if kind == "fields":
            names, values = inner
            read = list(_listed(names, MOST_ARGUMENTS, _name))
            if len(set(read)) != len(read) or len(read) != len(values):
                raise PlanError("a named tuple whose names do not fit")
            return [read, self._inner("tuple", values, depth)]
        if kind == "kernel":
            return self._kernel_number(inner)
        if kind == "library":
            module, name = inner
            return [_text(module, 200), _name(name)]
        if kind == "numbers":
            return {_name(name): _number(number) for name, number in _dict(inner).items()}
        if kind == "descriptor":
            base, shape, strides, block, padding = inner
            sizes = [list(_sizes(part)) for part in (shape, strides, block)]
            return [self.tensor(base).to_json(), *sizes, _text(padding, 10)]
        if kind not in _TEXTS:
            raise PlanError("no kind of value")
        return _text(inner, 200)

    def tensor(self, raw: Any) -> TensorRef:
        """Read a view."""
        storage, dtype, shape, strides, offset = raw["tensor"]
        return TensorRef(
            _count(storage, MOST_STORAGES),
            _name(dtype),
            _sizes(shape),
            _sizes(strides),
            _count(offset, MOST_ELEMENTS),
        )


_READERS: Mapping[str, Callable[..., Step]] = {
    "allocate": PlanReader._allocate,
    "fill": PlanReader._fill,
    "copy": PlanReader._copy,
    "constant": PlanReader._constant,
    "launch": PlanReader._launch,
    "tune": PlanReader._tune,
}


def _listed(raw: Any, most: int, read: Callable[[Any], T]) -> tuple[T, ...]:
    if not isinstance(raw, list) or len(raw) > most:
        raise PlanError(f"no list, or one of more than {most}")
    return tuple(read(item) for item in raw)


def _dict(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise PlanError("no object")
    return raw


def _count(raw: Any, most: int) -> int:
    if type(raw) is not int or not 0 <= raw <= most:
        raise PlanError("no count, or too large a one")
    return raw


def _integer(raw: int) -> int:
    if abs(raw) > MOST_INTEGER:
        raise PlanError("too large an integer")
    return raw


def _number(raw: Any) -> float:
    if not isinstance(raw, bool | int | float):
        raise PlanError("no number")
    return raw if isinstance(raw, float) else _integer(raw)


def _sizes(raw: Any) -> tuple[int, ...]:
    return _listed(raw, 64, lambda size: _count(size, MOST_ELEMENTS))


def _text(raw: Any, most: int) -> str:
    if not isinstance(raw, str) or len(raw) > most:
        raise PlanError(f"no text, or one of more than {most} characters")
    return raw


def _name(raw: Any) -> str:
    text = _text(raw, 200)
    if not text.isidentifier():
        raise PlanError("no name")
    return text


def _line(raw: Any) -> int | None:
    return None if raw is None else _count(raw, MOST_LINES)


def _storage_or_none(raw: Any) -> int | None:
    return None if raw is None else _count(raw, MOST_STORAGES)


def _grid(raw: Any) -> Value:
    """Read a grid as the launcher gave it; the engine decides whether it is valid."""
    if isinstance(raw, list):
        return [_grid(size) for size in raw[:8] if not isinstance(size, list)]
    if raw is None or isinstance(raw, bool | float):
        return raw
    return _integer(raw) if isinstance(raw, int) else _text(raw, 200)


def _raised(raw: Any) -> Raised:
    return Raised(
        kind=_name(raw["kind"]),
        text=_text(raw["text"], MOST_TEXT),
        line=_line(raw["line"]),
        where=_text(raw["where"], 20),
    )


def _told(raw: Any) -> Note:
    code, what, line, case = raw
    if type(case) is not int or not -1 <= case < 100_000:
        raise PlanError("no case")
    return Note(_text(code, 40), _text(what, 200), _line(line), case)
