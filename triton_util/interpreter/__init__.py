"""The checked interpreter: Triton kernels on the CPU, many programs at once, mistakes explained."""

from triton_util.interpreter import aggregates
from triton_util.interpreter.faults import FAULT_CODES, EngineUnavailable, Fault, KernelFault
from triton_util.interpreter.guard import guard_launches, unguarded_launches
from triton_util.interpreter.messages.translation import Translated, translate
from triton_util.interpreter.operations import libdevice
from triton_util.interpreter.options import EngineOptions
from triton_util.interpreter.ordering import order_dependence
from triton_util.interpreter.session import Launch, Run, interpret, interprets, patched_language

if interprets():
    libdevice.install()
    aggregates.install()

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
