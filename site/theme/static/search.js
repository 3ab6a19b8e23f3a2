// Search without a server: Pagefind's index lies beside the pages.
const form = document.querySelector("form.search");
const field = document.getElementById("query");
const found = document.querySelector(".found");
const list = document.querySelector(".results");
const root = new URL(form.dataset.root.replace(/index\.html$/, "") || "./", location.href);
const MOST = 30;

let engine;
async function ready() {
  if (!engine) {
    engine = await import(new URL("pagefind/pagefind.js", root));
    await engine.options({ excerptLength: 28 });
    await engine.init();
    // Each language has an index of its own, and everybody may look in all of them.
    await engine.mergeIndex(new URL("pagefind/", root).href, { language: "zh-hans" });
  }
  return engine;
}

let newest = 0;
async function search() {
  const mine = ++newest;
  const words = field.value.trim();
  history.replaceState(null, "", words ? `?q=${encodeURIComponent(words)}` : location.pathname);
  if (!words) { list.replaceChildren(); found.textContent = ""; return; }
  try {
    const pagefind = await ready();
    const { results } = await pagefind.search(words);
    const pages = await Promise.all(results.slice(0, MOST).map(result => result.data()));
    if (mine !== newest) return;
    list.replaceChildren(...pages.map(entry));
    const count = results.length;
    found.textContent = count ? `${count} page${count > 1 ? "s" : ""} found` : `Nothing found for “${words}”`;
  } catch (error) {
    if (mine !== newest) return;
    found.textContent = location.protocol === "file:"
      ? "The search needs a web server, any one: python -m http.server in this folder."
      : `The search did not load: ${error.message}`;
  }
}

function entry(page) {
  // The part of the page in which the words stand most often.
  const best = page.sub_results.reduce((most, part) => part.locations.length > (most.locations || []).length ? part : most, page.sub_results[0] || page);
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = best.url || page.url;
  link.textContent = best.title && best.title !== page.meta.title ? `${page.meta.title}: ${best.title}` : page.meta.title;
  const text = document.createElement("p");
  text.innerHTML = best.excerpt || page.excerpt;  // escaped by Pagefind, with <mark>
  item.append(link, text);
  return item;
}

field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", search);
form.addEventListener("submit", event => { event.preventDefault(); search(); });
if (field.value) search();
field.focus();
