"""Control flow of many programs at once.

A rewritten kernel calls `Control` at its branches and loops. Where active programs agree, Python
takes one path. Where they differ, `split` is true: each path runs with only its own programs
active (memory ignores the others), and `merge` then selects each program's values.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as stock

from triton_util.interpreter.blame import acts_for_the_kernel
from triton_util.interpreter.control.merging import UNDEFINED, merged_value, unwrapped
from triton_util.interpreter.control.sides import Sides
from triton_util.interpreter.control.waiting import Rounds
from triton_util.interpreter.operations.blocks import Block
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.operations.language import agreed_value, is_one_element
from triton_util.interpreter.state import Batch, Divergence, NeedsSerial

if TYPE_CHECKING:
    from triton_util.interpreter.contracts import Running


class Control(Sides):
    """What rewritten kernels call at their branches and loops."""

    language = tl
    locals = staticmethod(locals)  # because a kernel may have a variable of that name

    def __init__(self, run: Running) -> None:
        super().__init__()
        self.run = run
        self.frames: list[Frame] = []

    def begin(self) -> None:
        """Begin a batch, in which no function and no loop is running."""
        self.frames.clear()
        self.batch.rounds.clear()

    @property
    def batch(self) -> Batch:
        """The batch that is running."""
        batch: Batch = self.run.builder.launching.batch
        return batch

    @property
    def semantic(self) -> Any:
        """Triton's own typing rules."""
        return stock.interpreter_semantic

    def agreed(self, tensor: Any) -> Any:
        """The one value of a scalar tensor; raises Divergence where programs differ."""
        return agreed_value(tensor.handle, self.batch.active)

    def value(self, expression: Any) -> Any:
        """What an assignment binds: numbers become tensors, those in tuples, too."""
        if isinstance(expression, tuple):
            items = [self.value(item) for item in expression]
            return type(expression)(*items) if hasattr(expression, "_fields") else tuple(items)
        return self.semantic.to_tensor(expression, False)

    @acts_for_the_kernel
    def truth(self, condition: Any) -> bool | Array:
        """A Python bool where the active programs agree, else one bool per program."""
        if isinstance(condition, tl.condition):  # `while tl.condition(...)`, which carries hints
            condition = condition.condition
        condition = unwrapped(condition)
        if not isinstance(condition, tl.tensor):
            return bool(condition)
        if not is_one_element(condition.handle):
            raise ValueError("Boolean value of Tensor with more than one value is ambiguous")
        values = condition.handle.data.reshape(-1) != 0
        if values.size == 1:
            return bool(values[0])
        active = self.batch.active
        seen = values if active is None else values[active]
        if seen.size == 0 or seen.all():
            return True
        return values if seen.any() else False

    def plain(self, condition: Any) -> bool:
        """The answer for all programs; raises Divergence where they differ."""
        answer = self.truth(condition)
        if isinstance(answer, bool):
            return answer
        raise Divergence(answer)

    def activate(self, chosen: Array | None) -> None:
        """Activate only these programs, except those that have returned."""
        if self.frames and self.frames[-1].done is not None:
            left = ~self.frames[-1].done
            chosen = left if chosen is None else chosen & left
        self.batch.active = chosen

    def capture(self, scope: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
        """The values of variables, or UNDEFINED."""
        return tuple(scope.get(name, UNDEFINED) for name in names)

    def branch(self, test: Any) -> Branch:
        """The two paths of an `if`."""
        return Branch(self, test)

    def loop(self, _: Any, *arguments: Any, _strict: bool, _static: bool, **options: Any) -> Loop:
        """A `for` over a range; strict ones contain a break, static ones count in Python."""
        return Loop(self, arguments, options, _strict, _static)

    def while_loop(self) -> Loop:
        """A `while`."""
        loop = Loop(self, (), {}, False, False)
        loop.rounds = self.rounds()
        return loop

    def rounds(self) -> Rounds:
        """Begin a `while` that Python itself runs, because it contains a break or a return."""
        return Rounds(self.run, self.batch)

    def frame(self) -> Frame:
        """A function whose programs may return at different places."""
        return Frame(self)

    def either(self, test: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        """`yes if test else no`."""
        branch = Branch(self, test)
        if not branch.split:
            return yes() if branch.answer else no()
        branch.then()
        first = yes()
        branch.otherwise()
        second = no()
        result = merged_value(branch.chosen, first, second)
        branch.close()
        return result

    def every(self, arms: Sequence[int | None], *operands: Callable[[], Any]) -> Any:
        """`a and b`, as Triton compiles it: `logical_and` as soon as an operand is a tensor."""
        return self._logical(arms, operands, False, self.semantic.logical_and)

    def some(self, arms: Sequence[int | None], *operands: Callable[[], Any]) -> Any:
        """`a or b`, as Triton compiles it."""
        return self._logical(arms, operands, True, self.semantic.logical_or)

    @acts_for_the_kernel
    def _logical(
        self,
        arms: Sequence[int | None],
        operands: Sequence[Callable[[], Any]],
        ends: bool,
        join: Any,
    ) -> Any:
        result: Any = not ends
        tensors: list[Any] = []
        noted = self.arms
        try:
            for arm, operand in zip(arms, operands, strict=True):
                result = unwrapped(operand())
                if arm is not None:
                    self.arms.add(arm)
                if isinstance(result, tl.tensor):
                    tensors.append(result)
                    if is_one_element(result.handle) and self.truth(result) is ends:
                        # Triton may know it too, for example a size of 1, and skip the rest.
                        self.arms = set()
                elif bool(result) is ends:
                    return result
        finally:
            self.arms = noted
        if not tensors:
            return result
        whole = tensors[0]
        for tensor in tensors[1:]:
            whole = join(whole, tensor)
        return whole

    @acts_for_the_kernel
    def negation(self, operand: Any) -> Any:
        """`not a`."""
        operand = unwrapped(operand)
        if isinstance(operand, tl.tensor):
            return self.semantic.not_(operand)
        return not operand

    def chain(self, first: Any, *steps: Callable[..., Any]) -> Any:
        """`a < b < c` as `(a < b) and (b < c)`, each operand evaluated once."""
        results: list[Any] = []
        left = first
        for compare, operand in zip(steps[::2], steps[1::2], strict=True):
            right = operand()
            results.append(compare(left, right))
            left = right
        arms = [None] * len(results)
        return self.every(arms, *(lambda result=result: result for result in results))

    @acts_for_the_kernel
    def check(self, condition: Any, message: Callable[[], Any]) -> None:
        """`assert`: for a tensor as tl.device_assert, for anything else as in Python."""
        condition = unwrapped(condition)
        if isinstance(condition, tl.tensor):
            self.run.builder.launching.require(condition.handle, message())
        elif not condition:
            raise AssertionError(message())

    def builtin(self, function: Any) -> Any:
        """`min`, `max` and `print` as Triton compiles them; any other function unchanged."""
        if function is builtins.min:
            return self._extreme(builtins.min, self.semantic.minimum)
        if function is builtins.max:
            return self._extreme(builtins.max, self.semantic.maximum)
        return self._print if function is builtins.print else function

    def _extreme(self, plain: Any, tensor_version: Any) -> Callable[..., Any]:
        @acts_for_the_kernel
        def call(*arguments: Any) -> Any:
            values = [unwrapped(argument) for argument in arguments]
            if not any(isinstance(value, tl.tensor) for value in values):
                return plain(*values)
            return reduce(lambda a, b: tensor_version(a, b, tl.PropagateNan.NONE), values)

        return call

    @acts_for_the_kernel
    def _print(self, *arguments: Any, **options: Any) -> None:
        if self.batch.programs > 1:
            raise NeedsSerial("print shows one program after another")
        if self.batch.active is None or self.batch.active.all():
            builtins.print(*arguments, **options)


class Branch:
    """One `if`: `then()` and `otherwise()` enter a path with the programs that take it."""

    def __init__(self, control: Control, test: Any) -> None:
        self.control = control
        self.answer = control.truth(test)
        self.split = not isinstance(self.answer, bool)
        self.outer = control.batch.active
        everyone = np.ones(control.batch.programs, bool)
        self.chosen: Array = everyone if isinstance(self.answer, bool) else self.answer

    def then(self) -> bool:
        """Enter the first path; returns whether any program takes it."""
        return self._enter(True)

    def otherwise(self) -> bool:
        """Enter the second path; returns whether any program takes it."""
        return self._enter(False)

    def _enter(self, path: bool) -> bool:
        if isinstance(self.answer, bool):
            return self.answer is path
        chosen = self.answer if path else ~self.answer
        self.control.activate(chosen if self.outer is None else chosen & self.outer)
        return True

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        """Each variable, with the value from the path that each program took."""
        self.control.activate(self.outer)
        return tuple(merged_value(self.chosen, a, b) for a, b in zip(first, second, strict=True))

    def close(self) -> None:
        """Continue after the `if` with the programs that have not returned."""
        self.control.activate(self.outer)


class Loop:
    """A `for` or `while` in which programs may stop at different times."""

    def __init__(
        self,
        control: Control,
        arguments: Sequence[Any],
        options: dict[str, Any],
        strict: bool,
        static: bool,
    ) -> None:
        self.control = control
        self.static = static
        self.arguments = arguments
        self.options = options
        self.strict = strict
        self.split = False
        self.outer = control.batch.active
        self.rounds: Rounds | None = None  # of a `while`

    @acts_for_the_kernel
    def turns(self) -> Iterator[Any]:
        """The values of the loop variable."""
        bounds = [unwrapped(bound) for bound in self.arguments]
        if "step" in self.options and len(bounds) < 3:
            bounds = [0, *bounds] if len(bounds) == 1 else bounds
            bounds.append(unwrapped(self.options["step"]))
        tensors = [bound for bound in bounds if isinstance(bound, tl.tensor)]
        if all(bound.handle.data.size == 1 for bound in tensors) or self.strict:
            numbers = range(*(bound.__index__() for bound in bounds))
            yield from self._numbers(numbers)
        else:
            yield from self._ragged(bounds)

    def _numbers(self, numbers: range) -> Iterator[Any]:
        for number in numbers:
            yield number if self.static else self.control.value(number)

    def _ragged(self, bounds: Sequence[Any]) -> Iterator[Any]:
        tensors = [self.control.semantic.to_tensor(bound) for bound in bounds]
        arrays = [tensor.handle.data.astype(np.int64) for tensor in tensors]
        dtype = max((tensor.dtype for tensor in tensors), key=lambda kind: kind.primitive_bitwidth)
        start, stop, step = (
            (np.zeros(1, np.int64), arrays[0], np.ones(1, np.int64))
            if len(arrays) == 1
            else (*arrays, np.ones(1, np.int64))[:3]
        )
        turns = np.maximum(0, -((start - stop) // step))
        turns = np.broadcast_to(turns, (self.control.batch.programs,))
        alive = turns if self.outer is None else np.where(self.outer, turns, 0)
        for turn in range(int(alive.max(initial=0))):
            self._activate(turns > turn)
            number = start + turn * step
            yield tl.tensor(Block(None, dtype, (), terms=(number,)), dtype)

    def goes(self, test: Any) -> bool:
        """Whether any program runs another round of a `while`."""
        answer = self.control.truth(test)
        assert self.rounds is not None
        self.rounds.again(answer is not False)
        if isinstance(answer, bool):
            if self.control.batch.active is self.outer:
                self.split = False
            return answer
        active = self.control.batch.active
        self._activate(answer if active is None else answer & active)
        return True

    def _activate(self, going: Array) -> None:
        chosen = going if self.outer is None else going & self.outer
        whole = chosen.all() if self.outer is None else bool((chosen == self.outer).all())
        self.split = not whole
        self.chosen = chosen
        self.control.activate(self.outer if whole else chosen)

    def merge(self, new: tuple[Any, ...], old: tuple[Any, ...]) -> tuple[Any, ...]:
        """The variables after a round; programs that have stopped keep their old values."""
        return tuple(merged_value(self.chosen, a, b) for a, b in zip(new, old, strict=True))

    def close(self) -> None:
        """Continue after the loop with all programs."""
        if self.rounds is not None:
            self.rounds.close()
        self.control.activate(self.outer)


class Frame:
    """A function that programs may leave at different places."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.entry = control.batch.active
        self.done: Array | None = None
        self.results: list[tuple[Array, Any]] = []
        control.frames.append(self)

    def leave(self, value: Any) -> bool:
        """The active programs return `value`; the result is True if no program is left."""
        active = self.control.batch.active
        if active is None:
            active = np.ones(self.control.batch.programs, bool)
        self.results.append((active, value))
        self.done = active if self.done is None else self.done | active
        self.control.activate(active)
        return self.finished()

    def finished(self) -> bool:
        """Whether every program that entered has returned."""
        if self.done is None:
            return False
        return bool(self.done.all() if self.entry is None else (self.done | ~self.entry).all())

    def result(self) -> Any:
        """The function's return value, per program."""
        if not self.results:
            return None
        value = self.results[-1][1]
        for active, other in self.results[-2::-1]:
            value = merged_value(active, other, value)
        return value

    def close(self) -> None:
        """Return to the caller."""
        self.control.frames.remove(self)
        self.control.batch.active = self.entry
