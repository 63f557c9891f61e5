// A cited file: its text with line numbers, the cited lines marked and scrolled into view.
import { fill, h, icon } from "./dom.js";
import { colour } from "./syntax.js";

// {repository, commit, path, start, end, href} of /source/<repository>/blob/<commit>/<path>#L10-L20, or null.
export function parseSource(address) {
  const url = new URL(address, location.href);
  const match = /^\/source\/(.+?)\/blob\/([^/]+)\/(.+)$/.exec(url.pathname);
  if (!match) return null;
  const parts = match.slice(1).map(decoded);
  const lines = /^#L(\d+)(?:-L?(\d+))?$/.exec(url.hash);
  const start = lines ? Number(lines[1]) : 0;
  const end = lines ? Number(lines[2] ?? lines[1]) : 0;
  return { repository: parts[0], commit: parts[1], path: parts[2], start, end: Math.max(start, end), href: url.href };
}

// A name that is not UTF-8 is asked for as it is shown: each byte that is none as \xNN.
function decoded(text) {
  const bytes = Array.from(text.matchAll(/%([0-9a-f]{2})|[^%]+|%/gi), ([whole, byte]) =>
    byte === undefined ? Array.from(new TextEncoder().encode(whole)) : [Number.parseInt(byte, 16)],
  ).flat();
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let out = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at];
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    try {
      out += utf8.decode(new Uint8Array(bytes.slice(at, at + length)));
      at += length;
    } catch {
      out += `\\x${first.toString(16).padStart(2, "0")}`;
      at += 1;
    }
  }
  return out;
}

let asked = 0;

// `onclose` null: a page of its own, without a button to close it.
export async function showSource(place, cited, onclose) {
  const turn = (asked += 1);
  const body = h("div", { class: "source-body", tabindex: "0", role: "region", "aria-label": `${cited.path}` }, h("p", { class: "source-note" }, "Reading…"));
  const range = cited.start ? (cited.end > cited.start ? `lines ${cited.start}–${cited.end}` : `line ${cited.start}`) : "whole file";
  const folder = cited.path.includes("/") ? cited.path.slice(0, cited.path.lastIndexOf("/") + 1) : "";
  fill(
    place,
    h(
      "header",
      { class: "bar source-bar" },
      h(
        "div",
        { class: "bar-title" },
        h("h2", { id: "source-title" }, h("span", { class: "folder" }, folder), cited.path.slice(folder.length)),
        h("p", {}, h("span", { class: "range" }, range), ` · ${cited.repository} at `, h("code", { title: cited.commit }, cited.commit.slice(0, 10))),
      ),
      onclose ? h("a", { class: "icon", href: cited.href, target: "_blank", rel: "noopener", "aria-label": "Open the file on a page of its own" }, icon("open")) : null,
      onclose ? h("button", { type: "button", class: "icon", id: "source-close", "aria-label": "Close the file", onclick: onclose }, icon("close")) : null,
    ),
    body,
  );
  const query = new URLSearchParams({ repository: cited.repository, commit: cited.commit, path: cited.path });
  let answer;
  try {
    const response = await fetch(`/page/source?${query}`);
    answer = await response.json();
  } catch {
    answer = { error: "The playground does not answer. Is it still running?" };
  }
  if (turn !== asked) return;
  if (answer.error !== undefined) {
    fill(body, h("p", { class: "source-note source-error", role: "alert" }, answer.error));
    return;
  }
  const lines = colour(answer.text.replace(/\n$/, ""), cited.path);
  const rows = lines.map((pieces, index) => {
    const number = index + 1;
    const marked = number >= cited.start && number <= cited.end;
    return h(
      "div",
      { class: marked ? "line cited" : "line", id: `L${number}`, "data-line": number },
      h("span", { class: "number", "aria-hidden": "true" }, String(number)),
      h("code", {}, ...pieces.map(([kind, text]) => (kind ? h("span", { class: `c-${kind}` }, text) : text)), pieces.length ? null : "\u200b"),
    );
  });
  fill(body, h("div", { class: "lines" }, ...rows));
  const first = rows[cited.start - 1];
  if (first) {
    first.classList.add("first");
    rows[Math.min(cited.end, rows.length) - 1].classList.add("last");
    const room = body.clientHeight - (Math.min(cited.end, rows.length) - cited.start + 1) * first.offsetHeight;
    body.scrollTop = first.offsetTop - body.offsetTop - Math.max(24, room / 3);
  } else if (cited.start > rows.length) {
    body.prepend(h("p", { class: "source-note source-error", role: "alert" }, `The file has ${rows.length} lines: the cited ones are not in it.`));
  }
}
