"""Rewriting kernels so that programs of one batch may take different paths.

Python runs one path; a batch needs all of them.  The rewritten kernel asks `Control` at each
branch and loop: if all programs agree, Python continues as written.  If they differ, both paths
run, each with only its own programs active, and the variables that they assign are merged.
Only what Triton compiles is rewritten: `if`, `for` over a range, `while`, `return` inside `if`, and
conditional expressions, `and`, `or`, `not`, chained comparisons.
If a node has a number `arm`, `Control.arms` contains this number after the node ran. If it has an
attribute `decides`, `control.sides` notes its two sides.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from triton_util.interpreter.control.flow import Control
from triton_util.interpreter.control.liveness import private_names
from triton_util.interpreter.control.reading import (
    assigned,
    has_return,
    leaves_loop,
    targets,
)
from triton_util.interpreter.control.sources import parsed
from triton_util.interpreter.operations.language import CONTROL, ImportedFunctions
from triton_util.interpreter.state import SourceLines

BUILTINS = ("min", "max", "print")
KERNELS = "_kernels_"  # prefix of the kernel's names in a template
_makers: WeakKeyDictionary[Any, Callable[..., Any] | None] = WeakKeyDictionary()


def rewrite(function: Any, control: Control, lines: SourceLines) -> Callable[..., Any]:
    """The function to run in place of a kernel; the kernel itself if its source is unknown."""
    if function not in _makers:
        _makers[function] = _maker(function)
    maker = _makers[function]
    if maker is None:
        lines.register(function.__code__)
        return function  # type: ignore[no-any-return]
    made: FunctionType = maker(control, *_free_values(function))
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__name__ = function.__name__
    if not function.__module__.startswith("triton.language"):
        lines.register(made.__code__)
    return made


def _maker(function: Any) -> Callable[..., Any] | None:
    known = parsed(function)
    if known is None:
        return None
    tree, start = known
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    _strip_signature(definition)
    try:
        ImportedFunctions(function).visit(definition)
        definition.body = KernelRewriter().function_body(definition.body)
    except Unsupported as error:
        message, line = error.args
        filename = function.__code__.co_filename
        raise SyntaxError(message, (filename, start + line - 1, None, None)) from None
    names = [CONTROL, *function.__code__.co_freevars]
    module = ast.parse("def make():\n    return 0")
    outer = module.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.args.args = [ast.arg(name) for name in names]
    outer.body = [definition, ast.Return(ast.Name(definition.name, ast.Load()))]
    ast.fix_missing_locations(definition)
    ast.increment_lineno(definition, start - 1)
    ast.fix_missing_locations(module)
    code: CodeType = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    local: dict[str, Callable[..., Any]] = {}
    exec(code, function.__globals__, local)
    return local[outer.name]


def _strip_signature(definition: ast.FunctionDef) -> None:
    definition.decorator_list = []
    definition.returns = None
    arguments = definition.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [d if d is None else ast.Constant(None) for d in arguments.kw_defaults]


def _free_values(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()]


class Unsupported(Exception):  # noqa: N818
    """A statement that no kernel may contain; args: message, line within the source."""


class KernelRewriter(ast.NodeTransformer):
    """Rewrites the statements of one function."""

    def __init__(self) -> None:
        self._count = self._loops = 0
        self._framed = False
        self._private: dict[int, frozenset[str]] = {}

    def function_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite the whole body; with a frame if programs may return at different places."""
        self._framed = any(has_return(node) for node in body if isinstance(node, ast.If))
        self._private = private_names(body)
        rewritten = self._block(body)
        if not self._framed:
            return rewritten
        return _template(
            "_tw_f = _tw.frame()\ntry:\n    _tw_BODY\n    return _tw_f.result()\n"
            "finally:\n    _tw_f.close()",
            BODY=rewritten,
        )

    def _block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in statements:
            if hasattr(statement, "arm"):
                result += _noted("ran", statement.arm, statement)
            if hasattr(statement, "decides"):
                result += _noted("entered", statement.decides[1], statement)
            new = self.visit(statement)
            result.extend(new if isinstance(new, list) else [new])
            if isinstance(statement, ast.Return):
                break
        return result

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; an expression with an `arm` notes that number once it has its value."""
        made = super().visit(node)
        if isinstance(node, ast.expr) and hasattr(node, "decides"):
            how, number = node.decides
            made = _call(how, ast.Constant(number), made)
        if isinstance(node, ast.expr) and hasattr(node, "arm"):
            return _call("ran", ast.Constant(node.arm), made)
        return made

    def _shared(self, node: ast.stmt, parts: Iterable[ast.AST]) -> list[str]:
        """The variables assigned in a branch or loop that are read outside it."""
        private = self._private.get(id(node), frozenset())
        return [name for name in assigned(parts) if name not in private]

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    # -- statements ------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        plain = leaves_loop([*node.body, *node.orelse]) or (self._loops and has_return(node))
        names, returns = self._shared(node, [*node.body, *node.orelse]), has_return(node)
        test = self.visit(node.test)
        body, orelse = self._block(node.body), self._block(node.orelse)
        if plain:
            asked = _call("plain", test)
            return [ast.copy_location(ast.If(asked, body or [ast.Pass()], orelse), node)]
        n = self._fresh()
        text = f"_tw_b{n} = _tw.branch(_tw_TEST)\n"
        text += _if_split(n, "b", f"_tw_o{n} = {_capture(names)}") if names else ""
        text += f"if _tw_b{n}.then():\n    _tw_BODY\n"
        if names:
            text += _if_split(
                n, "b", f"_tw_t{n} = {_capture(names)}", f"{_tuple(names)} = _tw_o{n}"
            )
        if orelse or names:
            text += f"if _tw_b{n}.otherwise():\n    _tw_ORELSE\n"
        if names:
            merged = f"{_tuple(names)} = _tw_b{n}.merge(_tw_t{n}, {_capture(names)})"
            text += _if_split(n, "b", merged)
        text += f"_tw_b{n}.close()\n"
        if returns:
            text += "if _tw_f.finished(): return _tw_f.result()\n"
        parts = {"TEST": test, "BODY": body or [ast.Pass()], "ORELSE": orelse or [ast.Pass()]}
        return _located(_template(text, **parts), node)

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        if not isinstance(node.iter, ast.Call) or not _looks_like_range(node.iter):
            return self._ordinary_loop(node)
        strict = leaves_loop(node.body) or has_return(node)
        call = node.iter
        arguments = [call.func, *(self.visit(argument) for argument in call.args)]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in call.keywords]
        keywords.append(ast.keyword("_strict", ast.Constant(bool(strict))))
        keywords.append(ast.keyword("_static", ast.Constant(_name_of(call.func) == "static_range")))
        loop = ast.Call(_attribute("loop"), arguments, keywords)
        shared = self._shared(node, node.body)
        names = [name for name in shared if name not in targets(node.target)]
        body = self._loop_body(node)
        n = self._fresh()
        text = f"_tw_l{n} = _tw_LOOP\nfor _tw_TARGET in _tw_l{n}.turns():\n"
        text += textwrap.indent(self._guarded("l", n, names), "    ")
        text += f"_tw_l{n}.close()\n"
        made = _template(text, LOOP=loop, BODY=body, TARGET=node.target)
        if node.orelse:
            made.extend(self._block(node.orelse))
        return _located(made, node)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        if leaves_loop(node.body) or has_return(node) or node.orelse:
            return self._python_while(node)
        names = self._shared(node, [*node.body, ast.Expr(node.test)])
        body = self._loop_body(node)
        n = self._fresh()
        text = f"_tw_l{n} = _tw.while_loop()\nwhile _tw_l{n}.goes(_tw_TEST):\n"
        text += textwrap.indent(self._guarded("l", n, names), "    ")
        text += f"_tw_l{n}.close()\n"
        return _located(_template(text, TEST=self.visit(node.test), BODY=body), node)

    def _python_while(self, node: ast.While) -> list[ast.stmt]:
        """A `while` that all programs repeat equally often; it detects an endless wait."""
        n, rest = self._fresh(), self._block(node.orelse)
        test, body = self.visit(node.test), self._loop_body(node)
        text = f"_tw_w{n} = _tw.rounds()\n"
        text += f"while _tw_w{n}.again(_tw.plain(_tw_TEST)):\n    _tw_BODY\n"
        text += "else:\n    _tw_REST\n" if rest else ""
        text += f"_tw_w{n}.close()\n"
        return _located(_template(text, TEST=test, BODY=body, REST=rest), node)

    def _guarded(self, kind: str, n: int, names: Sequence[str]) -> str:
        if not names:
            return "_tw_BODY\n"
        kept = _if_split(n, kind, f"_tw_o{n} = {_capture(names)}")
        merged = f"{_tuple(names)} = _tw_l{n}.merge({_capture(names)}, _tw_o{n})"
        return kept + "_tw_BODY\n" + _if_split(n, kind, merged)

    def _loop_body(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self._loops += 1
        rewritten = self._block(node.body)
        self._loops -= 1
        if not hasattr(node, "decides"):
            return rewritten
        return [*_noted("repeated", node.decides[1], node), *rewritten]

    def _ordinary_loop(self, node: ast.For) -> ast.stmt:
        node.iter = self.visit(node.iter)
        node.body = self._loop_body(node)
        node.orelse = self._block(node.orelse)
        return node

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        value = self.visit(node.value) if node.value is not None else ast.Constant(None)
        if not self._framed or self._loops:
            return ast.copy_location(ast.Return(value), node)
        text = "if _tw_f.leave(_tw_VALUE): return _tw_f.result()"
        return _located(_template(text, VALUE=value), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if len(node.targets) > 1:
            raise Unsupported("Multiple assignments are not supported", node.lineno)
        node.targets = [self.visit(target) for target in node.targets]
        node.value = _call("value", self.visit(node.value))
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = self.visit(node.msg) if node.msg is not None else ast.Constant("")
        asked = _call("check", self.visit(node.test), _lambda(message))
        return ast.copy_location(ast.Expr(asked), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    # -- expressions -----------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        parts = (self.visit(node.test), self.visit(node.body), self.visit(node.orelse))
        made = _call("either", parts[0], _lambda(parts[1]), _lambda(parts[2]))
        return ast.copy_location(made, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        name = "every" if isinstance(node.op, ast.And) else "some"
        numbers: list[ast.expr] = [ast.Constant(getattr(v, "arm", None)) for v in node.values]
        values = [_lambda(super(KernelRewriter, self).visit(value)) for value in node.values]
        return ast.copy_location(_call(name, ast.Tuple(numbers, ast.Load()), *values), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(_call("negation", operand), node)
        node.operand = operand
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        steps: list[ast.expr] = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            compared = ast.Compare(
                ast.Name("l", ast.Load()), [operator], [ast.Name("r", ast.Load())]
            )
            steps.extend([_lambda(compared, "l", "r"), _lambda(right)])
        return ast.copy_location(_call("chain", node.left, *steps), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            node.func = ast.copy_location(_call("builtin", node.func), node.func)
        return node


def _attribute(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(CONTROL, ast.Load()), name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_attribute(name), list(arguments), [])


def _noted(how: str, number: int, node: ast.stmt) -> list[ast.stmt]:
    """The statement that notes this number; it has the line of `node`."""
    return _located([ast.Expr(_call(how, ast.Constant(number)))], node)


def _lambda(body: ast.expr, *names: str) -> ast.expr:
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def _tuple(names: Sequence[str]) -> str:
    return "(" + "".join(f"{KERNELS}{name}, " for name in names) + ")"


def _capture(names: Sequence[str]) -> str:
    return f"_tw.capture(_tw.locals(), {tuple(names)!r})"


def _if_split(n: int, kind: str, *statements: str) -> str:
    return f"if _tw_{kind}{n}.split:\n" + "".join(f"    {text}\n" for text in statements)


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else str(getattr(node, "attr", ""))


def _looks_like_range(call: ast.Call) -> bool:
    name = _name_of(call.func)
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return name in ("range", "static_range") and not starred


class _Fill(ast.NodeTransformer):
    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self.parts:
            return self.parts[node.value.id]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        return self.parts.get(node.id, node)


def _template(text: str, **parts: Any) -> list[ast.stmt]:
    """Statements from text; names that are keys of `parts` are replaced by their values."""
    tree = ast.parse(text)
    parts = {_own(f"_tw_{name}"): part for name, part in parts.items()}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = _own(node.id)
        for attribute in ("lineno", "end_lineno", "col_offset", "end_col_offset"):
            if hasattr(node, attribute):
                delattr(node, attribute)
    body: list[ast.stmt] = _Fill(parts).visit(tree).body
    return body


def _own(name: str) -> str:
    """A name of a template; ours get a space, so that no kernel can use the same name."""
    return CONTROL + name[3:] if name.startswith("_tw") else name.removeprefix(KERNELS)


def _located(statements: list[ast.stmt], node: ast.stmt) -> list[ast.stmt]:
    """Give a template's statements the original's line; inserted parts keep their own lines."""
    for statement in statements:
        if not hasattr(statement, "lineno"):
            ast.copy_location(statement, node)
    return statements
