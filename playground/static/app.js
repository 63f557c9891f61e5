// The page: what there is to show, what is open, and what a person does.
import { listen, send } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { makeComposer } from "./composer.js";
import { byId, fill, h, icon, initials, tone } from "./dom.js";
import { makeList, renderMessage } from "./messages.js";
import { showModal } from "./modal.js";
import { parseSource, showSource } from "./source.js";
import { keep, replace, state } from "./state.js";

const wanted = new URLSearchParams(location.hash.slice(1));
const main = makeList(byId("messages"));
const replies = makeList(byId("thread-messages"));
const fading = new Map();
let stop = null;
let sourceOpener = null;
let threadOpener = null;

const composer = makeComposer({ id: "composer", placeholder: "Message", people: mentionable, commands: () => state.commands, submit: (text) => write(text, "") });
const threadComposer = makeComposer({ id: "thread-composer", placeholder: "Reply…", people: mentionable, commands: () => [], submit: (text) => write(text, state.openThread) });

function mentionable() {
  const members = new Set(state.channels.get(state.channel)?.members ?? []);
  return [...state.people.values()].filter((person) => members.has(person.id) && person.id !== state.user).sort((a) => (a.id === state.bot ? -1 : 0));
}

// the feed

const on = {
  state(picture) {
    replace(picture);
    if (!state.channels.has(state.channel)) {
      const asked = [...state.channels.values()].find((channel) => [channel.id, channel.name].includes(wanted.get("in")));
      const first = asked ?? [...state.channels.values()].find((channel) => channel.members.includes(state.bot)) ?? [...state.channels.values()][0];
      state.channel = first?.id ?? "";
      state.openThread = asked ? (wanted.get("thread") ?? "") : "";
      wanted.delete("in");
    }
    showModal(picture.modal, state, report);
    drawAll();
    openWaiting();
  },
  message(message) {
    keep(message);
    draw();
  },
  gone({ channel, ts }) {
    state.messages.get(channel)?.delete(ts);
    draw();
  },
  status({ channel, thread_ts, status }) {
    const key = `${channel}:${thread_ts}`;
    clearTimeout(fading.get(key));
    if (status) {
      state.statuses.set(key, status);
      fading.set(key, setTimeout(() => on.status({ channel, thread_ts, status: "" }), 120_000)); // as Slack does
    } else state.statuses.delete(key);
    draw();
  },
  home({ view }) {
    state.home = view;
    drawHome();
  },
  modal: ({ view }) => showModal(view, state, report),
  connected({ connected }) {
    state.connected = connected;
    drawConnection();
  },
  offline() {
    fill(byId("connection"), "the playground is not running");
    byId("connection").dataset.state = "off";
  },
};

// drawing

function drawAll() {
  drawConnection();
  drawLists();
  drawActing();
  main.clear();
  replies.clear();
  draw();
  drawHome();
}

function drawConnection() {
  const place = byId("connection");
  fill(place, state.connected ? "bot connected" : "no bot connected");
  place.dataset.state = state.connected ? "on" : "off";
}

function drawActing() {
  const people = [...state.people.values()].filter((person) => person.can_act);
  fill(byId("acting"), people.map((person) => h("option", { value: person.id, selected: person.id === state.user }, person.real_name)));
}

function drawLists() {
  const channels = [...state.channels.values()];
  const entry = (channel, sign) =>
    h(
      "button",
      { type: "button", class: "entry", "aria-current": state.channel === channel.id ? "page" : null, dataset: { channel: channel.id, focus: channel.id }, onclick: () => openChannel(channel.id) },
      sign,
      h("span", {}, channel.name),
      channel.shared ? icon("shared") : null,
    );
  const hash = () => h("span", { class: "sign", "aria-hidden": "true" }, "#");
  const directs = channels.filter((channel) => channel.kind === "im" && channel.other !== state.bot);
  const bot = state.people.get(state.bot);
  const direct = channels.find((channel) => channel.other === state.bot);
  fill(
    byId("lists"),
    h("h2", {}, "Channels"),
    channels.filter((channel) => channel.kind !== "im").map((channel) => entry(channel, channel.kind === "group" ? icon("lock") : hash())),
    directs.length ? h("h2", {}, "Direct messages") : null,
    directs.map((channel) => entry(channel, h("span", { class: `avatar small ${tone(channel.other)}`, "aria-hidden": "true" }, initials(channel.name)))),
    h("h2", {}, "Apps"),
    bot
      ? h(
          "button",
          { type: "button", class: "entry", id: "app-entry", "aria-current": direct && state.channel === direct.id ? "page" : null, onclick: openApp },
          h("img", { class: "avatar small", src: "/static/mark.svg", alt: "" }),
          h("span", {}, bot.real_name),
        )
      : null,
  );
}

function draw() {
  const channel = state.channels.get(state.channel);
  if (!channel) return;
  const app = channel.other === state.bot;
  const sign = channel.kind === "im" ? null : channel.kind === "group" ? icon("lock") : h("span", { class: "sign" }, "#");
  fill(byId("channel-name"), sign, channel.name);
  byId("channel-purpose").textContent = channel.purpose;
  byId("members").textContent = channel.kind === "im" ? "" : `${channel.members.length} members`;
  byId("tabs").hidden = !app;
  if (app) {
    fill(
      byId("tabs"),
      ["home", "messages"].map((tab) =>
        h("button", { type: "button", "aria-pressed": String(state.tab === tab), onclick: () => openTab(tab) }, tab === "home" ? "Home" : "Messages"),
      ),
    );
  }
  const home = app && state.tab === "home";
  byId("home").hidden = !home;
  byId("messages").hidden = home;
  byId("composer-place").hidden = home;
  const all = state.of(state.channel);
  const top = all.filter((message) => !message.thread_ts || message.thread_ts === message.ts);
  const versions = new Map();
  for (const message of all) if (message.thread_ts) versions.set(message.thread_ts, `${versions.get(message.thread_ts) ?? ""}${message.ts}${message.stream?.state ?? ""}`);
  const items = top.map((message) => ({
    key: message.ts,
    version: `${message.version}:${versions.get(message.ts) ?? ""}:${state.statuses.get(`${state.channel}:${message.ts}`) ?? ""}`,
    make: () => renderMessage(message, state, actions, { inThread: false }),
  }));
  if (!items.length) items.push({ key: "welcome", version: state.channel, make: () => welcome(channel) });
  main.show(items);
  composer.placeholder(channel.kind === "im" ? `Message ${channel.name}` : `Message #${channel.name}`);
  drawThread();
  remember();
}

function drawThread() {
  const root = state.messages.get(state.channel)?.get(state.openThread);
  if (!root && state.openThread && state.of(state.channel).length) state.openThread = "";
  const open = Boolean(root);
  byId("thread").hidden = !open;
  byId("app").dataset.thread = String(open);
  if (!open) return;
  byId("thread-channel").textContent = state.channels.get(state.channel).kind === "im" ? state.channels.get(state.channel).name : `#${state.channels.get(state.channel).name}`;
  const items = state.thread(state.channel, root.ts).map((message) => ({
    key: message.ts,
    version: message.version,
    make: () => renderMessage(message, state, actions, { inThread: true }),
  }));
  const status = state.statuses.get(`${state.channel}:${root.ts}`);
  if (status) items.push({ key: "status", version: status, make: () => h("p", { class: "status", role: "status" }, h("strong", {}, state.people.get(state.bot)?.real_name ?? ""), ` ${status}`) });
  replies.show(items);
}

function drawHome() {
  const context = { people: state.people, channels: state.channels, user: state.user };
  const act = (action_id, value) => report(send("click", { user: state.user, home: true, action_id, value }));
  const blocks = state.home ? renderBlocks(state.home.blocks ?? [], context, act) : [h("p", { class: "empty" }, "The app has not published a Home tab for you yet.")];
  fill(byId("home"), h("div", { class: "home-inner" }, ...blocks));
}

function welcome(channel) {
  const inside = channel.members.includes(state.bot);
  const fillIn = (text) => h("button", { type: "button", class: "idea", onclick: () => composer.put(text) }, text);
  const name = state.people.get(state.bot)?.name ?? "";
  if (!inside) {
    const invite = h("button", { type: "button", class: "button primary", onclick: () => report(send("invite", { user: state.user, channel: channel.id, person: state.bot })) }, `Invite @${name}`);
    return h("div", { class: "welcome" }, h("p", { class: "welcome-title" }, `@${name} is not in this channel.`), h("p", {}, "It hears nothing that is said here."), channel.kind === "im" ? null : invite);
  }
  const prefix = channel.kind === "im" ? "" : `@${name} `;
  return h(
    "div",
    { class: "welcome" },
    h("p", { class: "welcome-title" }, channel.kind === "im" ? `Ask ${channel.name} about a repository` : `Ask @${name} about a repository`),
    h("p", {}, "The answer comes in a thread, written as you watch. Each footnote in it opens the cited lines."),
    h("div", { class: "ideas" }, fillIn(`${prefix}Where does this repository read its configuration?`), fillIn(`${prefix}How are the tests run?`), ...state.commands.map((command) => fillIn(`${command} list`))),
  );
}

// doing

const actions = {
  act: (message, action_id, value) => report(send("click", { user: state.user, channel: message.channel, ts: message.ts, action_id, value })),
  openThread(message) {
    threadOpener = message.ts;
    openThread(message.ts, true);
  },
  react(message, name) {
    const mine = message.reactions?.find((reaction) => reaction.name === name)?.users.includes(state.user);
    report(send("react", { user: state.user, channel: message.channel, ts: message.ts, name, remove: Boolean(mine) }));
  },
  stop: (message) => report(send("stop", { user: state.user, channel: message.channel, thread_ts: message.thread_ts || message.ts })),
};
function report(work) {
  work.catch((error) => {
    const note = h("div", { class: "toast", role: "alert" }, error.message);
    document.body.append(note);
    setTimeout(() => note.remove(), 6000);
  });
}

async function write(text, thread) {
  const command = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(text);
  if (command && !thread) {
    if (!state.commands.includes(command[1])) throw new Error(`${command[1]} is not a command here: there is ${state.commands.join(", ")}.`);
    await send("command", { user: state.user, channel: state.channel, command: command[1], text: command[2] ?? "" });
    return;
  }
  const { ts } = await send("say", { user: state.user, channel: state.channel, text, thread_ts: thread });
  byId(thread ? "thread-messages" : "messages").scrollTop = 1e9;
  const direct = state.channels.get(state.channel)?.other === state.bot;
  const name = state.people.get(state.bot)?.name;
  const heard = state.channels.get(state.channel)?.members.includes(state.bot);
  if (!thread && heard && (direct || new RegExp(`(^|\\W)@${name}\\b`).test(text) || text.includes(`<@${state.bot}>`))) openThread(ts, false);
}

function openChannel(id) {
  state.channel = id;
  state.openThread = "";
  state.tab = "messages";
  closeSource();
  showMenu(false);
  main.clear();
  replies.clear();
  drawLists();
  draw();
  if (matchMedia("(min-width: 760px)").matches) composer.focus();
}

async function openApp() {
  const { channel } = await send("direct", { user: state.user, other: state.bot });
  state.opening = channel; // a new conversation arrives by the feed
  openWaiting();
}

function openWaiting() {
  if (!state.channels.has(state.opening)) return;
  openChannel(state.opening);
  state.opening = "";
  openTab("home");
}

function openTab(tab) {
  state.tab = tab;
  draw();
  report(send("home", { user: state.user, tab }));
}

function openThread(ts, focus) {
  state.openThread = ts;
  closeSource();
  replies.clear();
  draw();
  if (focus) threadComposer.focus();
}

function closeThread() {
  const opener = document.querySelector(`#messages [data-ts="${CSS.escape(threadOpener ?? state.openThread)}"] .replies`);
  state.openThread = "";
  closeSource();
  draw();
  opener?.focus();
}

function openSource(cited, opener) {
  sourceOpener = opener;
  byId("source").hidden = false;
  byId("app").dataset.source = "true";
  document.querySelectorAll("[data-citation][aria-current]").forEach((other) => other.removeAttribute("aria-current"));
  opener?.setAttribute("aria-current", "true");
  showSource(byId("source"), cited, closeSource).then(() => byId("source").querySelector(".source-body")?.focus({ preventScroll: true }));
}

function closeSource() {
  if (byId("source").hidden) return;
  byId("source").hidden = true;
  byId("app").dataset.source = "false";
  document.querySelectorAll("[data-citation][aria-current]").forEach((other) => other.removeAttribute("aria-current"));
  if (sourceOpener?.isConnected) sourceOpener.focus();
  sourceOpener = null;
}

function showMenu(open) {
  byId("app").dataset.menu = String(open);
  byId("menu").setAttribute("aria-expanded", String(open));
}

function remember() {
  const parameters = new URLSearchParams({ as: state.people.get(state.user)?.name ?? "", in: state.channel });
  if (state.openThread) parameters.set("thread", state.openThread);
  history.replaceState(null, "", `#${parameters}`);
}

function actAs(user) {
  stop?.();
  state.channel = state.channels.has(state.channel) ? state.channel : "";
  closeSource();
  stop = listen(user, on);
}

// starting

document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a[data-citation]");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  const cited = parseSource(anchor.href);
  if (cited === null) return;
  event.preventDefault();
  openSource(cited, anchor);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || byId("modal").open) return;
  if (!byId("source").hidden) closeSource();
  else if (byId("app").dataset.menu === "true") showMenu(false);
  else if (!byId("thread").hidden) closeThread();
});
byId("composer-place").append(composer.element);
byId("thread-composer-place").append(threadComposer.element);
byId("menu").append(icon("menu"));
byId("menu").addEventListener("click", () => showMenu(byId("app").dataset.menu !== "true"));
byId("main").addEventListener("click", (event) => byId("app").dataset.menu === "true" && !event.target.closest("#menu") && showMenu(false));
byId("thread-close").append(icon("close"));
byId("thread-close").addEventListener("click", closeThread);
byId("acting").addEventListener("change", (event) => actAs(event.target.value));
document.querySelector(".skip").addEventListener("click", (event) => (event.preventDefault(), composer.focus()));
actAs(wanted.get("as") || "maya");
