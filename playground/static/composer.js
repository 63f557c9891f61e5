// Where a person writes. Enter sends, Shift+Enter breaks the line; "@" and "/" offer what there is.
import { fill, h, icon } from "./dom.js";

// options: {id, placeholder, people(): [{name, real_name}], commands(): [string], submit(text): Promise}
export function makeComposer(options) {
  const list = h("div", { class: "offers", role: "listbox", id: `${options.id}-offers`, "aria-label": "Suggestions", hidden: true });
  const area = h("textarea", {
    id: options.id,
    rows: 1,
    placeholder: options.placeholder,
    "aria-label": options.placeholder,
    "aria-controls": `${options.id}-offers`,
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "true",
  });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "send", "aria-label": "Send", disabled: true }, icon("send"));
  const form = h("form", { class: "composer" }, problem, list, h("div", { class: "box" }, area, button));
  let offers = [];
  let chosen = 0;

  function grow() {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 220)}px`;
    button.disabled = !area.value.trim();
  }

  function offer() {
    const before = area.value.slice(0, area.selectionStart);
    const mention = /(?:^|\s)@([a-z0-9._-]*)$/i.exec(before);
    const command = /^\/([a-z-]*)$/i.exec(before);
    if (mention) {
      const wanted = mention[1].toLowerCase();
      offers = options.people().filter((person) => person.name.startsWith(wanted) && person.name !== wanted)
        .map((person) => ({ text: `@${person.name}`, note: person.real_name, from: before.length - wanted.length - 1 }));
    } else if (command) {
      offers = options.commands().filter((name) => name.startsWith(before) && name !== before).map((name) => ({ text: name, note: "", from: 0 }));
    } else offers = [];
    chosen = 0;
    draw();
  }

  function draw() {
    list.hidden = !offers.length;
    fill(
      list,
      offers.map((item, number) =>
        h(
          "div",
          { role: "option", id: `${options.id}-offer-${number}`, "aria-selected": String(number === chosen), onmousedown: (event) => (event.preventDefault(), take(number)) },
          h("strong", {}, item.text),
          ` ${item.note}`,
        ),
      ),
    );
    if (offers.length) area.setAttribute("aria-activedescendant", `${options.id}-offer-${chosen}`);
    else area.removeAttribute("aria-activedescendant");
  }

  function take(number) {
    const item = offers[number];
    area.setRangeText(`${item.text} `, item.from, area.selectionStart, "end");
    offers = [];
    draw();
    grow();
  }

  function complain(text) {
    problem.textContent = text;
    problem.hidden = !text;
  }

  async function submit() {
    const text = area.value;
    if (!text.trim()) return;
    area.value = "";
    offers = [];
    draw();
    grow();
    complain("");
    try {
      await options.submit(text.trim());
    } catch (error) {
      if (!area.value) area.value = text;
      grow();
      complain(error.message);
    }
  }

  area.addEventListener("input", () => (grow(), offer(), complain("")));
  area.addEventListener("blur", () => ((offers = []), draw()));
  area.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (offers.length && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : offers.length - 1)) % offers.length;
      draw();
      event.preventDefault();
    } else if (offers.length && ["Enter", "Tab"].includes(event.key)) {
      take(chosen);
      event.preventDefault();
    } else if (offers.length && event.key === "Escape") {
      offers = [];
      draw();
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    }
  });
  form.addEventListener("submit", (event) => (event.preventDefault(), submit()));
  return {
    element: form,
    focus: () => area.focus(),
    put(text) {
      area.value = text;
      grow();
      area.focus();
    },
    placeholder(text) {
      area.placeholder = text;
      area.setAttribute("aria-label", text);
    },
  };
}
