/* The course in JupyterLab, in plain JavaScript: nothing has to be built.
 *
 * - The button Check (and Ctrl+Alt+Enter) runs what was edited or never run of an exercise, and
 *   then its check.
 * - Before a cell that checks is run, the kernel is told the texts of all code cells, so that no
 *   verdict is given on code that the notebook does not show (triton_util/notebook/shown.py).
 * - A verdict is announced to screen readers.
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

  async function plugin() {
    const { INotebookTracker, NotebookActions } = await library("@jupyterlab/notebook");
    const { Notification } = await library("@jupyterlab/apputils");
    const ran = new Set(); // cells that ran in the kernel that runs now, by id
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
      Notification.warning(`Python does not know ${name} yet. ${where}`, { autoClose: false, actions });
    }

    function activate(app, tracker) {
      const region = makeRegion();
      app.commands.addCommand("tilewise:check", {
        label: "Check",
        caption: "Run what you edited of this exercise, and check it",
        isEnabled: () => tracker.size > 0,
        execute: async () => {
          const panel = tracker.currentWidget || tracker.find(() => true);
          const notebook = panel.content;
          const numbers = whatToRun(notebook.widgets, notebook.activeCellIndex, ran);
          if (!numbers.length) Notification.info("This notebook has nothing to check.");
          await runCells(panel, numbers);
        }
      });
      NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
        const kernel = panelOf(tracker, notebook)?.sessionContext.session?.kernel;
        if (kernel && isCode(cell) && CHECKS.test(source(cell))) tellKernel(notebook, kernel);
      });
      NotebookActions.executed.connect((_, { notebook, cell, success, error }) => {
        if (success && isCode(cell)) ran.add(cell.model.id);
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
          setTimeout(() => { waiting = false; if (!panel.isDisposed) mendWidgets(panel); }, 200);
        }).observe(panel.content.node, { childList: true, subtree: true });
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
