// A little colour for source text: comments, strings, numbers and words that most languages reserve. It only ever yields (kind, text) pairs.

const HASH = /\.(py|pyi|rb|sh|bash|zsh|ya?ml|toml|cfg|ini|r|jl|pl|ex|exs|tf|dockerfile|mk)$|(^|\/)(Dockerfile|Makefile|Gemfile|Rakefile)$/i;
const SLASH = /\.([cm]?[jt]sx?|go|rs|java|kt|kts|c|h|cc|cpp|cxx|hpp|hh|cs|swift|scala|php|dart|proto|zig|css|scss|json|graphql|vue|svelte)$/i;
const DASH = /\.(sql|lua|hs|elm)$/i;
const WORDS = new Set(
  (
    "abstract and any as assert async await begin bool break case catch chan class const constexpr continue crate def default defer del do elif else elsif end " +
    "enum except export extends extern false final finally fn for foreach from func function global go goto if impl implements import in include inline instanceof int " +
    "interface is lambda let long loop match mod module mut namespace new nil None nonlocal not null nullptr or override package pass private protected pub public raise " +
    "range readonly ref rescue return self Self select sizeof static string struct super switch template then this throw throws trait True False true try type typedef " +
    "typeof undefined union unless unsafe until use using val var virtual void volatile when where while with yield"
  ).split(" "),
);
const STRINGS = '"""[\\s\\S]*?"""|\'\'\'[\\s\\S]*?\'\'\'|`(?:\\\\[\\s\\S]|[^`\\\\])*`|"(?:\\\\.|[^"\\\\\\n])*"|\'(?:\\\\.|[^\'\\\\\\n])*\'';
const REST = "|(\\b\\d[\\w.]*\\b)|([A-Za-z_$][\\w$]*)";
const TOO_LONG = 400_000;

function comments(path) {
  if (HASH.test(path)) return "#[^\\n]*";
  if (SLASH.test(path)) return "//[^\\n]*|/\\*[\\s\\S]*?\\*/";
  if (DASH.test(path)) return "--[^\\n]*";
  return null;
}

// Lines of [kind, text] pairs; kind is "", "comment", "string", "number", "word" or "call".
export function colour(text, path) {
  const comment = comments(path);
  const lines = [[]];
  const put = (kind, piece) => {
    piece.split("\n").forEach((part, number) => {
      if (number) lines.push([]);
      if (part) lines.at(-1).push([kind, part]);
    });
  };
  if (comment === null || text.length > TOO_LONG) {
    put("", text);
    return lines;
  }
  const pattern = new RegExp(`(${comment})|(${STRINGS})${REST}`, "g");
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    put("", text.slice(end, match.index));
    end = match.index + match[0].length;
    const [whole, remark, string, number, word] = match;
    if (remark) put("comment", whole);
    else if (string) put("string", whole);
    else if (number) put("number", whole);
    else put(WORDS.has(word) ? "word" : text[end] === "(" ? "call" : "", whole);
  }
  put("", text.slice(end));
  return lines;
}
