"""What the engine takes from inside triton is there, and a probe says in a line what is not."""

from triton_util.interpreter import hooks
from triton_util.interpreter.operations.builder import GridBuilder


def test_nothing_has_changed_in_this_triton():
    assert hooks.changed() == []


def test_what_is_gone_is_said_in_one_line():
    hook = hooks.Hook("triton.runtime.interpreter", "NoSuchThing.run", "launches")
    assert hook.changed().startswith("triton.runtime.interpreter.NoSuchThing.run is gone")
    assert "\n" not in hook.changed()


def test_a_parameter_that_has_gone_is_named():
    hook = hooks.Hook("triton.runtime.interpreter", "ReduceOps", "reductions", ("axis", "colour"))
    assert hook.changed().endswith("takes no colour (reductions)")


def test_an_operation_that_the_engine_lacks_is_named(monkeypatch):
    for owner in GridBuilder.__mro__:
        if "create_histogram" in vars(owner):
            monkeypatch.delattr(owner, "create_histogram")
    assert "create_histogram" in hooks.lacking()
