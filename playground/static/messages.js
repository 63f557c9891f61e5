// Messages as elements, and lists of them that change in place.
import { renderBlocks, task } from "./blocks.js";
import { clockTime, h, icon, initials, tone } from "./dom.js";
import { emoji, mrkdwn, notesOf } from "./markup.js";

const STREAM_SECONDS = 300; // Slack closes what streams longer
const SLACKBOT = { name: "slackbot", real_name: "Slackbot", label: "app" };

// actions: {act(message, action_id, value), openThread(message), react(message, name), stop(message)}
export function renderMessage(message, state, actions, { inThread }) {
  const author = state.people.get(message.user) ?? SLACKBOT;
  const notes = message.user === state.bot ? notesOf(message.blocks ?? []) : null;
  const context = { people: state.people, channels: state.channels, user: state.user, notes };
  const streaming = message.stream?.state === "streaming" && Date.now() / 1000 - Number(message.ts) < STREAM_SECONDS;
  const body = h("div", { class: streaming ? "body streaming" : "body", "aria-busy": String(streaming) });
  if (message.stream?.plan) body.append(h("p", { class: "heading" }, message.stream.plan));
  for (const item of message.stream?.tasks ?? []) body.append(task(item));
  if (message.blocks?.length) body.append(...renderBlocks(message.blocks, context, (action, value) => actions.act(message, action, value), message.pressed));
  else body.append(h("div", { class: "text" }, mrkdwn(message.text ?? "", context)));
  if (streaming) {
    let last = [...body.querySelectorAll(".text")].at(-1) ?? body;
    while (["DIV", "UL", "OL", "LI", "BLOCKQUOTE", "PRE"].includes(last.lastElementChild?.nodeName) || (last.classList.contains("text") && last.lastElementChild)) last = last.lastElementChild;
    last.append(h("span", { class: "caret", "aria-hidden": "true" }));
  }
  return h(
    "article",
    { class: message.only_for_you ? "message private" : "message", dataset: { ts: message.ts, author: author.name, streaming: String(streaming) }, "aria-label": `${author.real_name}, ${clockTime(message.ts)}` },
    message.only_for_you ? h("p", { class: "only-you" }, "Only visible to you") : null,
    message.user === state.bot ? h("img", { class: "avatar", src: "/static/mark.svg", alt: "" }) : h("span", { class: `avatar ${tone(message.user)}`, "aria-hidden": "true" }, initials(author.real_name)),
    h(
      "div",
      { class: "content" },
      h(
        "p",
        { class: "byline" },
        h("strong", {}, author.real_name.replace(/ \(.*\)$/, "")),
        author.label ? h("span", { class: "label" }, author.label) : null,
        h("time", { datetime: new Date(Number(message.ts) * 1000).toISOString() }, clockTime(message.ts)),
        message.edited && message.user !== state.bot ? h("span", { class: "edited" }, "(edited)") : null,
      ),
      body,
      reactions(message, state, actions),
      inThread ? null : threadLine(message, state, actions),
    ),
    message.only_for_you ? null : tools(message, actions, inThread, streaming),
  );
}

function reactions(message, state, actions) {
  if (!message.reactions?.length) return null;
  return h(
    "div",
    { class: "reactions" },
    ...message.reactions.map((reaction) =>
      h(
        "button",
        {
          type: "button",
          class: "reaction",
          "aria-pressed": String(reaction.users.includes(state.user)),
          "aria-label": `${reaction.name}, ${reaction.count}`,
          dataset: { focus: `reaction:${reaction.name}` },
          onclick: () => actions.react(message, reaction.name),
        },
        emoji(reaction.name) ?? `:${reaction.name}:`,
        ` ${reaction.count}`,
      ),
    ),
  );
}

function threadLine(message, state, actions) {
  const replies = state.thread(message.channel, message.ts).filter((reply) => reply.ts !== message.ts);
  const status = state.statuses.get(`${message.channel}:${message.ts}`);
  if (!replies.length && !status) return null;
  const busy = status || replies.some((reply) => reply.stream?.state === "streaming");
  const count = replies.length === 1 ? "1 reply" : `${replies.length} replies`;
  return h(
    "button",
    { type: "button", class: "replies", dataset: { focus: "replies" }, onclick: () => actions.openThread(message) },
    replies.length ? h("strong", {}, count) : null,
    h("span", { class: busy ? "busy" : "" }, busy ? status || "is answering…" : `Last reply ${clockTime(replies.at(-1).ts)}`),
  );
}

function tools(message, actions, inThread, streaming) {
  return h(
    "div",
    { class: "tools" },
    h("button", { type: "button", class: "icon", "aria-label": "React with thumbs up", title: "React", onclick: () => actions.react(message, "+1") }, icon("smile")),
    inThread ? null : h("button", { type: "button", class: "icon", "aria-label": "Reply in thread", title: "Reply in thread", onclick: () => actions.openThread(message) }, icon("reply")),
    streaming ? h("button", { type: "button", class: "stop", onclick: () => actions.stop(message) }, "Stop") : null,
  );
}

// Down to the end, but never past the beginning of the last message, where reading starts.
function follow(place) {
  const top = place.lastElementChild ? place.lastElementChild.offsetTop - place.offsetTop - 8 : 0;
  place.scrollTop = Math.min(top, place.scrollHeight - place.clientHeight);
}

// A list that keeps what has not changed, the reader's place, and the focus.
export function makeList(place) {
  let shown = new Map();
  function make(item) {
    const old = shown.get(item.key);
    if (old?.version === item.version) return old;
    const element = item.make();
    if (old) {
      const focus = old.element.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
      old.element.replaceWith(element);
      if (focus) element.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
    }
    return { version: item.version, element };
  }
  return {
    clear() {
      shown = new Map();
      place.replaceChildren();
    },
    // items: [{key, version, make}]
    show(items) {
      const stay = place.scrollHeight - place.scrollTop - place.clientHeight < 90;
      shown = new Map(items.map((item) => [item.key, make(item)]));
      let next = place.firstElementChild;
      for (const { element } of shown.values()) {
        if (element === next) next = next.nextElementSibling;
        else place.insertBefore(element, next);
      }
      while (next) {
        const gone = next;
        next = next.nextElementSibling;
        gone.remove();
      }
      if (stay) follow(place);
    },
  };
}
