"""How languages name things whose names are not simply a field of the node: a function a language, and what else a row may ask for.

Each function takes a node of a type that its row lists and says what it defines, None for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rag.chunking.outline import Role

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST = 120
_MOST_SIBLINGS = 200


class Found(NamedTuple):
    """`end_row`: the last row where it is not the node's, -1 else."""

    role: Role
    name: str
    scope: str = ""
    end_row: int = -1


Namer = Callable[["Node", str], Found | None]


@dataclass(frozen=True, slots=True)
class Peculiar:
    """What a row of the table may ask for beyond types of nodes. Words are node types.

    `namer`: says instead of the fields what a node defines. `flat`: a name is not prefixed by what it is in. `notes`: documentation
    that is no comment. `mark`: what documentation has around it beyond the marks of a comment. `sections`: lasts to the next of its
    kind. `body`: stands after its header as a sibling. `scopes_rest`: without a body it names the scope of what follows. `whole`: all
    of the node is the signature. `opens`: holds a definition though it has one row only. `merges`: neighbours of one name are one
    definition. `embeds`: holds elements in other languages.
    """

    namer: Namer | None = None
    flat: bool = False
    notes: frozenset[str] = frozenset()
    mark: re.Pattern[str] | None = None
    sections: frozenset[str] = frozenset()
    body: str = ""
    scopes_rest: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    opens: frozenset[str] = frozenset()
    merges: bool = False
    embeds: bool = False

    def unmarked(self, rows: Sequence[str]) -> list[str]:
        """Rows of documentation without the marks that its comments have in this language alone."""
        return [self.mark.sub("", row[:2000]) for row in rows] if self.mark is not None else list(rows)


NOTHING = Peculiar()
HADDOCK = re.compile(r"^\s*(?:--+\s?[|^]|\{-+\s?[|^]?)|-+\}\s*$")
ROXYGEN = re.compile(r"^\s*#+'")


def _text(node: Node | None, limit: int = 2000) -> str:
    return (node.text or b"")[:limit].decode("utf-8", "replace") if node is not None else ""


def _child(node: Node, *kinds: str) -> Node | None:
    return next((child for child in node.named_children if child.type in kinds), None)


def _dotted(name: str) -> tuple[str, str]:
    scope, _, last = name.rpartition(".")
    return scope, last


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1].rstrip() + "…"


# Haskell: equations and signatures are definitions at the top of a module, a class or an instance only.
_HASKELL_TYPES = frozenset({"data_type", "newtype", "class", "instance"})
_HASKELL_PLACES = frozenset({"declarations", "class_declarations", "instance_declarations"})


def haskell(node: Node, kind: str) -> Found | None:
    name = _text(node.child_by_field_name("name"), 200)
    if not name and (infix := _child(node, "infix")) is not None:
        name = _text(infix.child_by_field_name("operator"), 200)
    name = name.strip("()` ")
    if not name or node.parent is None or node.parent.type not in _HASKELL_PLACES:
        return None
    if kind in _HASKELL_TYPES:
        return Found("class", name)
    return Found("variable" if kind.startswith("type_") else "function", name)


_CREATE = re.compile(
    r"\s*CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:UNIQUE|TEMP|TEMPORARY|UNLOGGED|MATERIALIZED|RECURSIVE|EXTERNAL|CONSTRAINT|EDITIONABLE"
    r"|DEFINER\s*=\s*\S+)\s+){0,3}"
    r"(TABLE|VIEW|TYPE|DOMAIN|SCHEMA|DATABASE|FUNCTION|PROCEDURE|PROC|TRIGGER|INDEX|SEQUENCE|ROLE|USER|POLICY|EXTENSION|PACKAGE)\s+"
    r"(?:BODY\s+)?(?:CONCURRENTLY\s+)?(?:IF\s+NOT\s+EXISTS\s+)?((?:[\w$]+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\])(?:\s*\.\s*"
    r"(?:[\w$]+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\]))*)",
    re.IGNORECASE,
)
_SQL_ROLES: dict[str, Role] = {
    **dict.fromkeys(("TABLE", "VIEW", "TYPE", "DOMAIN", "PACKAGE"), "class"),
    **dict.fromkeys(("FUNCTION", "PROCEDURE", "PROC", "TRIGGER"), "function"),
}
_SQL_END = re.compile(r"\$\w*\$|\s*END\b", re.IGNORECASE)


def sql(node: Node, kind: str) -> Found | None:
    created = _CREATE.match(_text(node))
    if created is None:
        return None
    scope, name = _dotted(re.sub(r"[\s\"`\[\]]", "", created[2]))
    end = -1
    if kind == "ERROR":  # a body in a dialect that the grammar does not know: to its end, where that can be found
        later = node.next_named_sibling
        for _ in range(_MOST_SIBLINGS):
            if later is None or "comment" in later.type or _CREATE.match(_text(later, 200)):
                break
            if later.type == "ERROR" and _SQL_END.match(_text(later, 200)):
                end = later.end_point[0]
                break
            later = later.next_named_sibling
    return Found(_SQL_ROLES.get(created[1].upper(), "variable"), name, scope, end)


_LANDMARKS = frozenset("head body header nav main section article aside footer form table dialog template fieldset".split())  # noqa: SIM905
_ID = re.compile(r"""\sid\s*=\s*(?:"([^"\n]{1,80})"|'([^'\n]{1,80})'|([^\s"'>/]{1,80}))""")


def markup(node: Node, kind: str) -> Found | None:
    """Elements of several rows that have an id or a part to play."""
    if node.end_point[0] == node.start_point[0]:
        return None
    if kind in ("template_element", "style_element"):
        return Found("variable", kind.partition("_")[0])
    opening = _text(_child(node, "start_tag", "self_closing_tag"), 1000)
    tag = re.match(r"<\s*([\w.:-]+)", opening)
    if tag is None:
        return None
    found = _ID.search(opening)
    name = next((part for part in found.groups() if part), "") if found else ""
    if name:
        return Found("variable", f"{tag[1]}#{name}")
    return Found("variable", tag[1]) if tag[1].lower() in _LANDMARKS and tag[1].lower() != "body" else None


def stylesheet(node: Node, kind: str) -> Found | None:
    """Rules by their selectors, those of nested ones after the outer's; mixins, functions, keyframes and at-rules by name."""
    if kind in ("mixin_statement", "function_statement"):
        name = _text(node.child_by_field_name("name"), 200)
        return Found("function", name) if name else None
    if kind == "keyframes_statement":
        return Found("variable", _one_line(f"@keyframes {_text(_child(node, 'keyframes_name'), 200)}"))
    if kind == "at_rule":
        return Found("variable", _text(_child(node, "at_keyword"), 100)) if _child(node, "block") is not None else None
    if kind == "declaration":  # a variable of SCSS, at the top
        name = _text(_child(node, "property_name", "variable_name", "variable"), 200)
        at_top = node.parent is not None and node.parent.type == "stylesheet"
        return Found("variable", name) if at_top and name.startswith(("$", "--")) else None
    selectors = _one_line(_text(_child(node, "selectors"), 400))
    return Found("variable", selectors) if selectors else None


_DART_NAME = re.compile(
    r"\bget\s+(\w+)\s*$|\bset\s+(\w+)\s*\(|\b(operator\s*[^\s\w(]+|operator\s*\(\))\s*\(|([A-Za-z_$][\w$.]*)\s*(?:<[^()]*>)?\s*\("
)


def dart(node: Node, kind: str) -> Found | None:
    """A function's body is the sibling after its signature."""
    if kind in ("mixin_declaration", "extension_type_declaration", "class_definition", "enum_declaration", "extension_declaration"):
        named = node.child_by_field_name("name") or _child(node, "identifier", "type_identifier")
        return Found("class", _text(named, 200)) if named is not None else None
    if kind == "type_alias":
        return Found("variable", _text(_child(node, "type_identifier"), 200))
    if kind == "static_final_declaration":
        return Found("variable", _text(_child(node, "identifier"), 200))
    if node.parent is not None and node.parent.type in ("method_signature", "declaration"):
        return None
    if kind == "declaration" and not any(child.type.endswith("_signature") for child in node.named_children):
        return None
    found = _DART_NAME.search(_text(node))
    if found is None:
        return None
    name = next(part for part in found.groups() if part)
    following = node.next_named_sibling
    end = following.end_point[0] if following is not None and following.type == "function_body" else -1
    return Found("function", "".join(name.split()) if name.startswith("operator") else _dotted(name)[1], "", end)


_R_CLASSES = frozenset({"setClass", "setRefClass", "R6Class", "ggproto", "new_class"})
_R_FUNCTIONS = frozenset({"setGeneric", "setMethod", "setValidity", "new_generic", "test_that"})


def _first_string(call: Node) -> str:
    arguments = call.child_by_field_name("arguments")
    first = _child(arguments, "argument") if arguments is not None else None
    value = first.child_by_field_name("value") if first is not None else None
    return _text(value, 200).strip("\"'") if value is not None and value.type == "string" else ""


def r(node: Node, kind: str) -> Found | None:
    """Assignments of functions, classes of S4, reference classes and R6 with their methods."""
    if kind == "call":
        caller = _text(node.child_by_field_name("function"), 100).rpartition(":")[2]
        if caller not in _R_CLASSES | _R_FUNCTIONS or (node.parent is not None and node.parent.type == "binary_operator"):
            return None
        name = _one_line(_first_string(node))
        return Found("class" if caller in _R_CLASSES else "function", name) if name else None
    if kind == "argument":
        value, name = node.child_by_field_name("value"), _text(node.child_by_field_name("name"), 200)
        is_function = value is not None and value.type == "function_definition"
        return Found("function", name) if is_function and name and _is_member(node) else None
    left, right = node.child_by_field_name("lhs"), node.child_by_field_name("rhs")
    operator = _text(node.child_by_field_name("operator"), 8)
    if left is None or right is None or operator not in ("<-", "=", "<<-", ":=") or left.type not in ("identifier", "string"):
        return None
    name = _text(left, 200).strip("`\"'")
    if right.type == "function_definition":
        return Found("function", name)
    if right.type == "call" and _text(right.child_by_field_name("function"), 100).rpartition(":")[2] in _R_CLASSES:
        return Found("class", name)
    return Found("variable", name)


def _is_member(argument: Node) -> bool:
    """Whether an argument stands in `public = list(…)` of a class, or in the list of its methods."""
    call = argument.parent.parent if argument.parent is not None else None
    outer = call.parent if call is not None else None
    if call is None or outer is None or outer.type != "argument":
        return False
    return _text(call.child_by_field_name("function"), 20) == "list" and _text(outer.child_by_field_name("name"), 20) in (
        "public",
        "private",
        "active",
        "methods",
    )


_JULIA_CALL = re.compile(r"\s*([\w.!:@^+\-*/\\%<>=~&|÷√∘⊕⊗∈]+)\s*(?:\{[^{}]*\})?\s*\(")


def julia(node: Node, kind: str) -> Found | None:
    if kind == "module_definition":
        return Found("space", _text(node.child_by_field_name("name"), 200))
    if kind in ("struct_definition", "abstract_definition", "primitive_definition"):
        head = re.search(r"[^\W\d]\w*!?", _text(_child(node, "type_head"), 200))
        return Found("class", head[0]) if head else None
    first = next(iter(node.named_children), None)
    if first is None:
        return None
    if kind == "assignment" and first.type == "identifier":
        return Found("variable", _text(first, 200))
    if kind == "assignment" and first.type not in ("call_expression", "where_expression", "typed_expression"):
        return None
    text = _text(first, 400)
    called = _JULIA_CALL.match(text) or (re.match(r"\s*([\w.!]+)\s*$", text) if kind != "assignment" else None)
    if called is None:
        return None
    scope, name = _dotted(called[1].replace(".:", ".").strip(":"))
    return Found("function", name, scope) if name else None


def terraform(node: Node, kind: str) -> Found | None:
    """Blocks at the top, under the name by which others refer to them: `aws_instance.web`, `variable.region`."""
    if node.parent is None or node.parent.parent is None or node.parent.parent.type != "config_file":
        return None
    words = [_text(child, 200).strip('"') for child in node.named_children[:4] if child.type in ("identifier", "string_lit")]
    if not words:
        return None
    if len(words) > 2 and words[0] == "resource":
        words = words[1:]
    return Found("variable", words[-1], ".".join(words[:-1]))


_PROTO_ROLES: dict[str, Role] = {"rpc": "function", "package": "space"}


def proto(node: Node, kind: str) -> Found | None:
    named = _child(node, f"{kind}_name", "full_ident", "message_or_enum_type")
    if kind != "package":
        return Found(_PROTO_ROLES.get(kind, "class"), _text(named, 200)) if named is not None else None
    scope, name = _dotted(_text(named, 200))
    return Found("space", name, scope) if name else None


def graphql(node: Node, kind: str) -> Found | None:
    named = _child(node, "name", "fragment_name")
    if kind == "operation_definition" and named is None:
        return None
    if kind == "schema_definition":
        return Found("class", "schema")
    if named is None:
        return None
    if kind in ("operation_definition", "fragment_definition"):
        return Found("function", _text(named, 200))
    variable = kind.startswith(("scalar", "union", "directive"))
    return Found("variable" if variable else "class", _text(named, 200))


def dockerfile(node: Node, kind: str) -> Found | None:
    """A stage by its alias, by its image where it has none."""
    named = node.child_by_field_name("as") or _child(node, "image_alias", "image_spec")
    return Found("variable", _one_line(_text(named, 200))) if named is not None else None


def make(node: Node, kind: str) -> Found | None:
    """A rule by its targets, but for those that only tell make something; it ends before a conditional that holds other rules."""
    if kind != "rule":
        name = _text(node.child_by_field_name("name"), 200).strip()
        return Found("variable", name) if name else None
    targets = _one_line(_text(_child(node, "targets"), 400))
    if not targets or re.match(r"\.[A-Z_]+$", targets):
        return None
    recipe = _child(node, "recipe")
    inner = _child(recipe, "conditional") if recipe is not None else None
    if inner is not None and any(child.type == "rule" for child in inner.named_children):
        return Found("function", targets, "", max(inner.start_point[0] - 1, node.start_point[0]))
    return Found("function", targets)
