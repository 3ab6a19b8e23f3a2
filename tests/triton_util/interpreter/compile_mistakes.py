"""Compile every mistake for sm_90 and print what the translation makes of it, as JSON lines.

Runs in a process of its own, without TRITON_INTERPRET.
"""

import json

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.triton_util.interpreter.mistakes import MISTAKES
from triton_util.interpreter.messages.translation import translate


def attempt(name: str) -> dict:
    kernel, constants, _, _, kind = MISTAKES[name]
    types = {"x_ptr": "*fp32", "B": "constexpr"}
    signature = {parameter: types.get(parameter, "i32") for parameter in kernel.arg_names}
    source = ASTSource(kernel, signature, constants, {})
    try:
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
    except BaseException as error:
        found = translate(error, kernel.src)
        return {
            "name": name,
            "expected": kind,
            "kind": found.kind if found else None,
            "source": found.source if found else "",
            "original": found.original[-500:] if found else repr(error),
        }
    return {"name": name, "expected": kind, "kind": "compiled", "source": "", "original": ""}


if __name__ == "__main__":
    for mistake, row in MISTAKES.items():
        if row[4] is not None:
            print(json.dumps(attempt(mistake)), flush=True)
