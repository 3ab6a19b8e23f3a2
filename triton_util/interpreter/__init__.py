"""The checked interpreter: Triton kernels on the CPU, many programs at once, mistakes explained."""

from .faults import FAULT_CODES, EngineUnavailable, Fault, KernelFault
from .options import EngineOptions
from .session import Launch, Run, interpret

__all__ = [
    "FAULT_CODES",
    "EngineOptions",
    "EngineUnavailable",
    "Fault",
    "KernelFault",
    "Launch",
    "Run",
    "interpret",
]
