// Slack's two markups as elements: Markdown (markdown blocks, streams) and mrkdwn (text, section blocks).
import { h, safeUrl } from "./dom.js";

const EMOJI = {
  "+1": "👍", thumbsup: "👍", "-1": "👎", thumbsdown: "👎", white_check_mark: "✅", heavy_check_mark: "✔️", warning: "⚠️", x: "❌",
  eyes: "👀", tada: "🎉", book: "📖", books: "📚", mag: "🔍", wave: "👋", bulb: "💡", hourglass_flowing_sand: "⏳", lock: "🔒", heart: "❤️",
  thinking_face: "🤔", information_source: "ℹ️", rocket: "🚀", memo: "📝", link: "🔗", no_entry: "⛔", arrows_counterclockwise: "🔄",
};
export const emoji = (name) => EMOJI[name.replace(/::skin-tone-\d$/, "")] ?? null;
export const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// context: { people: Map, channels: Map, user: id, notes: Map of a footnote's number -> its address, or null where there are no footnotes }

// A footnote's number in running text: a link as soon as the message says where it leads.
export function note(number, url) {
  return url ? link(url, number) : h("span", { class: "note" }, number);
}

// Where a message's footnotes lead, from its lines like "[1] <address|path:10-20>".
export function notesOf(blocks) {
  const notes = new Map();
  for (const block of blocks) {
    const text = block.type === "section" && block.text?.type === "mrkdwn" ? String(block.text.text) : "";
    for (const match of text.matchAll(/^\[(\d{1,3})\] <(https?:[^|>\s]+)[|>]/gm)) notes.set(match[1], unescape(match[2]));
  }
  return notes;
}

export function link(url, label) {
  const safe = safeUrl(url);
  const content = Array.isArray(label) ? label : [label];
  if (safe === null) return h("span", {}, ...content);
  const parsed = new URL(safe);
  if (parsed.origin === location.origin && parsed.pathname.startsWith("/source/")) {
    const text = content.map((part) => (typeof part === "string" ? part : part.textContent)).join("").trim();
    const number = /^[\[(]?(\d{1,3})[\])]?$/.exec(text);
    if (number) return h("a", { class: "note", href: safe, "data-citation": "", "aria-label": `Footnote ${number[1]}` }, number[1]);
    return h("a", { class: "citation", href: safe, "data-citation": "" }, ...content);
  }
  return h("a", { href: safe, rel: "noopener noreferrer nofollow", target: "_blank" }, ...content);
}

function reference(inner, context) {
  const [target, label] = inner.split("|", 2);
  if (target.startsWith("@")) {
    const person = context.people.get(target.slice(1));
    return h("span", { class: target.slice(1) === context.user ? "mention mention-me" : "mention" }, `@${person?.name ?? label ?? target.slice(1)}`);
  }
  if (target.startsWith("#")) return h("span", { class: "mention" }, `#${context.channels.get(target.slice(1))?.name ?? label ?? target.slice(1)}`);
  if (target.startsWith("!")) return h("span", { class: "mention mention-me" }, `@${label ?? target.slice(1).split("^")[0]}`);
  const url = unescape(target);
  return safeUrl(url) && /^https?:/i.test(url) ? link(url, unescape(label ?? target)) : document.createTextNode(unescape(`<${inner}>`));
}

// mrkdwn

const MRKDWN = /```([\s\S]*?)```|`([^`\n]+)`|<([^<>\n]+)>|(?<![\w*])\*(\S(?:[^*\n]*?\S)?)\*(?![\w*])|(?<![\w_])_(\S(?:[^_\n]*?\S)?)_(?![\w_])|(?<![\w~])~(\S(?:[^~\n]*?\S)?)~(?![\w~])|:([a-z0-9_+-]+):|^\[(\d{1,3})\](?= <)|\n/gm;

export function mrkdwn(text, context) {
  const out = document.createDocumentFragment();
  let quoted = [];
  const flush = () => {
    if (quoted.length) out.append(h("blockquote", {}, inlineMrkdwn(quoted.join("\n"), context)));
    quoted = [];
  };
  const fenced = text.split(/(```[\s\S]*?```)/);
  for (const part of fenced) {
    if (part.startsWith("```")) {
      flush();
      out.append(inlineMrkdwn(part, context));
      continue;
    }
    const lines = part.split("\n");
    let plain = [];
    const flushPlain = () => {
      if (plain.some((line) => line !== "")) out.append(h("p", {}, inlineMrkdwn(plain.join("\n"), context)));
      plain = [];
    };
    for (const line of lines) {
      const quote = /^(?:&gt;|>)\s?(.*)$/.exec(line);
      if (quote) {
        flushPlain();
        quoted.push(quote[1]);
      } else {
        flush();
        plain.push(line);
      }
    }
    flushPlain();
  }
  flush();
  return out;
}

function inlineMrkdwn(text, context) {
  const out = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(MRKDWN)) {
    out.append(unescape(text.slice(end, match.index)));
    end = match.index + match[0].length;
    const [whole, block, code, angle, bold, italic, strike, name, number] = match;
    if (block !== undefined) out.append(h("pre", {}, h("code", {}, unescape(block.replace(/^\n/, "")))));
    else if (code !== undefined) out.append(h("code", {}, unescape(code)));
    else if (angle !== undefined) out.append(reference(angle, context));
    else if (bold !== undefined) out.append(h("strong", {}, inlineMrkdwn(bold, context)));
    else if (italic !== undefined) out.append(h("em", {}, inlineMrkdwn(italic, context)));
    else if (strike !== undefined) out.append(h("s", {}, inlineMrkdwn(strike, context)));
    else if (name !== undefined) out.append(emoji(name) ?? whole);
    else if (number !== undefined) out.append(context.notes ? note(number, context.notes.get(number)) : whole);
    else out.append(h("br"));
  }
  out.append(unescape(text.slice(end)));
  return out;
}

// Markdown

export function markdown(text, context) {
  const out = document.createDocumentFragment();
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  let at = 0;
  while (at < lines.length) at = block(lines, at, out, context);
  return out;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;

function block(lines, at, out, context) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end += 1;
    out.append(h("pre", { "data-language": fence[2] }, h("code", {}, unescape(lines.slice(at + 1, end).join("\n")))));
    return end + 1;
  }
  if (!line.trim()) return at + 1;
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
  if (heading) {
    out.append(h("p", { class: "heading", role: "heading", "aria-level": Math.min(6, heading[1].length + 2) }, inline(heading[2], context)));
    return at + 1;
  }
  if (RULE.test(line)) {
    out.append(h("hr"));
    return at + 1;
  }
  if (/^ {0,3}>/.test(line)) {
    let end = at;
    while (end < lines.length && /^ {0,3}>/.test(lines[end])) end += 1;
    out.append(h("blockquote", {}, markdown(lines.slice(at, end).map((quoted) => quoted.replace(/^ {0,3}> ?/, "")).join("\n"), context)));
    return end;
  }
  if (ITEM.test(line)) return list(lines, at, out, context);
  if (line.includes("|") && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "")) return table(lines, at, out, context);
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !FENCE.test(lines[end]) && !ITEM.test(lines[end]) && !/^ {0,3}(#{1,6}\s|>)/.test(lines[end])) end += 1;
  const paragraph = h("p");
  lines.slice(at, end).forEach((part, number) => paragraph.append(...(number ? [h("br")] : []), inline(part.trim(), context)));
  out.append(paragraph);
  return end;
}

function list(lines, at, out, context) {
  const first = ITEM.exec(lines[at]);
  const indent = first[1].length;
  const ordered = /\d/.test(first[2]);
  const element = h(ordered ? "ol" : "ul", { start: ordered ? Number.parseInt(first[2], 10) : null });
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length !== indent || /\d/.test(item[2]) !== ordered) break;
    const inner = [item[3]];
    at += 1;
    while (at < lines.length) {
      const deeper = lines[at].search(/\S/);
      if (deeper === -1 ? (lines[at + 1] ?? "").search(/\S/) <= indent : deeper <= indent) break;
      inner.push(lines[at].slice(Math.min(deeper === -1 ? 0 : deeper, indent + 2)));
      at += 1;
    }
    const body = markdown(inner.join("\n"), context);
    const only = body.childNodes.length >= 1 && body.firstChild.nodeName === "P" ? body.firstChild : null;
    if (only) only.replaceWith(...only.childNodes);
    element.append(h("li", {}, body));
  }
  out.append(element);
  return at;
}

function table(lines, at, out, context) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));
  const head = h("tr", {}, ...cells(lines[at]).map((cell) => h("th", {}, inline(cell, context))));
  const body = h("tbody");
  at += 2;
  while (at < lines.length && lines[at].includes("|")) {
    body.append(h("tr", {}, ...cells(lines[at]).map((cell) => h("td", {}, inline(cell, context)))));
    at += 1;
  }
  out.append(h("div", { class: "table" }, h("table", {}, h("thead", {}, head), body)));
  return at;
}

const BARE = /^https?:\/\/[^\s<>`"]*[^\s<>`".,;:!?)\]}']/;

function inline(text, context, depth = 0) {
  const out = document.createDocumentFragment();
  let plain = "";
  const flush = () => {
    if (plain) out.append(unescape(plain));
    plain = "";
  };
  const put = (node) => {
    flush();
    out.append(node);
  };
  let at = 0;
  while (at < text.length) {
    const rest = text.slice(at);
    const before = text[at - 1] ?? " ";
    let match;
    if ((match = /^\\([\\`*_{}[\]()#+\-.!|<>~])/.exec(rest))) {
      plain += match[1];
      at += 2;
    } else if ((match = /^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/.exec(rest))) {
      put(h("code", {}, unescape(match[2].replace(/^ (.*) $/s, "$1"))));
      at += match[0].length;
    } else if ((match = /^<([@#!][^<>\s]+|https?:\/\/[^<>\s]+)>/.exec(rest))) {
      put(reference(match[1], context));
      at += match[0].length;
    } else if (context.notes && !/\w/.test(before) && (match = /^\[(\d{1,3})\](?!\()/.exec(rest))) {
      put(note(match[1], context.notes.get(match[1])));
      at += match[0].length;
    } else if (depth < 6 && (match = linkAt(rest))) {
      put(link(unescape(match.url), [inline(match.label, context, depth + 1)]));
      at += match.length;
    } else if ((match = BARE.exec(rest)) && !/\w/.test(before)) {
      put(link(match[0], match[0]));
      at += match[0].length;
    } else if (depth < 6 && (match = /^(\*\*|__)(?=\S)([\s\S]*?\S)\1/.exec(rest)) && (match[1] === "**" || !/\w/.test(before))) {
      put(h("strong", {}, inline(match[2], context, depth + 1)));
      at += match[0].length;
    } else if (depth < 6 && (match = /^~~(?=\S)([\s\S]*?\S)~~/.exec(rest))) {
      put(h("s", {}, inline(match[1], context, depth + 1)));
      at += match[0].length;
    } else if (depth < 6 && ((match = /^\*(?=[^\s*])([^*\n]*?[^\s*])\*(?!\*)/.exec(rest)) || (!/\w/.test(before) && (match = /^_(?=[^\s_])([^_\n]*?[^\s_])_(?!\w)/.exec(rest))))) {
      put(h("em", {}, inline(match[1], context, depth + 1)));
      at += match[0].length;
    } else if ((match = /^:([a-z0-9_+-]+):/.exec(rest)) && emoji(match[1])) {
      plain += emoji(match[1]);
      at += match[0].length;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  flush();
  return out;
}

// [label](url "title"), with brackets and parentheses in balance; an image becomes a link to it.
function linkAt(text) {
  const start = text.startsWith("![") ? 2 : text.startsWith("[") ? 1 : 0;
  if (!start) return null;
  const closed = balanced(text, start, "[", "]");
  if (closed < 0 || text[closed + 1] !== "(") return null;
  const end = balanced(text, closed + 2, "(", ")");
  if (end < 0) return null;
  const target = text.slice(closed + 2, end).trim();
  const url = /^<([^<>]*)>/.exec(target)?.[1] ?? target.split(/\s+/)[0];
  if (safeUrl(url) === null || !/^https?:/i.test(url)) return null;
  return { label: text.slice(start, closed) || url, url, length: end + 1 };
}

function balanced(text, at, open, close) {
  let depth = 1;
  for (; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === open) depth += 1;
    else if (text[at] === close && (depth -= 1) === 0) return at;
    else if (text[at] === "\n") return -1;
  }
  return -1;
}
