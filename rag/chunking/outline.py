"""What a way of cutting finds out about a document: where it is cheap to begin a chunk, and what is defined where.

Rows are 0-based inside this package; `Chunk.start_line` is row + 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Literal

from rag.types import Kind

Role = Literal["function", "class", "space", "variable"]
"""What a node of a syntax tree defines."""

# The price of beginning a chunk at a row. Only the order and the rough distances matter; `segment` weighs them against
# the price of one more chunk (0.5) and of a chunk that is too small (up to 0.8) or too large.
TOP = 0.0  # a definition at the top of the file
STATEMENT = 0.1  # on top of its surroundings: something that is no definition
MEMBER = 0.2  # per enclosing class
NESTED = 0.25  # per enclosing statement of several lines
VARIABLE = 0.5  # inside a variable's value
CALLBACK = 0.4  # on top: inside a function without a name
BODY = 1.0  # inside a function's body
FIRST_OF_BODY = 0.6  # on top: directly after a function's header
AFTER_BANNER = 0.3  # on top: after a comment and a blank row
ATTACHED = 5.0  # belongs to the row above: after a comment or decorator, inside a header, a closing bracket, inside a string
NEVER = inf  # a blank row

DEEPEST = 3.0  # syntax never costs more than this, however deep


@dataclass(frozen=True, slots=True)
class Definition:
    """A named thing over rows start..end, inclusive, from its leading comments and decorators to its last row.

    `row`: where its own header begins. `body`: the first row after the header's last, for a class; `end + 1` if unknown.
    `parent`: index of the enclosing definition in the outline, -1 for none. `scope`: enclosing names joined by ".".
    """

    name: str
    kind: Kind
    scope: str
    start: int
    row: int
    end: int
    parent: int
    signature: str = ""
    doc: str = ""

    @property
    def symbol(self) -> str:
        return f"{self.scope}.{self.name}" if self.scope else self.name


@dataclass(slots=True)
class Outline:
    """`costs[row]`: the price of beginning a chunk there. `definitions`: in order of their first rows, outer before inner.

    `kind`: what a chunk outside all definitions is. `separator` joins scope and name in a symbol; "" leaves the scope out.
    """

    costs: list[float]
    kind: Kind
    definitions: list[Definition] = field(default_factory=list)
    module_doc: str = ""
    prose: bool = False
    overlap: float = 0.0
