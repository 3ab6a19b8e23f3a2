"""Keyboard control and names for widgets, which ipywidgets lacks.

JupyterLab uses keys as its own shortcuts: in a list, an arrow key would move to another cell, and
a digit would turn the cell into a heading. The radio buttons of ipywidgets have no name, so arrow
keys do not move between them. Slider handles have no name either, and the value beside a slider
is a second Tab stop. Python cannot set attributes of a widget's element, but a style element can,
when it loads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_util.theme import variables_css

_KEYS_CLASS = "tw-keys"
# ipywidgets draws a black caret even in dark themes; the browser's own follows the theme.
# A wide table in a widget would push the text beside it out of a narrow page.
_CSS = """
.tw-keys.tw-keys.tw-keys .widget-dropdown > select,
.tw-keys.tw-keys.tw-keys .jupyter-widget-dropdown > select {
  background-image: none; appearance: auto; }
.tw-keys .widget-html, .tw-keys .widget-html-content { min-width: 0; max-width: 100%; }
"""
_ON_LOAD = """
const box = this.closest('.tw-keys');
if (box && !box.dataset.twKeys) {
  box.dataset.twKeys = 'here';
  const name = () => {
    box.querySelectorAll('.noUi-handle:not([aria-label])').forEach(handle => {
      const slider = handle.closest('.widget-hslider, .jupyter-widget-hslider');
      const label = slider && slider.querySelector('.widget-label');
      if (!label || !label.textContent) return;
      handle.setAttribute('aria-label', label.textContent);
      const value = slider.querySelector('.widget-readout');
      if (value) { value.contentEditable = 'false'; value.tabIndex = -1; }
    });
    box.querySelectorAll('.widget-radio-box:not([role])').forEach(group => {
      const asked = group.closest('.widget-vbox, .jupyter-widget-vbox');
      const card = asked && asked.querySelector('.tw-card');
      group.setAttribute('role', 'radiogroup');
      if (card) group.setAttribute('aria-label', card.getAttribute('aria-label'));
    });
    box.querySelectorAll('.tw-live:not([role])').forEach(one => one.setAttribute('role', 'status'));
  };
  name();
  new MutationObserver(name).observe(box, {childList: true, subtree: true});
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
    """Mark the widget to keep its keys; one of its HTML children must contain `keys_html`."""
    return box.add_class(_KEYS_CLASS)


def button(name: str, act: Callable[[], object]) -> Any:
    """A button with this name, for screen readers too, that calls `act`."""
    import ipywidgets

    made = ipywidgets.Button(description=name)
    made.on_click(lambda _: act())
    return made


def keys_html(css: str = "") -> str:
    """A style element with `css` that makes the marked widget around it keep its keys."""
    return f'<style onload="{_ON_LOAD}">{variables_css(".tw-keys")}{_CSS}{css}</style>'
