// Explorers, predictions and quizzes. Every state and every answer came with the page.
"use strict";
(() => {
  for (const box of document.querySelectorAll(".tw-explorer")) {
    const data = JSON.parse(box.querySelector('script[type="application/json"]').textContent);
    const fields = [...box.querySelectorAll("input, select")];
    const stage = box.querySelector(".tw-stage");
    const show = () => {
      let place = 0;
      fields.forEach((field, number) => {
        const value = data.values[number][Number(field.value)];
        place = place * data.values[number].length + Number(field.value);
        if (field.type === "range") {
          field.setAttribute("aria-valuetext", value);
          field.nextElementSibling.textContent = value;
        }
      });
      const text = data.texts[data.states[place]].map(line => data.lines[line]).join("\n");
      if (box.dataset.markup === "yes") stage.innerHTML = text;
      else stage.querySelector("pre").textContent = text;
      window.tilewiseReach();
    };
    fields.forEach(field => field.addEventListener("input", show));
    show();  // a browser may have kept the values of the last visit
  }

  const number = text => {
    const clean = text.trim().replace(/[\s,_]/g, "").replace(/%$/, "");
    const parts = clean.split("/");
    const value = parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(clean);
    return clean && Number.isFinite(value) ? value : null;
  };
  const line = (before, strong) => {
    const paragraph = document.createElement("p");
    paragraph.append(before);
    if (strong) {
      const told = document.createElement("strong");
      told.textContent = strong;
      paragraph.append(told);
    }
    return paragraph;
  };
  for (const form of document.querySelectorAll(".tw-prediction")) {
    const told = form.querySelector(".tw-told");
    form.noValidate = true;
    form.addEventListener("submit", event => {
      event.preventDefault();
      const guess = number(form.querySelector("input").value);
      if (guess === null) {
        told.replaceChildren(line("First predict: a number, also as 1/3 or 1e6. A wrong guess teaches more than none."));
        return;
      }
      const actual = Number(form.dataset.actual);
      const unit = form.dataset.unit ? ` ${form.dataset.unit}` : "";
      const lines = [line("It is ", `${form.dataset.told}${unit}.`)];
      if (guess === actual) lines.push(line("Exactly as you predicted."));
      else if (actual && Math.abs(guess - actual) <= .02 * Math.max(Math.abs(actual), Math.abs(guess))) lines.push(line("As good as exactly what you predicted."));
      else if (actual && guess / actual > 0) lines.push(line(`You predicted ${Number((guess / actual).toPrecision(3))} times that.`));
      told.replaceChildren(...lines);
    });
  }

  for (const group of document.querySelectorAll(".tw-asking fieldset")) {
    const answers = group.querySelectorAll("template");
    const answer = group.querySelector(".tw-answer");
    group.addEventListener("change", event => {
      answer.replaceChildren(answers[Number(event.target.value)].content.cloneNode(true));
      window.tilewiseReach();
    });
  }
})();
