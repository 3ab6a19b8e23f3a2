"""The engine's findings about a kernel, as data and as sentences."""

from __future__ import annotations

from dataclasses import dataclass

FAULT_CODES = (
    "out-of-bounds-load",
    "out-of-bounds-store",
    "out-of-bounds-atomic",
    "out-of-bounds-gather",
    "gap-read",
    "gap-store",
    "never-stored",
    "write-race",
    "lane-race",
    "read-write-race",
    "lost-update",
    "unordered-lanes",
    "order-dependent",
    "uninitialised-read",
    "masked-lanes-used",
    "offset-overflow",
    "undefined-conversion",
    "waits-forever",
    "device-assert",
    "untrue-hint",
    "kernel-error",
    "not-interpreted",
)


class NotInterpreted(NotImplementedError):  # noqa: N818
    """A GPU can compute it but this engine cannot; never the kernel's mistake."""


@dataclass(frozen=True)
class Fault:
    """One finding about one kernel, with everything needed to explain it.

    `offsets` are in elements of the argument, counted from the address that the kernel was given;
    `line` counts from 1 in `filename`; `program_id` is (x, y, z).
    """

    code: str
    message: str
    kernel: str = ""
    filename: str = ""
    line: int = 0
    source: str = ""
    program_id: tuple[int, int, int] | None = None
    operation: str = ""
    argument: str = ""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    lanes_outside: int = 0
    lanes_active: int = 0
    first_offset: int | None = None
    offset_range: tuple[int, int] | None = None
    cause: str = ""
    kind: str = ""
    original: str = ""

    def __str__(self) -> str:
        lines = [self.message]
        if self.source:
            lines.append(f"    line {self.line} of {self.kernel}: {self.source}")
        if self.cause:
            lines.append(self.cause)
        return "\n".join(lines)


class KernelFault(Exception):  # noqa: N818
    """A kernel did something that no GPU kernel may do; `.fault` says what, where and why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault

    def _render_traceback_(self) -> list[str]:
        """The text for a notebook: the fault in words, without the engine's frames."""
        return [f"KernelFault ({self.fault.code})", str(self.fault)]

    def __reduce__(self) -> tuple[type[KernelFault], tuple[Fault]]:
        return (KernelFault, (self.fault,))


class EngineUnavailable(RuntimeError):  # noqa: N818
    """The engine cannot run here: triton was imported without TRITON_INTERPRET=1."""
