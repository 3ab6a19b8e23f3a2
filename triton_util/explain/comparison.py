"""Two versions of a kernel side by side."""

from __future__ import annotations

from dataclasses import dataclass

from triton_util.explain.explanation import Explanation
from triton_util.explain.facts import Made
from triton_util.explain.page import comparison_html
from triton_util.explain.text import ROWS, table


@dataclass(frozen=True)
class Comparison:
    """`before` and `after`, launch by launch and target by target."""

    before: Explanation
    after: Explanation

    def pairs(self) -> list[tuple[Made, Made]]:
        """The pairs to compare: the same position in the order of launches, and the same target."""
        found = []
        for arch in dict.fromkeys(made.target.arch for made in self.before.made):
            sides = self.before.for_target(arch), self.after.for_target(arch)
            found += list(zip(*sides, strict=False))
        return [(old, new) for old, new in found if not (old.error or new.error)]

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Rows of: what is compared, before, after, and "changed" or ""."""
        found = []
        for old, new in self.pairs():
            found.append((f"{new.target.name} ({new.target.cards})", old.label, new.label, ""))
            for name, value in ROWS:
                then, now = value(old), value(new)
                found.append((name, then, now, "" if then == now else "changed"))
        return found

    @property
    def title(self) -> str:
        return f"{self.before.name}, before and after"

    def __str__(self) -> str:
        heads = ("", "before", "after", "")
        return "\n".join([self.title, "=" * len(self.title), *table([heads, *self.rows()])]) + "\n"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return comparison_html(self.title, ("", "before", "after", ""), self.rows())
