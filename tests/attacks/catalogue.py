"""All attacks, by name."""

from __future__ import annotations

from attacks import escape, exhaustion, forging, theft
from attacks.attack import Attack

ATTACKS: dict[str, Attack] = {
    f"{room}-{attack.name}": attack
    for room, attacks in (
        ("forging", forging.ATTACKS),
        ("theft", theft.ATTACKS),
        ("escape", escape.ATTACKS),
        ("exhaustion", exhaustion.ATTACKS),
    )
    for attack in attacks
}
