// A cited file on a page of its own.
import { byId } from "./dom.js";
import { parseSource, showSource } from "./source.js";

function show() {
  const cited = parseSource(location.href);
  if (cited === null) return;
  document.title = `${cited.path} · ${cited.repository}`;
  showSource(byId("source"), cited, null);
}

addEventListener("hashchange", show);
show();
