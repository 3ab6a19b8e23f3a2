"""Control flow of many programs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triton.runtime import interpreter as stock

from .language import agreed_value
from .state import Batch

if TYPE_CHECKING:
    from .session import Run


class Control:
    """What rewritten kernels call at their branches and loops."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @property
    def batch(self) -> Batch:
        """The batch that is running."""
        batch: Batch = self.run.builder.launching.batch
        return batch

    def agreed(self, tensor: Any) -> Any:
        """The one value of a scalar tensor; raises Divergence where programs differ."""
        return agreed_value(tensor.handle, self.batch.active)

    def value(self, expression: Any) -> Any:
        """What an assignment binds: numbers become tensors, as in triton's interpreter."""
        return stock.interpreter_semantic.to_tensor(expression, False)
