// Block Kit as elements. `act(action_id, value, element)` is called when something is pressed or chosen.
import { h, icon, safeUrl } from "./dom.js";
import { emoji, link, markdown, mrkdwn, unescape } from "./markup.js";

export function renderBlocks(blocks, context, act, pressed = {}) {
  return blocks.map((block) => one(block, context, act, pressed)).filter(Boolean);
}

function one(block, context, act, pressed) {
  switch (block.type) {
    case "markdown":
      return h("div", { class: "text" }, markdown(block.text ?? "", context));
    case "section":
      return h(
        "div",
        { class: "section" },
        h(
          "div",
          { class: "text" },
          block.text ? textObject(block.text, context) : null,
          block.fields ? h("div", { class: "fields" }, ...block.fields.map((field) => h("div", {}, textObject(field, context)))) : null,
        ),
        block.accessory ? element(block.accessory, block, context, act, pressed) : null,
      );
    case "header":
      return h("p", { class: "header", role: "heading", "aria-level": 3 }, plain(block.text));
    case "divider":
      return h("hr");
    case "context":
      return h("div", { class: "context" }, ...(block.elements ?? []).map((item) => (item.type === "image" ? null : h("span", {}, textObject(item, context)))));
    case "actions":
    case "context_actions":
      return h("div", { class: block.type === "actions" ? "actions" : "actions quiet" }, ...(block.elements ?? []).map((item) => element(item, block, context, act, pressed)));
    case "rich_text":
      return h("div", { class: "text" }, ...(block.elements ?? []).map((item) => richBlock(item, context)));
    case "image":
      return h("p", { class: "text" }, safeUrl(block.image_url) ? link(block.image_url, block.alt_text || "image") : (block.alt_text ?? ""));
    case "task_card":
      return task({ title: block.title, status: block.status, details: "" });
    case "input":
      return input(block);
    case "table":
      return h("div", { class: "table" }, h("table", {}, ...(block.rows ?? []).map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell.text ?? ""))))));
    default:
      return h("p", { class: "unknown" }, `[${block.type}]`);
  }
}

const plain = (object) => unescape(String(object?.text ?? "")).replace(/:([a-z0-9_+-]+):/g, (whole, name) => emoji(name) ?? whole);

function textObject(object, context) {
  return object.type === "mrkdwn" ? mrkdwn(object.text ?? "", context) : h("p", {}, plain(object));
}

function element(item, block, context, act, pressed) {
  switch (item.type) {
    case "feedback_buttons": {
      const button = (side, name) => {
        const data = item[`${side}_button`] ?? {};
        const on = pressed[item.action_id] === data.value;
        return h(
          "button",
          {
            type: "button",
            class: `thumb thumb-${name}`,
            "aria-pressed": String(on),
            "aria-label": data.accessibility_label ?? plain(data.text),
            title: plain(data.text),
            dataset: { focus: `${item.action_id}:${side}` },
            onclick: () => act(item.action_id, data.value, item),
          },
          icon(name),
        );
      };
      return h("span", { class: "thumbs", role: "group", "aria-label": "Was this answer helpful?" }, button("positive", "up"), button("negative", "down"));
    }
    case "button":
    case "icon_button": {
      if (item.url && safeUrl(item.url)) {
        const made = link(item.url, plain(item.text));
        made.classList.add("button");
        made.addEventListener("click", () => act(item.action_id, item.value, item));
        return made;
      }
      const style = ["primary", "danger"].includes(item.style) ? ` ${item.style}` : "";
      return h("button", { type: "button", class: `button${style}`, dataset: { focus: item.action_id ?? "" }, onclick: () => act(item.action_id, item.value, item) }, plain(item.text));
    }
    case "static_select":
    case "overflow":
    case "radio_buttons": {
      const options = [...(item.options ?? []), ...(item.option_groups ?? []).flatMap((group) => group.options)];
      const select = h(
        "select",
        { "aria-label": plain(item.placeholder) || "Choose", dataset: { focus: item.action_id ?? "" } },
        h("option", { value: "" }, plain(item.placeholder) || (item.type === "overflow" ? "More" : "Choose")),
        ...options.map((option) => h("option", { value: option.value, selected: item.initial_option?.value === option.value }, plain(option.text))),
      );
      select.addEventListener("change", () => select.value && act(item.action_id, select.value, item));
      return select;
    }
    default:
      return h("span", { class: "unknown" }, `[${item.type}]`);
  }
}

function input(block) {
  const item = block.element ?? {};
  const id = `${block.block_id}:${item.action_id}`;
  let field;
  if (["static_select", "radio_buttons"].includes(item.type)) {
    field = h("select", { id }, ...(item.options ?? []).map((option) => h("option", { value: option.value }, plain(option.text))));
  } else {
    field = h(item.multiline ? "textarea" : "input", { id, placeholder: plain(item.placeholder), rows: item.multiline ? 4 : null, maxlength: item.max_length ?? 3000 });
    field.value = item.initial_value ?? "";
  }
  field.required = !block.optional;
  Object.assign(field.dataset, { block: block.block_id, action: item.action_id, kind: item.type });
  const hint = block.hint ? h("small", {}, plain(block.hint)) : null;
  return h("div", { class: "input" }, h("label", { for: id }, plain(block.label), block.optional ? h("small", {}, " (optional)") : null), field, hint);
}

function richBlock(item, context) {
  const inside = () => (item.elements ?? []).map((part) => richPart(part, context));
  switch (item.type) {
    case "rich_text_list":
      return h(item.style === "ordered" ? "ol" : "ul", {}, ...(item.elements ?? []).map((entry) => h("li", {}, ...(entry.elements ?? []).map((part) => richPart(part, context)))));
    case "rich_text_preformatted":
      return h("pre", {}, h("code", {}, ...inside()));
    case "rich_text_quote":
      return h("blockquote", {}, ...inside());
    default:
      return h("p", {}, ...inside());
  }
}

function richPart(part, context) {
  switch (part.type) {
    case "text": {
      const lines = String(part.text).split("\n").flatMap((line, number) => (number ? [h("br"), line] : [line]));
      if (part.style?.code) return h("code", {}, ...lines);
      if (part.style?.bold) return h("strong", {}, ...lines);
      if (part.style?.italic) return h("em", {}, ...lines);
      return h("span", {}, ...lines);
    }
    case "user":
      return h("span", { class: part.user_id === context.user ? "mention mention-me" : "mention" }, `@${context.people.get(part.user_id)?.name ?? part.user_id}`);
    case "channel":
      return h("span", { class: "mention" }, `#${context.channels.get(part.channel_id)?.name ?? part.channel_id}`);
    case "broadcast":
      return h("span", { class: "mention mention-me" }, `@${part.range}`);
    case "link":
      return link(part.url, part.text ?? part.url);
    case "emoji":
      return document.createTextNode(emoji(part.name) ?? `:${part.name}:`);
    default:
      return document.createTextNode("");
  }
}

export function task(item) {
  const state = ["pending", "in_progress", "complete", "error"].includes(item.status) ? item.status : "pending";
  const words = { pending: "waiting", in_progress: "in progress", complete: "done", error: "failed" }[state];
  return h(
    "div",
    { class: `task task-${state}` },
    h("span", { class: "task-dot", role: "img", "aria-label": words }),
    h("span", {}, item.title ?? "", item.details ? h("small", {}, ` ${item.details}`) : null, item.output ? h("small", {}, ` — ${item.output}`) : null),
    ...(item.sources ?? []).map((source) => link(source.url, source.text ?? source.url)),
  );
}
