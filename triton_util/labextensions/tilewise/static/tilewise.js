/* The course in JupyterLab, in plain JavaScript: nothing has to be built.
 *
 * - The button Check (and Ctrl+Alt+Enter) runs what was edited or never run of an exercise, and
 *   then its check.
 * - Before a cell that checks is run, the kernel is told the texts of all code cells, so that no
 *   verdict is given on code that the notebook does not show (triton_util/notebook/shown.py).
 * - A verdict is announced to screen readers.
 * - A card is dimmed while the notebook shows other code than the card speaks of; its link to a line
 *   goes to that line and underlines it.
 * - A widget of a notebook that was opened again, which has no kernel any more, is shown as the
 *   picture and the text that lie beside it in the output.
 * - Where a kernel was restarted and a cell of the course is run, the cells that prepare the
 *   notebook are offered.
 *
 * package.json switches nbgrader's buttons off wherever this extension is loaded, which is where
 * JupyterLab is started for learners: its "Validate" runs no cell that judges.
 */
"use strict";

(() => {
  const CHECKS = /^\s*(?:\w+\s*=\s*)?(?:check|speed)\(/m;
  const SETUP = /^# @title Run this cell first/;
  const OF_THE_COURSE = new RegExp(
    "'(check|hint|quiz|predict|catch|answer|progress|practice|review|speed|trace" +
      "|explore|figures|torch|triton|tl)'"
  );
  let shared = null;

  async function library(name) {
    const versions = Object.values(shared[name]);
    const chosen = versions.find(version => version.loaded) || versions[0];
    return (await chosen.get())();
  }

  function source(cell) {
    return cell.model.sharedModel.getSource();
  }

  function isCode(cell) {
    return cell.model.type === "code";
  }

  function tellKernel(notebook, kernel) {
    const texts = notebook.widgets.filter(isCode).map(source);
    const module = "__import__('sys').modules.get('triton_util.notebook.shown')";
    kernel.requestExecute({
      code: `(lambda shown: shown and shown.tell(${JSON.stringify(texts)}))(${module})`,
      silent: true,
      store_history: false,
      stop_on_error: false
    });
  }

  /* A screen reader reads what changes in a region that is there already: so it is made at once. */
  function makeRegion() {
    const region = document.createElement("div");
    region.id = "tw-announced";
    region.setAttribute("role", "status");
    region.setAttribute("aria-live", "polite");
    region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(region);
    return region;
  }

  function announce(cell, region) {
    const card = cell.node.querySelector(".tw-card");
    if (!card) return;
    const title = card.querySelector(".tw-title");
    region.textContent = `${card.getAttribute("aria-label")}. ${title ? title.textContent : ""}`;
  }

  async function showInstead(panel, child, output) {
    const renderer = panel.content.rendermime.createRenderer("text/html");
    await renderer.renderModel(output);
    const note = document.createElement("p");
    note.textContent = "Run this cell again for its controls.";
    note.style.margin = "0 0 .3em";
    child.querySelector(".jp-OutputArea-output").replaceChildren(note, renderer.node);
  }

  function mendWidgets(panel) {
    for (const cell of panel.content.widgets.filter(isCode)) {
      cell.outputArea.node.querySelectorAll(":scope > .jp-OutputArea-child").forEach((child, i) => {
        if (child.dataset.twMended || !/Error displaying widget/.test(child.textContent)) return;
        const output = cell.outputArea.model.get(i);
        if (!output?.data["text/html"]) return;
        child.dataset.twMended = "yes";
        showInstead(panel, child, output);
      });
    }
  }

  /* FNV-1a, as triton_util/notebook/shown.py computes it. */
  function mark(text) {
    let found = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text.trim())) found = Math.imul(found ^ byte, 0x01000193);
    return (found >>> 0).toString(16).padStart(8, "0");
  }

  /* A card speaks of cells by their marks: it is old as soon as one of these texts is shown no more. */
  function dimOldCards(panel) {
    const cards = panel.content.node.querySelectorAll(".tw-card[data-cells]");
    if (!cards.length) return;
    const shown = new Set(panel.content.widgets.filter(isCode).map(cell => mark(source(cell))));
    for (const card of cards) {
      const old = !card.dataset.cells.split(" ").every(one => shown.has(one));
      if (old && !card.querySelector(":scope > .tw-old")) {
        const note = document.createElement("p");
        note.className = "tw-old";
        note.textContent = "Your code has changed since this check. Check again.";
        card.prepend(note);
      }
      card.classList.toggle("tw-stale", old);
    }
  }

  /* Marks one line in an editor until it is edited there, or until another line is marked. */
  async function lineMarker() {
    const { Decoration, EditorView } = await library("@codemirror/view");
    const { StateEffect, StateField } = await library("@codemirror/state");
    const underline = StateEffect.define();
    const line = Decoration.mark({
      class: "tw-underlined",
      attributes: { style: "text-decoration: underline wavy #c4352b 1.5px; text-underline-offset: 4px" }
    });
    const field = StateField.define({
      create: () => Decoration.none,
      update: (marks, change) => {
        for (const effect of change.effects) {
          if (effect.is(underline)) {
            return effect.value ? Decoration.set([line.range(effect.value.from, effect.value.to)]) : Decoration.none;
          }
        }
        return change.docChanged ? Decoration.none : marks;
      },
      provide: known => EditorView.decorations.from(known)
    });
    return (view, range) => {
      const effects = [underline.of(range)];
      if (!view.state.field(field, false)) effects.unshift(StateEffect.appendConfig.of(field));
      view.dispatch({ effects });
    };
  }

  async function jump(panel, link, underline) {
    const notebook = panel.content;
    const number = Number(link.dataset.line);
    const at = notebook.widgets.findIndex(cell => isCode(cell) && mark(source(cell)) === link.dataset.cell);
    if (at < 0) return false;
    notebook.activeCellIndex = at;
    notebook.deselectAll();
    await notebook.scrollToItem(at, "smart");
    const cell = notebook.widgets[at];
    await cell.ready;
    for (const other of notebook.widgets) {
      if (other !== cell && other.editor?.editor) underline(other.editor.editor, null);
    }
    const view = cell.editor.editor;
    if (number > view.state.doc.lines) return false;
    const line = view.state.doc.line(number);
    const from = line.from + line.text.search(/\S|$/);
    view.dispatch({ selection: { anchor: from } });
    notebook.mode = "edit";
    view.focus();
    if (from < line.to) underline(view, { from, to: line.to });
    const place = view.coordsAtPos(from);
    const window_ = notebook.node.getBoundingClientRect();
    if (place && (place.top < window_.top || place.bottom > window_.bottom)) {
      view.dom.querySelector(".cm-activeLine")?.scrollIntoView({ block: "center" });
    }
    return true;
  }

  /* A kernel writes its version into the notebook when it starts. As long as that is all, the
   * notebook is as it lies on the disk, and nobody is asked to save it. */
  function keepUntouched(panel) {
    const model = panel.context.model;
    const cells = () => JSON.stringify(model.sharedModel.cells.map(cell => cell.toJSON()));
    const before = cells();
    const look = (_, change) => {
      if (change.name !== "dirty" || !change.newValue) return;
      if (cells() !== before) model.stateChanged.disconnect(look);
      else setTimeout(() => { if (!model.isDisposed && cells() === before) model.dirty = false; }, 0);
    };
    model.stateChanged.connect(look);
    if (model.dirty) look(null, { name: "dirty", newValue: true });
  }

  /* The numbers of the set-up cell and of the imports behind it; [] in a notebook without them. */
  function preparing(cells) {
    const setup = cells.findIndex(cell => isCode(cell) && SETUP.test(source(cell)));
    if (setup < 0) return [];
    const imports = cells.findIndex((cell, i) => i > setup && isCode(cell));
    return imports < 0 ? [setup] : [setup, imports];
  }

  /* What one press of the button runs, by number: set-up and imports where they have not run, what is
   * new in the exercise, and its check. The exercise is the one whose check stands at or below the cursor. */
  function whatToRun(cells, active, ran) {
    const checks = cells.flatMap((cell, i) => (isCode(cell) && CHECKS.test(source(cell)) ? [i] : []));
    if (!checks.length) return [];
    const check = checks.find(i => i >= active) ?? checks[checks.length - 1];
    const before = Math.max(-1, ...checks.filter(i => i < check));
    const isNew = i => isCode(cells[i]) && (cells[i].model.isDirty || !ran.has(cells[i].model.id));
    const chosen = preparing(cells).filter(i => i < check && isNew(i));
    for (let i = before + 1; i < check; i++) {
      if (isNew(i) && !chosen.includes(i)) chosen.push(i);
    }
    return [...chosen.sort((a, b) => a - b), check];
  }

  /* The one button of a lesson that matters looks like it; its colours are those of cards. */
  const BUTTON = `
    .jp-Toolbar-item[data-jp-item-name="tilewise-check"] { margin: 0 .5em 0 .2em; }
    [data-jp-item-name="tilewise-check"] [data-command="tilewise:check"] {
      background: #2454a4; color: #fff; border-radius: 4px; padding: 0 .8em 0 .6em; min-width: 5.6em; }
    [data-jp-item-name="tilewise-check"] [data-command="tilewise:check"]:hover { background: #1b4180; }
    [data-jp-item-name="tilewise-check"] .jp-ToolbarButtonComponent-label {
      color: #fff; font-weight: 600; font-variant-numeric: tabular-nums; }
    [data-jp-item-name="tilewise-check"] .jp-ToolbarButtonComponent-label::before {
      content: ""; display: inline-block; width: .55em; height: .95em; margin: 0 .6em .12em .15em;
      border: solid #fff; border-width: 0 2.5px 2.5px 0; transform: rotate(42deg); vertical-align: middle; }
    [data-jp-item-name="tilewise-check"] .tw-busy .jp-ToolbarButtonComponent-label::before {
      width: .95em; height: .95em; margin: 0 .5em .12em 0; border-radius: 50%;
      border: 2.5px solid rgba(255, 255, 255, .35); border-top-color: #fff; animation: tw-turn .8s linear infinite; }
    @keyframes tw-turn { to { transform: rotate(360deg); } }
    .tw-stale a { pointer-events: none; }`;

  async function plugin() {
    const { INotebookTracker, NotebookActions } = await library("@jupyterlab/notebook");
    const { Notification } = await library("@jupyterlab/apputils");
    const ran = new Set(); // cells that ran in the kernel that runs now, by id
    const checking = new Map(); // how far the checks are that run now: cell → "5/34", "" at first
    let notice = ""; // the one that asks to run the first cells
    const underline = await lineMarker();
    const panelOf = (tracker, notebook) => tracker.find(panel => panel.content === notebook);

    async function runCells(panel, numbers) {
      const notebook = panel.content;
      notebook.mode = "command";
      for (const number of numbers) {
        notebook.activeCellIndex = number;
        notebook.deselectAll();
        if (!(await NotebookActions.run(notebook, panel.sessionContext))) break;
      }
      notebook.scrollToItem?.(notebook.activeCellIndex, "smart");
    }

    function sayWhatToRun(panel, name) {
      const cells = panel.content.widgets;
      const first = preparing(cells);
      const waiting = first.filter(i => !ran.has(cells[i].model.id));
      const where = waiting.length
        ? "The first cells of this notebook prepare it, and have to run first."
        : first.length
          ? "Run the cells above this one, from the top."
          : "Run the cell that imports it first.";
      const actions = waiting.length
        ? [{ label: "Run them", callback: () => runCells(panel, waiting) }]
        : [];
      dropNotice();
      const options = { autoClose: 15000, actions };
      notice = Notification.warning(`Python does not know ${name} yet. ${where}`, options);
    }

    function dropNotice() {
      if (notice) Notification.dismiss(notice);
      notice = "";
    }

    /* Reads from the card of a running check how many cases are done. */
    function watchChecks(app) {
      const timer = setInterval(() => {
        for (const cell of checking.keys()) {
          const bar = cell.isDisposed ? null : cell.node.querySelector(".tw-card progress");
          if (cell.isDisposed) checking.delete(cell);
          else if (bar) checking.set(cell, `${bar.value}/${bar.max}`);
        }
        app.commands.notifyCommandChanged("tilewise:check");
        if (!checking.size) clearInterval(timer);
      }, 200);
    }

    function activate(app, tracker) {
      const region = makeRegion();
      const style = document.createElement("style");
      style.textContent = BUTTON;
      document.head.append(style);
      app.commands.addCommand("tilewise:check", {
        label: () => (checking.size ? [...checking.values()].pop() || "Checking" : "Check"),
        className: () => (checking.size ? "tw-busy" : ""),
        caption: "Run what you edited of this exercise, and check it (Ctrl+Alt+Enter)",
        isEnabled: () => tracker.size > 0,
        execute: async () => {
          const panel = tracker.currentWidget || tracker.find(() => true);
          const notebook = panel.content;
          const numbers = whatToRun(notebook.widgets, notebook.activeCellIndex, ran);
          if (!numbers.length) Notification.info("This notebook has nothing to check.", { autoClose: 5000 });
          await runCells(panel, numbers);
        }
      });
      NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
        const kernel = panelOf(tracker, notebook)?.sessionContext.session?.kernel;
        if (!isCode(cell) || !CHECKS.test(source(cell))) return;
        if (kernel) tellKernel(notebook, kernel);
        checking.set(cell, "");
        watchChecks(app);
      });
      NotebookActions.executed.connect((_, { notebook, cell, success, error }) => {
        checking.delete(cell);
        if (success && isCode(cell)) ran.add(cell.model.id);
        if (success) dropNotice();
        const unknown = error?.errorName === "NameError" && OF_THE_COURSE.exec(error.errorValue);
        const panel = panelOf(tracker, notebook);
        if (isCode(cell) && CHECKS.test(source(cell))) setTimeout(announce, 300, cell, region);
        if (unknown && panel) sayWhatToRun(panel, unknown[1]);
      });
      tracker.widgetAdded.connect((_, panel) => {
        const forget = () => panel.content.widgets.forEach(cell => ran.delete(cell.model.id));
        let waiting = false;
        new MutationObserver(() => {
          if (waiting) return;
          waiting = true;
          setTimeout(() => {
            waiting = false;
            if (panel.isDisposed) return;
            mendWidgets(panel);
            dimOldCards(panel);
          }, 200);
        }).observe(panel.content.node, { childList: true, subtree: true });
        panel.content.node.addEventListener("click", event => {
          const link = event.target.closest?.("a.tw-jump");
          if (!link) return;
          event.preventDefault();
          event.stopPropagation();
          jump(panel, link, underline).then(found => {
            if (!found) Notification.info("This line is no longer in the notebook.", { autoClose: 4000 });
          });
        }, true);
        panel.context.ready.then(() => keepUntouched(panel));
        panel.context.ready.then(() =>
          panel.model.sharedModel.changed.connect(() => { if (!panel.isDisposed) dimOldCards(panel); })
        );
        panel.sessionContext.kernelChanged.connect(forget);
        panel.sessionContext.statusChanged.connect((_, status) => {
          if (/restarting/.test(status)) forget();
        });
      });
    }

    return { id: "tilewise:check", autoStart: true, requires: [INotebookTracker], activate };
  }

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB.tilewise = {
    init: scope => { shared = scope; },
    get: async () => {
      const made = await plugin();
      return () => ({ __esModule: true, default: made });
    }
  };
})();
