"""Keys in widgets: without help JupyterLab takes them for its own shortcuts.

An arrow key in a list would move to another cell, a digit would turn the cell into a heading;
and the radio buttons of ipywidgets have no name, so that arrow keys do not lead from one to the
next. Python cannot set attributes of a widget's element; a style element can, when it loads.
"""

from __future__ import annotations

from typing import Any

_KEYS_CLASS = "tw-keys"
_ON_LOAD = """
const box = this.closest('.tw-keys');
if (box && !box.dataset.twKeys) {
  box.dataset.twKeys = 'here';
  box.addEventListener('focusin', event => {
    event.target.setAttribute('data-lm-suppress-shortcuts', 'true');
    const group = event.target.closest('.widget-radio-box');
    if (!group) return;
    group.dataset.twName = group.dataset.twName || 'tw' + Math.random();
    group.querySelectorAll('input').forEach(one => { one.name = group.dataset.twName; });
  });
}
"""


def keeps_its_keys(box: Any) -> Any:
    """The widget, marked as one that keeps its keys; one of its HTML children holds `keys_html`."""
    return box.add_class(_KEYS_CLASS)


def keys_html(css: str = "") -> str:
    """A style element with `css` that gives the keys to the marked widget around it."""
    return f'<style onload="{_ON_LOAD}">{css or ".tw-keys { }"}</style>'
