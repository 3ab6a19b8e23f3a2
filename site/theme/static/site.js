// The theme, the contents on narrow screens, and scrolling by keyboard.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");

  const themes = [["", "Auto"], ["light", "Light"], ["dark", "Dark"]];
  const button = document.querySelector("button.theme");
  const tell = () => {
    const [, name] = themes.find(([value]) => value === (root.dataset.theme || ""));
    button.querySelector(".theme-name").textContent = name;
    button.setAttribute("aria-label", `Colours: ${name}`);
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const place = themes.findIndex(([value]) => value === (root.dataset.theme || ""));
    const [next] = themes[(place + 1) % themes.length];
    if (next) root.dataset.theme = next; else delete root.dataset.theme;
    try { if (next) localStorage.setItem("theme", next); else localStorage.removeItem("theme"); } catch {}
    tell();
  });
  tell();

  const menu = document.querySelector("button.menu");
  const contents = document.getElementById("contents");
  if (contents) {
    menu.hidden = false;
    menu.addEventListener("click", () => {
      const open = contents.classList.toggle("open");
      menu.setAttribute("aria-expanded", String(open));
      if (open) { scrollTo(0, 0); contents.querySelector("a").focus(); }
    });
  }

  // What is wider than its place can be scrolled; then it must be reachable by Tab.
  const reach = () => document.querySelectorAll("pre, .tw-body, .tw-formula, .tw-trace").forEach(box => {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  window.tilewiseReach = reach;
  addEventListener("resize", reach);
  addEventListener("load", reach);
  reach();
})();
