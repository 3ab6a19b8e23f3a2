"""The style of cards. JupyterLab, VS Code and the site use the same rules, light and dark."""

from __future__ import annotations

from functools import cache

from triton_util.theme import variables_css

_STYLE = """
.tw-card { box-sizing: border-box; max-width: 56em; margin: .4em 0; padding: 0;
  background: var(--tw-paper); color: var(--tw-ink); border: 1px solid var(--tw-line);
  border-left: 5px solid var(--tw-state); border-radius: 8px; overflow: hidden;
  font: 14px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.tw-card * { box-sizing: border-box; }
.tw-card.tw-passed { --tw-state: var(--tw-good); --tw-state-soft: var(--tw-good-soft); }
.tw-card.tw-failed { --tw-state: var(--tw-bad); --tw-state-soft: var(--tw-bad-soft); }
.tw-card.tw-unjudged { --tw-state: var(--tw-warn); --tw-state-soft: var(--tw-warn-soft); }
.tw-card.tw-outdated { --tw-state: var(--tw-warn); --tw-state-soft: var(--tw-warn-soft); }
.tw-card.tw-plain, .tw-card.tw-untouched { --tw-state: var(--tw-accent);
  --tw-state-soft: var(--tw-accent-soft); }
.tw-card .tw-head { display: flex; flex-wrap: wrap; align-items: center; gap: .2em .7em;
  padding: .6em 1em; background: var(--tw-state-soft); }
.tw-card .tw-mark { display: inline-flex; width: 1.7em; height: 1.7em; border-radius: 50%;
  align-items: center; justify-content: center; background: var(--tw-state);
  color: var(--tw-paper); font-weight: 700; flex: none; }
.tw-card .tw-verdict { flex: 1 1 14em; font-weight: 650; font-size: 1.1em; }
.tw-card .tw-verdict code { font-size: .95em; background: none; padding: 0; }
.tw-card .tw-summary { color: var(--tw-muted); margin-left: auto; }
.tw-card .tw-fit { container-type: inline-size; }
.tw-card .tw-body { padding: .7em 1em .9em; overflow-x: auto; }
.tw-card .tw-body > :last-child, .tw-card .tw-finding > :last-child { margin-bottom: 0; }
.tw-card .tw-body > :first-child, .tw-card .tw-finding > :first-child { margin-top: 0; }
.tw-card p { margin: .5em 0; color: inherit; }
.tw-card code, .tw-card pre { font-family: ui-monospace, "JetBrains Mono", Menlo, Consolas,
  "DejaVu Sans Mono", monospace; font-size: .92em; color: inherit;
  background: var(--tw-raised); border-radius: 4px; }
.tw-card code { padding: .08em .32em; }
.tw-card pre { padding: .55em .8em; margin: .35em 0; overflow-x: auto; white-space: pre-wrap;
  border: 0; }
.tw-card .tw-gates { display: flex; flex-wrap: wrap; gap: .4em; list-style: none;
  margin: 0 0 .9em; padding: 0; }
.tw-card .tw-gates li { display: inline-flex; gap: .45em; align-items: baseline; margin: 0;
  border: 1px solid var(--tw-line); border-radius: 999px; padding: .08em .75em; font-size: .93em; }
.tw-card .tw-gates .tw-g-passed { background: var(--tw-good-soft); border-color: var(--tw-good); }
.tw-card .tw-gates .tw-g-failed { background: var(--tw-bad-soft); border-color: var(--tw-bad); }
.tw-card .tw-gates .tw-g-not_run { color: var(--tw-muted); border-style: dashed; }
.tw-card .tw-gates .tw-gm { font-weight: 700; }
.tw-card .tw-gates .tw-g-passed .tw-gm { color: var(--tw-good); }
.tw-card .tw-gates .tw-g-failed .tw-gm { color: var(--tw-bad); }
.tw-card .tw-title { font-weight: 650; font-size: 1.08em; margin: 0 0 .3em; }
.tw-card .tw-where { margin: .6em 0; }
.tw-card .tw-place { font-size: .93em; color: var(--tw-muted); }
.tw-card .tw-jump { color: var(--tw-accent); }
.tw-card .tw-jump:focus-visible { outline: 2px solid var(--tw-accent); outline-offset: 2px; }
.tw-card .tw-where pre { padding: .4em 0; white-space: pre; }
.tw-card .tw-line { display: block; padding: 0 .8em 0 0; min-width: max-content; }
.tw-card .tw-line:has(mark) { background: var(--tw-state-soft);
  box-shadow: inset 3px 0 var(--tw-state); }
.tw-card .tw-line mark { background: none; color: inherit; font-weight: 600;
  text-decoration: underline wavy var(--tw-state) 1px; text-underline-offset: 3px; }
.tw-card .tw-number { display: inline-block; width: 2.6em; padding-right: .9em; text-align: right;
  color: var(--tw-muted); user-select: none; }
.tw-card .tw-facts th { white-space: nowrap; vertical-align: top; }
.tw-card.tw-stale > * { opacity: .6; filter: saturate(.3); }
.tw-card.tw-stale .tw-old, .tw-card .tw-old { display: none; }
.tw-card.tw-stale .tw-old { display: block; opacity: 1; filter: none; margin: 0;
  padding: .45em 1em; background: var(--tw-warn-soft); color: var(--tw-warn); }
.tw-card .tw-next { border-left: 3px solid var(--tw-accent); background: var(--tw-accent-soft);
  border-radius: 0 6px 6px 0; padding: .45em .8em; margin: .8em 0 .2em; }
.tw-card .tw-next b { color: var(--tw-accent); }
.tw-card figure { margin: .8em 0; }
.tw-card figcaption { color: var(--tw-muted); font-size: .95em; margin-top: .2em; }
.tw-card .tw-map { max-width: 100%; height: auto; display: block; }
.tw-card .tw-right { fill: var(--tw-raised); stroke: var(--tw-line); }
.tw-card .tw-run { fill: var(--tw-good); shape-rendering: crispEdges; }
.tw-card .tw-shade-0 { fill-opacity: .35; } .tw-card .tw-shade-1 { fill-opacity: .55; }
.tw-card .tw-shade-2 { fill-opacity: .2; }
.tw-card .tw-lanes { fill: none; stroke: var(--tw-muted); stroke-dasharray: 3 2; }
.tw-card .tw-end { stroke: var(--tw-ink); stroke-width: 1; }
.tw-card .tw-words { fill: var(--tw-ink); font-size: 12px; }
.tw-card .tw-dot { fill: var(--tw-muted); }
.tw-card .tw-wrong, .tw-card .tw-part { fill: var(--tw-bad); }
.tw-card .tw-block { stroke: var(--tw-ink); stroke-width: 1.2; stroke-dasharray: 4 2; }
.tw-card .tw-tick { fill: var(--tw-muted); font-size: 11px; text-anchor: middle; }
.tw-card .tw-side { text-anchor: end; }
.tw-card .tw-sides { display: flex; flex-wrap: wrap; gap: .6em 2em; }
.tw-card .tw-sides figure { margin: 0 0 .6em; }
.tw-card .tw-sides img { display: block; image-rendering: pixelated; max-width: 100%;
  border: 1px solid var(--tw-line); }
.tw-card .tw-sides table { margin: 0; }
.tw-card .tw-sides caption { text-align: left; color: var(--tw-muted); font-weight: 600;
  padding: 0 0 .2em; }
.tw-card .tw-sides td { font-variant-numeric: tabular-nums; text-align: right;
  padding: .1em 0 .1em .9em; }
.tw-card .tw-flat { stroke: none; }
.tw-card .tw-map rect { shape-rendering: crispEdges; }
.tw-card .tw-cross { stroke: var(--tw-paper); stroke-width: 1.8; stroke-linecap: round; }
.tw-card .tw-never { fill: var(--tw-warn-soft); stroke: var(--tw-warn); }
.tw-card .tw-ring { fill: none; stroke: var(--tw-warn); stroke-width: 1.6; }
.tw-card .tw-legend { display: flex; flex-wrap: wrap; gap: .2em 1.2em; list-style: none;
  margin: .4em 0 0; padding: 0; font-size: .93em; }
.tw-card .tw-legend li { display: inline-flex; align-items: center; gap: .4em; margin: 0; }
.tw-card details { margin-top: .7em; }
.tw-card summary { cursor: pointer; color: var(--tw-accent); width: fit-content; }
.tw-card summary:focus-visible { outline: 2px solid var(--tw-accent); outline-offset: 2px;
  border-radius: 3px; }
.tw-card .tw-finding + .tw-finding { border-top: 1px solid var(--tw-line); margin-top: .9em;
  padding-top: .9em; }
.tw-card table { border-collapse: collapse; margin: .4em 0; font-size: .93em; color: inherit;
  background: none; }
.tw-card th, .tw-card td { text-align: left; padding: .2em 1.2em .2em 0; border: 0;
  border-bottom: 1px solid var(--tw-line); background: none; color: inherit; }
.tw-card .tw-programs { margin: .9em 0; container-type: inline-size; }
.tw-card .tw-programs figcaption { margin: 0 0 .2em; }
.tw-card .tw-programs p { margin: .15em 0; font-size: .95em; }
.tw-card .tw-programs td, .tw-card .tw-programs th { vertical-align: top;
  font-variant-numeric: tabular-nums; }
.tw-card .tw-programs tbody th { color: inherit; font-weight: inherit; }
.tw-card .tw-programs .tw-off > * { background: var(--tw-bad-soft); }
.tw-card .tw-sign { color: var(--tw-bad); font-weight: 700; }
.tw-card .tw-joy { position: relative; font-size: 1.15em; color: var(--tw-good);
  background: var(--tw-good-soft); border-radius: 6px; padding: .5em .8em; margin: 0 0 .7em;
  overflow: hidden; }
.tw-card .tw-joy b { position: relative; }
.tw-card .tw-paper i { position: absolute; top: -12px; width: 7px; height: 11px; opacity: 0; }
@media (prefers-reduced-motion: no-preference) {
  .tw-card .tw-paper i { animation: tw-falls 1.6s ease-in .2s 2 both; }
}
@keyframes tw-falls { 0% { opacity: 1; transform: none; }
  100% { opacity: 0; transform: translateY(64px) rotate(300deg); } }
.tw-card .tw-paper i:nth-child(1) { left: 4%; animation-delay: 0.00s; background: var(--tw-series-1); }
.tw-card .tw-paper i:nth-child(2) { left: 11%; animation-delay: 0.20s; background: var(--tw-series-2); }
.tw-card .tw-paper i:nth-child(3) { left: 18%; animation-delay: 0.40s; background: var(--tw-series-3); }
.tw-card .tw-paper i:nth-child(4) { left: 25%; animation-delay: 0.05s; background: var(--tw-series-4); }
.tw-card .tw-paper i:nth-child(5) { left: 32%; animation-delay: 0.25s; background: var(--tw-series-5); }
.tw-card .tw-paper i:nth-child(6) { left: 39%; animation-delay: 0.45s; background: var(--tw-series-1); }
.tw-card .tw-paper i:nth-child(7) { left: 46%; animation-delay: 0.10s; background: var(--tw-series-2); }
.tw-card .tw-paper i:nth-child(8) { left: 53%; animation-delay: 0.30s; background: var(--tw-series-3); }
.tw-card .tw-paper i:nth-child(9) { left: 60%; animation-delay: 0.50s; background: var(--tw-series-4); }
.tw-card .tw-paper i:nth-child(10) { left: 67%; animation-delay: 0.15s; background: var(--tw-series-5); }
.tw-card .tw-paper i:nth-child(11) { left: 74%; animation-delay: 0.35s; background: var(--tw-series-1); }
.tw-card .tw-paper i:nth-child(12) { left: 81%; animation-delay: 0.00s; background: var(--tw-series-2); }
.tw-card .tw-paper i:nth-child(13) { left: 88%; animation-delay: 0.20s; background: var(--tw-series-3); }
.tw-card .tw-paper i:nth-child(14) { left: 95%; animation-delay: 0.40s; background: var(--tw-series-4); }
.tw-card .tw-tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.6em, 1fr));
  gap: .5em; list-style: none; margin: .6em 0; padding: 0; }
.tw-card .tw-tile { display: flex; flex-direction: column; gap: .15em; margin: 0; padding: .45em .6em;
  border: 1px solid var(--tw-line); border-radius: 7px; background: var(--tw-raised);
  line-height: 1.3; }
.tw-card .tw-tile b { font-weight: 600; overflow-wrap: anywhere; }
.tw-card .tw-tile a { color: inherit; text-decoration: underline; text-underline-offset: 2px; }
.tw-card .tw-tile small { color: var(--tw-muted); font-size: .85em; }
.tw-card .tw-tn { color: var(--tw-muted); font-variant-numeric: tabular-nums; }
.tw-card .tw-t-done { background: var(--tw-good-soft); border-color: var(--tw-good); }
.tw-card .tw-t-done .tw-tn { color: var(--tw-good); }
.tw-card .tw-t-begun { border-color: var(--tw-accent); }
.tw-card .tw-t-next { border: 2px solid var(--tw-accent); background: var(--tw-accent-soft); }
.tw-card .tw-t-next .tw-tn small { color: var(--tw-accent); font-weight: 700; }
.tw-card .tw-share { display: block; height: 4px; border-radius: 2px; background: var(--tw-line); }
.tw-card .tw-share i { display: block; height: 4px; border-radius: 2px;
  background: var(--tw-accent); }
.tw-card .tw-t-done .tw-share i { background: var(--tw-good); }
.tw-card .tw-goal { font-size: 1.08em; }
.tw-card .tw-goal a { color: var(--tw-accent); }
.tw-card .tw-progress { width: 100%; table-layout: auto; }
.tw-card .tw-progress td:nth-child(2), .tw-card .tw-progress td:nth-child(3) { white-space: nowrap; }
@container (max-width: 44em) {
  .tw-card .tw-progress thead, .tw-card .tw-progress td:nth-child(4) { display: none; }
}
@container (max-width: 34em) {
  .tw-card .tw-programs thead { display: none; }
  .tw-card .tw-programs tr { display: block; border-bottom: 1px solid var(--tw-line);
    padding: .25em 0; }
  .tw-card .tw-programs tbody th, .tw-card .tw-programs td { display: flex; border: 0;
    padding: 0 .4em; }
  .tw-card .tw-programs td:empty { display: none; }
  .tw-card .tw-programs tbody th::before, .tw-card .tw-programs td::before {
    content: attr(data-column); color: var(--tw-muted); flex: 0 0 7em; }
  .tw-card .tw-progress tr { display: flex; flex-wrap: wrap; gap: 0 .8em;
    border-bottom: 1px solid var(--tw-line); padding: .2em 0; }
  .tw-card .tw-progress td { border: 0; padding: 0; }
}
.tw-card tr, .tw-card tr:nth-child(n), .tw-card tr:hover { background: none; }
.tw-card th { color: var(--tw-muted); font-weight: 500; }
.tw-card progress { width: 100%; height: .6em; accent-color: var(--tw-state); }
.tw-card .tw-tier { color: var(--tw-muted); font-size: .93em; margin: .8em 0 0; }
"""  # noqa: E501


@cache
def style() -> str:
    """The style element that each card includes, because an output cannot rely on other outputs."""
    # JupyterLab styles outputs with selectors of up to three classes; ours have more.
    rules = _STYLE.replace(".tw-card", ".tw-card" * 3)
    return f"<style>{variables_css('.tw-card')}{rules}</style>"
