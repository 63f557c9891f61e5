// Building elements. Text only ever becomes text nodes; there is no way here to parse markup.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  close: ["M5 5l10 10M15 5L5 15"],
  menu: ["M3 6h14M3 10h14M3 14h14"],
  lock: ["M6 9V7a4 4 0 0 1 8 0v2", "M5 9h10v7H5z"],
  shared: ["M7 7a3.5 3.5 0 1 0 0 6M13 7a3.5 3.5 0 1 1 0 6", "M7 10h6"],
  up: ["M7 9.5l3-6c1.400 0 2 .9 1.800 2.200L11.400 8H15c1 0 1.700.9 1.5 1.9l-.9 4.600c-.2.9-.9 1.5-1.800 1.5H7z", "M3.5 9.5H7V16H3.5z"],
  down: ["M13 10.5l-3 6c-1.400 0-2-.9-1.800-2.200l.4-2.300H5c-1 0-1.700-.9-1.5-1.9l.9-4.600C4.600 4.600 5.300 4 6.200 4H13z", "M16.5 10.5H13V4h3.5z"],
  send: ["M3 10l14-6-5 13-3-5.5z"],
  open: ["M8 5H5v10h10v-3", "M11 4h5v5M16 4l-7 7"],
  reply: ["M4 5h12v8H9l-3.5 3v-3H4z"],
  smile: ["M10 3a7 7 0 1 0 .01 0", "M7.2 11.5c1.300 2 4.300 2 5.600 0", "M7.700 8v.4M12.300 8v.4"],
  copy: ["M7 7h8v9H7z", "M5 13H4V4h8v1"],
};

export function safeUrl(value) {
  try {
    const url = new URL(String(value), location.href);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

export function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "href") {
      const url = safeUrl(value);
      if (url !== null) element.setAttribute("href", url);
    } else element.setAttribute(name === "class" ? "class" : name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `glyph glyph-${name}`);
  for (const shape of ICONS[name] ?? []) {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", shape);
    svg.append(path);
  }
  return svg;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter(Boolean));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function clockTime(ts) {
  return new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

export function initials(name) {
  const words = name.replace(/\(.*\)/, "").trim().split(/\s+/);
  return (words[0]?.[0] ?? "?") + (words[1]?.[0] ?? "");
}

export function tone(id) {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) % 997;
  return `tone-${sum % 6}`;
}
