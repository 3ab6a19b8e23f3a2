"""The checked interpreter: Triton kernels on the CPU, many programs at once, mistakes explained."""

from . import libdevice
from .faults import FAULT_CODES, EngineUnavailable, Fault, KernelFault
from .guard import guard_launches, unguarded_launches
from .options import EngineOptions
from .ordering import order_dependence
from .session import Launch, Run, interpret, interprets, patched_language
from .translation import Translated, translate

if interprets():
    libdevice.install()

__all__ = [
    "FAULT_CODES",
    "EngineOptions",
    "EngineUnavailable",
    "Fault",
    "KernelFault",
    "Launch",
    "Run",
    "Translated",
    "guard_launches",
    "interpret",
    "order_dependence",
    "patched_language",
    "translate",
    "unguarded_launches",
]
