"""The texts on which an export is compared with the model that it came from: code and prose, short, long and foreign."""

from __future__ import annotations

SAMPLES = (
    "How does the router match a URL to a view function?",
    "open",
    "where are sessions signed",
    "def add(a: int, b: int) -> int:\n    return a + b",
    """src/engine/context.go
func (c *Context) Next() {
\tc.index++
\tfor c.index < int8(len(c.handlers)) {
\t\tc.handlers[c.index](c)
\t\tc.index++
\t}
}""",
    """lib/core/dispatch.js
export default async function dispatch(request) {
  throwIfCancelled(request);
  return adapter(request).then(onResolved, onRejected);
}""",
    "README.md\nInstallation\nCreate a virtual environment, then install the package with pip and start the server.",
    """class Cache:
    \"\"\"Keeps the most recently used values.\"\"\"

    def __init__(self, size: int) -> None:
        self.size = size
        self.values: dict[str, bytes] = {}""",
    "SELECT name, count(*) FROM votes WHERE value < 0 GROUP BY name ORDER BY 2 DESC;",
    """pub fn parse(input: &str) -> Result<Vec<Token>, ParseError> {
    let mut tokens = Vec::new();
    for (line, text) in input.lines().enumerate() {
        tokens.extend(scan(line, text)?);
    }
    Ok(tokens)
}""",
    '#include <stdio.h>\nint main(void) { printf("%d\\n", 42); return 0; }',
    "Größe und Farbe: naïve café, 数据库连接池, настройки по умолчанию 🚀",
    "error: connection refused (os error 111) at 127.0.0.1:6333 after 3 retries",
    '{"name": "demo", "version": "1.0.0", "scripts": {"test": "node --test"}}',
    "x = 1\n" * 400,  # longer than any window
)
