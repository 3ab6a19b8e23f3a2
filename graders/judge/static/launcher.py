"""The read gate's rules for launchers: allocate, look at shapes and strides, launch.

The reader walks through the module, then through the launcher as if it were called, follows
calls to the submission's own functions, and reports what computes on tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from graders.judge.records import Exercise, TensorSpec
from graders.judge.report import Finding
from graders.judge.static import names as names
from graders.judge.static.classes import read_record
from graders.judge.static.expressions import Expressions
from graders.judge.static.findings import finding, not_triton, shown, torch_computes
from graders.judge.static.kernel import read_kernel
from graders.judge.static.match import read_match
from graders.judge.static.members import refused_member
from graders.judge.static.scope import Scope, import_aliases, is_kernel
from graders.judge.static.values import (
    Differentiable,
    Function,
    Kind,
    Member,
    Method,
    Record,
    Value,
    bag_of,
    element,
    join,
    may_be,
    options,
    unpack,
)

FINDINGS = 200
CALLS = 2_000  # all in all: helpers that call helpers could take for ever
CALL_DEPTH = 12  # deeper chains of helper functions are not followed


class Reader:
    """Reads one submission; `findings` and `launches` hold what was seen."""

    def __init__(self, tree: ast.Module, scope: Scope, exercise: Exercise) -> None:
        self.exercise = exercise
        self.scope = scope
        self.findings: list[Finding] = []
        self.launches: list[ast.Call] = []
        self.expressions = Expressions(self)
        self._module: dict[str, Value] = {}
        self._frames: list[dict[str, Value]] = []
        self._closures: list[list[dict[str, Value]]] = [[]]
        self._returns: list[list[Value]] = []
        self._calling: list[ast.AST] = []
        self._done: dict[tuple[int, tuple[Value, ...]], Value] = {}
        self._followed: set[int] = set()
        self._defined: list[Function] = []
        self._differentiable: list[Differentiable] = []
        self._branching = 0
        for name, node in scope.functions.items():
            self._module[name] = Function(node)
            self._defined.append(Function(node))
        for name in scope.kernels:
            self._module[name] = Kind.KERNEL
        self.block(tree.body)

    def read_launcher(self, function: ast.FunctionDef) -> None:
        """Follow the launcher with arguments as the exercise's cases give them."""
        args = self.exercise.cases[0].args if self.exercise.cases else ()
        values: list[tuple[str | None, Value]] = [
            (None, Kind.TENSOR if isinstance(arg, TensorSpec) else Kind.PLAIN) for arg in args
        ]
        self.call(Function(function), values)
        for differentiable in self._differentiable:
            self._read_backward(differentiable)
        for defined in self._defined:  # handed on in ways that nobody followed
            if id(defined.node) not in self._followed:
                self.callback(defined)

    def _read_backward(self, differentiable: Differentiable) -> None:
        """Gradients are tensors, and what computes on them is a kernel's work as well."""
        backward = differentiable.method("backward")
        if backward is not None:
            gradients: list[tuple[str | None, Value]] = [(None, Kind.TENSOR)]
            gradients *= len(backward.args.args) - 1
            self.call(Function(backward), [(None, Kind.UNKNOWN), *gradients])

    def report(self, found: Finding) -> None:
        """Keep a finding, once per line and message; nobody reads hundreds."""
        if len(self.findings) < FINDINGS and found not in self.findings:
            self.findings.append(found)

    @property
    def top_level(self) -> Mapping[str, Value]:
        """The names that the top level binds, imports left out."""
        return self._module

    # ------------------------------------------------------------ names

    def lookup(self, name: str) -> Value | None:
        """The value of a name; None where it is a builtin or nothing at all."""
        for frame in reversed(self._frames):
            if name in frame:
                return frame[name]
        if name in self._module:
            return self._module[name]
        path = self.scope.aliases.get(name)
        return Member(path) if path is not None else None

    def dotted(self, node: ast.Attribute) -> str | None:
        """The dotted path of an attribute of a module, local aliases included."""
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        known = self.lookup(inner.id) if isinstance(inner, ast.Name) else None
        if not isinstance(known, Member):
            return None
        return ".".join([known.path, *reversed(parts)])

    def used_member(self, node: ast.expr, path: str) -> None:
        """Report a member of a module that is not allowed to be named."""
        refused = refused_member(node, path)
        if refused is not None:
            self.report(refused)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a target; in a branch the old value stays possible."""
        if isinstance(target, ast.Name):
            frame = self._frames[-1] if self._frames else self._module
            old = frame.get(target.id)
            frame[target.id] = join([old, value]) if self._branching and old else value
        elif isinstance(target, ast.Tuple | ast.List):
            values = unpack(value, len(target.elts))
            for part, item in zip(target.elts, values, strict=True):
                self.bind(part.value if isinstance(part, ast.Starred) else part, item)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self._bind_inside(target, value)

    def _bind_inside(self, target: ast.Subscript | ast.Attribute, value: Value) -> None:
        owner = self.expressions.value(target.value)
        if isinstance(target, ast.Subscript):
            self.expressions.value(target.slice)
            if may_be(owner, Kind.TENSOR) or may_be(owner, Kind.UNKNOWN):
                self.report(torch_computes(target, f"The assignment to `{shown(target)}`"))
            elif isinstance(target.value, ast.Name) and not isinstance(owner, Kind):
                self.bind(target.value, join([owner, bag_of(value)]))
            return
        context = isinstance(target.value, ast.Name) and target.value.id == "ctx"
        # A descriptor's block shape in a pre_hook; what forward keeps for backward.
        allowed = target.attr == "block_shape" or (context and target.attr not in names.DATA)
        harmless = allowed and may_be(owner, Kind.UNKNOWN)
        if not harmless:
            self.report(
                not_triton(
                    target,
                    f"`{shown(target)}` is changed from outside.",
                    "Leave torch, triton and tensors as they are.",
                )
            )

    # ------------------------------------------------------------ functions

    def closure(self, node: ast.FunctionDef | ast.Lambda) -> Function:
        """A function defined here; it sees the names of this place."""
        self._closures.append(list(self._frames))
        self._defined.append(Function(node, len(self._closures) - 1))
        return self._defined[-1]

    def callback(self, value: Value) -> None:
        """Something that triton or Python will call with arguments that nobody knows."""
        for option in options(value):
            if isinstance(option, Method) and option.owner in (Kind.TENSOR, Kind.UNKNOWN):
                words = f"The method {option.name} is handed on."
                self.report(not_triton(self._place(), words, "Call it here."))
            if isinstance(option, Function):
                count = len(option.node.args.args) + len(option.node.args.kwonlyargs)
                self.call(option, [(None, Kind.UNKNOWN)] * count)

    def _place(self) -> ast.AST:
        return self._calling[-1] if self._calling else ast.Pass(lineno=1)

    def call(self, function: Function, arguments: Sequence[tuple[str | None, Value]]) -> Value:
        """Follow a call; what it returns."""
        key = (id(function.node), tuple(value for _, value in arguments))
        if key in self._done:
            return self._done[key]
        too_deep = len(self._calling) >= CALL_DEPTH or len(self._done) >= CALLS
        if too_deep:
            words = "The functions here call each other too often to be read."
            self.report(not_triton(function.node, words, "Launch the kernel more directly."))
        if function.node in self._calling or too_deep:
            return Kind.UNKNOWN
        saved = self._frames, self._branching
        self._frames = [*self._closures[function.closure], self._frame(function, arguments)]
        self._branching = 0
        self._calling.append(function.node)
        self._returns.append([])
        if isinstance(function.node, ast.Lambda):
            result = self.expressions.value(function.node.body)
        else:
            self.block(function.node.body)
            result = join(self._returns[-1])
        self._returns.pop()
        self._calling.pop()
        self._frames, self._branching = saved
        self._done[key] = result
        self._followed.add(id(function.node))
        return result

    def _frame(
        self, function: Function, arguments: Sequence[tuple[str | None, Value]]
    ) -> dict[str, Value]:
        args = function.node.args
        named = [a.arg for a in [*args.posonlyargs, *args.args]]
        frame: dict[str, Value] = {}
        defaults = [*args.defaults]
        for name, default in zip(reversed(named), reversed(defaults), strict=False):
            frame[name] = self.expressions.value(default)
        for parameter, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            frame[parameter.arg] = self.expressions.value(kw_default)
        positional = [value for keyword, value in arguments if keyword is None]
        frame |= dict(zip(named, positional, strict=False))
        frame |= {keyword: value for keyword, value in arguments if keyword is not None}
        for name in [*named, *(a.arg for a in args.kwonlyargs)]:
            frame.setdefault(name, join([Kind.PLAIN, *(v for _, v in arguments)]))
        if args.vararg is not None:
            frame[args.vararg.arg] = bag_of(join(positional[len(named) :]))
        if args.kwarg is not None:
            frame[args.kwarg.arg] = bag_of(join([v for k, v in arguments if k is not None]))
        return frame

    # ------------------------------------------------------------ statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Statements in order."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """One statement of a launcher, a helper or the top level."""
        match node:
            case ast.Assign():
                value = self.expressions.value(node.value)
                for target in node.targets:
                    self.bind(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.bind(node.target, self.expressions.value(node.value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.Return():
                if self._returns:
                    self._returns[-1].append(self.expressions.value(node.value))
            case ast.Expr():
                self.expressions.value(node.value)
            case ast.If() | ast.While():
                self.expressions.value(node.test)
                self.branches(node.body, node.orelse)
            case ast.For():
                self.bind(node.target, element(self.expressions.value(node.iter)))
                self.branches(node.body, node.body, node.orelse)
            case ast.Match():
                read_match(self, node)
            case ast.With():
                self._with(node)
            case ast.Try():
                handlers = [handler.body for handler in node.handlers]
                self.branches(node.body, *handlers, node.orelse, node.finalbody)
            case ast.Assert() | ast.Raise():
                for child in ast.iter_child_nodes(node):
                    self.expressions.value(child if isinstance(child, ast.expr) else None)
            case ast.FunctionDef():
                self._definition(node)
            case ast.ClassDef() if self._is_differentiable(node):
                self._module[node.name] = Differentiable(node)
                self._differentiable.append(Differentiable(node))
            case ast.ClassDef():
                for found in read_record(node, self.scope, self.expressions.value):
                    self.report(found)
                self.bind(ast.Name(node.name, ast.Store()), Record(node.name))
            case ast.Import() | ast.ImportFrom():
                self._import(node)
            case ast.Delete() if all(isinstance(target, ast.Name) for target in node.targets):
                pass
            case _ if not isinstance(node, ast.Pass | ast.Break | ast.Continue):
                self._refuse_statement(node)

    def branches(self, *bodies: Sequence[ast.stmt]) -> None:
        """Blocks of which any one may run."""
        self._branching += 1
        for body in bodies:
            self.block(body)
        self._branching -= 1

    def _augmented(self, node: ast.AugAssign) -> None:
        target = ast.unparse(node.target)
        old = self.expressions.value(ast.parse(target, mode="eval").body)
        new = self.expressions.value(node.value)
        if any(may_be(v, Kind.TENSOR) for v in (old, new)) or may_be(old, Kind.UNKNOWN):
            self.report(torch_computes(node, f"`{shown(node)}`"))
        elif isinstance(node.target, ast.Name):
            self.bind(node.target, join([old, new]))

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            value = self.expressions.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self.block(node.body)

    def _definition(self, node: ast.FunctionDef) -> None:
        kernel = is_kernel(node, self.scope)
        for decorator in node.decorator_list:
            self._decorator(decorator, kernel)
        if not kernel and self._frames:
            self.bind(ast.Name(node.name, ast.Store()), self.closure(node))
        elif kernel and self._frames:
            self.findings += read_kernel(node, self.scope)
            self.bind(ast.Name(node.name, ast.Store()), Kind.KERNEL)
        args = node.args
        for default in [*args.defaults, *(d for d in args.kw_defaults if d is not None)]:
            if not kernel:
                self.expressions.value(default)
        for parameter in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            if not kernel and parameter.annotation is not None:
                self._annotation(parameter.annotation)

    def _annotation(self, node: ast.expr) -> None:
        if any(isinstance(part, ast.Call) for part in ast.walk(node)):
            self.report(not_triton(node, f"The annotation {shown(node)} calls a function."))

    def _decorator(self, node: ast.expr, kernel: bool) -> None:
        call = node if isinstance(node, ast.Call) else None
        path = self.scope.dotted(call.func if call else node)
        if path in ("triton.jit", "triton.autotune", "triton.heuristics") and kernel:
            if call:
                self.expressions.value(call)
                self._callbacks(call)
        elif path not in names.DECORATORS or kernel:
            self.report(
                not_triton(node, f"The decorator @{shown(node)} has no place here.", "Remove it.")
            )

    def _callbacks(self, call: ast.Call) -> None:
        """Functions inside lists and dicts (heuristics, configs) are called by triton, too."""
        for part in ast.walk(call):
            if isinstance(part, ast.Lambda):
                self.callback(self.closure(part))
            elif isinstance(part, ast.Name):
                self.callback(self.lookup(part.id) or Kind.PLAIN)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, path in import_aliases(node).items():
            root = path.split(".")[0]
            star = name == "*" and root not in ("triton_util", "math", "typing")
            if star and path != "triton.language.*":
                self.report(
                    not_triton(node, f"{shown(node)} hides what is used.", "Import by name.")
                )
            elif root not in names.MODULES:
                self.report(
                    not_triton(
                        node,
                        f"{name} is imported from {root}, which has no place in a kernel or a "
                        "launcher.",
                        f"Do without {root}.",
                    )
                )
            if self._frames:
                self._frames[-1][name] = Member(path)

    def _is_differentiable(self, node: ast.ClassDef) -> bool:
        """A class that only holds static `forward` and `backward` for autograd."""
        bases = [self.scope.dotted(base) for base in node.bases]
        methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        notes = [part for part in node.body if isinstance(part, ast.Expr | ast.Pass)]
        return (
            bases == ["torch.autograd.Function"]
            and not (node.decorator_list or node.keywords or self._frames)
            and len(methods) + len(notes) == len(node.body)
            and all(isinstance(n.value, ast.Constant) for n in notes if isinstance(n, ast.Expr))
            and all(method.name in ("forward", "backward") for method in methods)
            and all([ast.unparse(d) for d in m.decorator_list] == ["staticmethod"] for m in methods)
        )

    def _refuse_statement(self, node: ast.stmt) -> None:
        what = type(node).__name__.lower().removesuffix("def")
        self.report(
            finding(
                "not-triton",
                node,
                f"A launcher needs no `{what}` statement.",
                "Allocate, look at shapes and strides, launch, return.",
            )
        )
