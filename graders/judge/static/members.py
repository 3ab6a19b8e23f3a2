"""Which members of modules a launcher may name, called or not."""

from __future__ import annotations

import ast

from graders.judge.report import Finding
from graders.judge.static import names as names
from graders.judge.static.findings import not_triton, shown, torch_computes

TORCH_ALLOWED = (
    names.ALLOCATIONS
    | names.FROM_LITERALS
    | names.TORCH_VIEWS
    | names.TORCH_SPLITS
    | names.TORCH_QUERIES
    | names.TORCH_VALUES
)
TL_PREFIX = "triton.language."


def refused_member(node: ast.expr, path: str) -> Finding | None:
    """The finding about naming `path` in a launcher; None where it is allowed."""
    root, _, rest = path.partition(".")
    if ".__" in path.removesuffix(".__name__") and path not in names.TRITON_VALUES:
        return not_triton(node, f"`{shown(node)}` reaches into Python itself.", "Remove it.")
    if root == "torch":
        return _torch(node, rest)
    if root == "triton":
        return _triton(node, path)
    if root == "numpy":
        return None if rest in names.NUMPY else torch_computes(node, f"`{shown(node)}`")
    if root in names.MODULES:
        denied = root == "triton_util" and rest not in names.TRITON_UTIL
        if denied or path in names.PLAIN_DENIED or "._" in path:
            return not_triton(node, f"`{shown(node)}` has no place in a launcher.")
        return None
    if root == "builtins":
        return None
    return not_triton(
        node,
        f"`{shown(node)}` uses {root}, which has no place in a kernel or a launcher.",
        f"Do without {root}.",
    )


def _torch(node: ast.expr, rest: str) -> Finding | None:
    if rest in TORCH_ALLOWED:
        return None
    if any(part.startswith("_") for part in rest.split(".")):
        return not_triton(node, f"`{shown(node)}` reaches into torch itself.", "Remove it.")
    if not rest:
        return not_triton(node, "The module torch is used as a value.", "Name what you need.")
    return torch_computes(node, f"`{shown(node)}`")


def _triton(node: ast.expr, path: str) -> Finding | None:
    if path in names.TRITON_CALLS or path in names.TRITON_VALUES:
        return None
    if path.startswith(TL_PREFIX) and path[len(TL_PREFIX) :] in names.TL_DTYPES:
        return None
    return not_triton(
        node,
        f"`{shown(node)}` does not belong into a launcher.",
        "tl.… functions work in kernels only.",
    )
