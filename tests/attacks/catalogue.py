"""All attacks, by name."""

from __future__ import annotations

from tests.attacks import carrying, disguise, escape, exhaustion, forging, theft
from tests.attacks.attack import Attack

ATTACKS: dict[str, Attack] = {
    f"{room}-{attack.name}": attack
    for room, attacks in (
        ("forging", forging.ATTACKS),
        ("theft", theft.ATTACKS),
        ("escape", escape.ATTACKS),
        ("exhaustion", exhaustion.ATTACKS),
        ("disguise", disguise.ATTACKS),
        ("carrying", carrying.ATTACKS),
    )
    for attack in attacks
}
