"""Names from torch, numpy, Python and other languages, and a kernel's equivalents.

It needs neither torch nor triton, because the process that reads a submission uses it too.
"""

from __future__ import annotations

# Name → what to write.
OTHER_NAMES = {
    "add": "a + b",
    "add_": "tl.store",
    "append": "tl.store(output_ptr + offsets, value, mask=mask)",
    "array": "tl.zeros((BLOCK_SIZE,), tl.float32)",
    "astype": "x.to(tl.float32)",
    "clip": "tl.maximum(x, 0.0), or tl.clamp(x, low, high)",
    "concat": "tl.cat(a, b)",
    "concatenate": "tl.cat(a, b)",
    "copy": "tl.load and tl.store",
    "dim": "axis",
    "div": "a / b",
    "divide": "a / b",
    "empty": "tl.zeros((BLOCK_SIZE,), tl.float32)",
    "exponential": "tl.exp",
    "fabs": "tl.abs(x)",
    "float": "tl.float32",
    "int": "tl.int32",
    "keepdim": "keep_dims",
    "length": "a parameter n_elements, which the launcher passes",
    "linspace": "tl.arange(0, BLOCK_SIZE)",
    "matmul": "tl.dot(a, b)",
    "mean": "tl.sum(x, axis=0) / n_elements",
    "mm": "tl.dot(a, b)",
    "mul": "a * b",
    "multiply": "a * b",
    "ones": "tl.full((BLOCK_SIZE,), 1.0, tl.float32)",
    "pid": "tl.program_id(0)",
    "pow": "x * x, or tl.exp2(y * tl.log2(x))",
    "power": "x * x, or tl.exp2(y * tl.log2(x))",
    "read": "tl.load",
    "relu": "tl.maximum(x, 0.0)",
    "save": "tl.store",
    "size": "a parameter n_elements, which the launcher passes",
    "square": "x * x",
    "sub": "a - b",
    "subtract": "a - b",
    "tanh": "libdevice.tanh, or 2 * tl.sigmoid(2 * x) - 1",
    "threadIdx": "tl.arange(0, BLOCK_SIZE)",
    "thread_id": "tl.arange(0, BLOCK_SIZE)",
    "transpose": "tl.trans(x)",
    "write": "tl.store",
}
# Python's own functions, when they are called on a block.
PYTHONS_OWN = {
    "abs": "tl.abs(x)",
    "all": "tl.min(condition.to(tl.int32), axis=0)",
    "any": "tl.max(condition.to(tl.int32), axis=0)",
    "bool": "x != 0",
    "divmod": "a // b and a % b",
    "enumerate": "a for loop over range",
    "float": "x.to(tl.float32)",
    "int": "x.to(tl.int32)",
    "list": "tl.arange(0, BLOCK_SIZE)",
    "pow": "x * x, or tl.exp2(y * tl.log2(x))",
    "round": "tl.floor(x + 0.5)",
    "sorted": "tl.sort(x)",
    "sum": "tl.sum(x, axis=0)",
}
OTHER_LANGUAGES = {"none": "None", "null": "None", "true": "True", "false": "False"}
LIBRARIES = frozenset({"np", "numpy", "torch", "math", "cp", "F", "jnp"})
MOST_LIKELY = ("output", "out", "result")  # usual names of a launcher's result


def instead_in_kernel(name: str) -> str:
    """What to write in a kernel in place of an undefined name; "" if unknown."""
    if name in OTHER_LANGUAGES:
        return f"Write {OTHER_LANGUAGES[name]}."
    if name in LIBRARIES:
        return (
            f"In a kernel there is no {name}: write the functions of tl, "
            "tl.arange(0, BLOCK_SIZE), tl.maximum(x, 0.0), tl.exp(x)."
        )
    meant = PYTHONS_OWN.get(name) or OTHER_NAMES.get(name)
    return f"Write {meant}." if meant else ""


def instead_in_launcher(name: str) -> str:
    """The same for the Python code of a launcher."""
    if name in OTHER_LANGUAGES:
        return f"Write {OTHER_LANGUAGES[name]}."
    if name in MOST_LIKELY:
        return f"Allocate it first: {name} = torch.empty_like(x)."
    return ""


def behind_pointer(name: str, known: frozenset[str] | set[str]) -> str:
    """What to do when `x` is used and only `x_ptr` exists: load it first."""
    pointer = f"{name}_ptr"
    if pointer not in known:
        return ""
    return (
        f"There is {pointer}, the address of the first element. Load a block from it first: "
        f"{name} = tl.load({pointer} + offsets, mask=mask). Sizes and strides are passed by the "
        "launcher."
    )
