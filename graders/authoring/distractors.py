"""Make certainly wrong lines from correct ones, for puzzles without a known wrong line."""

from __future__ import annotations

import ast


def made_wrong(line: str) -> str:
    """The line with one slip, such as the operands of `tl.store` exchanged; "" if none fits."""
    text = line.strip()
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the head of a loop
        return ""
    slip = _Slip()
    changed = ast.unparse(slip.visit(tree))
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{changed}" if slip.done else ""


class _Slip(ast.NodeTransformer):
    """Makes only the first slip that fits."""

    def __init__(self) -> None:
        self.done = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Keep `cdiv(n, block) + parts`, which gives enough tiles even if rounded down."""
        sides = (node.left, node.right)
        if isinstance(node.op, ast.Add) and any(map(_rounds_up, sides)):
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = ast.unparse(node.func)
        if self.done or name not in ("tl.store", "tl.dot", "tl.arange", "tl.cdiv", "triton.cdiv"):
            return self.generic_visit(node)
        if len(node.args) < 2:
            return node
        self.done = True
        first, second, *others = node.args
        if name == "tl.arange":  # it must start at 0, else its length is not a power of two
            node.args = [ast.Constant(1), second]
        elif name in ("tl.store", "tl.dot"):
            node.args = [second, first, *others]
        else:  # the last block is missing
            return ast.BinOp(first, ast.FloorDiv(), second)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Make a mask reach one element too far."""
        masks = [one for one in node.targets if isinstance(one, ast.Name) and "mask" in one.id]
        if masks and not self.done:
            for part in ast.walk(node.value):
                if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt):
                    part.ops[0] = ast.LtE()
                    self.done = True
                    return node
        return self.generic_visit(node)


def _rounds_up(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("tl.cdiv", "triton.cdiv")
