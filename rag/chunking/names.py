"""What a syntax node defines: its name with its scope, its kind, its signature. The languages' peculiarities live here."""

from __future__ import annotations

import re
from functools import cache

from tree_sitter import Node

from rag.chunking.doctext import clipped
from rag.chunking.grammars import Grammar, words
from rag.chunking.outline import Role

_NAME_FIELDS = ("name", "declarator", "left", "property", "key", "pattern", "type")
_IDENTIFIERS = words(
    "identifier type_identifier simple_identifier field_identifier property_identifier private_property_identifier constant word"
    " namespace_identifier variable_list variable_declaration type_alias name IDENTIFIER STRINGLITERALSINGLE"
)
_FUNCTION_DECLARATORS = frozenset({"function_declarator", "operator_cast"})
_BODY_END = (
    *("body", "block", "declaration_list", "field_declaration_list", "compound_statement", "interface_type", "enumerator_list"),
    *("column_definitions", "create_query", "fields_definition", "enum_values_definition", "selection_set", "class_declarations"),
    *("instance_declarations", "keyframe_block_list", "recipe"),
)
_COMMENT_AFTER = re.compile(r"\n\s*(?:--|//|#|/\*)")
_GENERIC = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\([^()]*\)")
_NAME = re.compile(r"[^\W\d][\w.$~?!=+\-*/%<>&|^\[\]#@]*|[~#$@][\w.]+|operator\S*")
_KEYWORDS = frozenset("if for while switch return class const typename noexcept int void else decltype operator template T".split())  # noqa: SIM905
_ELIXIR = {
    **dict.fromkeys(("defmodule", "defprotocol", "defimpl"), "class"),
    **dict.fromkeys(("def", "defp", "defmacro", "defmacrop", "defguard", "defdelegate", "defn", "test"), "function"),
}
_LONGEST_NAME = 160
_TEXT = re.compile("string|heredoc|template_literal|raw_text")


@cache
def _kind_is_comment(kind: str) -> bool:
    return "comment" in kind


def is_comment(kind: str, line: str) -> bool:
    """Whether a node of this type, on this line, says something about what follows."""
    return _kind_is_comment(kind) or line.lstrip().startswith(("@doc", "@typedoc"))


@cache
def is_text(kind: str) -> bool:
    """Whether nodes of this type are text, in which nothing is defined."""
    return bool(_TEXT.search(kind))


def text_of(node: Node, limit: int = 4000) -> str:
    """The node's source, at most so many bytes."""
    return (node.text or b"")[:limit].decode("utf-8", "replace")


def role_of(node: Node, kind: str, grammar: Grammar) -> Role | None:
    """What the node defines, None for nothing that has a name."""
    if kind == "call" and grammar.grammar == "elixir":
        target = node.child_by_field_name("target")
        role = _ELIXIR.get(text_of(target, 40)) if target is not None else None
        return "class" if role == "class" else "function" if role == "function" else None
    if kind in grammar.classes:
        # `struct s x;` and `enum e f(void)` only use the type; `type A B` defines no members
        if grammar.grammar in ("c", "cpp"):
            return "class" if node.child_by_field_name("body") is not None else None
        if kind == "type_spec":
            held = node.child_by_field_name("type")
            return "class" if held is not None and held.type in ("struct_type", "interface_type") else "variable"
        return "class"
    if kind in grammar.functions:
        if grammar.macros and (held := node.child_by_field_name("type")) is not None and held.child_by_field_name("body") is not None:
            return None  # a class that a macro made look like a function's result
        return "function"
    if kind in grammar.spaces:
        return "space"
    if kind in grammar.variables:
        return _role_of_variable(node, kind, grammar)
    return None


def _role_of_variable(node: Node, kind: str, grammar: Grammar) -> Role | None:
    if grammar.grammar == "zig":
        first = next((child for child in node.named_children if child.type in ("FnProto", "VarDecl")), None)
        if first is None:
            return None
        if first.type == "FnProto":
            return "function"
        return "class" if re.search(r"=\s*(?:extern |packed )?(?:struct|enum|union|opaque)\b", text_of(first, 400)) else "variable"
    if kind in ("declaration", "field_declaration"):
        if _declares_function(node):
            return "function"
        return "variable" if kind == "declaration" else None
    if kind == "type_definition":
        held = node.child_by_field_name("type")
        return "class" if held is not None and held.child_by_field_name("body") is not None else "variable"
    if grammar.values:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is None and kind == "assignment_statement":
            lists = [child for child in node.named_children if child.type == "expression_list"]
            value = lists[0].named_child(0) if lists else None
        if value is not None and value.type in grammar.values:
            return "function"
        if value is not None and value.type in grammar.class_values:
            return "class"
        return "variable" if kind not in ("pair", "field_definition", "public_field_definition", "assignment_expression") else None
    if kind == "assignment":
        left = node.child_by_field_name("left")
        return "variable" if left is not None and left.type in ("identifier", "constant") else None
    return "variable"


def _declares_function(node: Node) -> bool:
    declarator = node.child_by_field_name("declarator")
    for _ in range(20):
        if declarator is None:
            return False
        if declarator.type in _FUNCTION_DECLARATORS:
            # `int (*handler)(int)` is a pointer
            inner = declarator.child_by_field_name("declarator")
            return inner is None or inner.type != "parenthesized_declarator"
        declarator = declarator.child_by_field_name("declarator")
    return False


def name_of(node: Node, kind: str, grammar: Grammar) -> tuple[str, str]:
    """(scope, name): scope is what the name itself says about it, as in `A::b`, `func (a *A) b` or `M.b`; both "" for nothing usable."""
    fixed = grammar.functions.get(kind) or grammar.classes.get(kind) or grammar.spaces.get(kind)
    if fixed:
        return "", fixed
    if grammar.grammar == "elixir":
        return _split(_elixir_name(node))
    if kind == "impl_item":
        held = node.child_by_field_name("type")
        return _split(text_of(held, 400) if held is not None else "")
    if kind == "method_declaration" and grammar.grammar == "go":
        receiver, name = node.child_by_field_name("receiver"), node.child_by_field_name("name")
        words = re.findall(r"\w+", _GENERIC.sub("", text_of(receiver, 400).strip("()"))) if receiver is not None else []
        return (words[-1] if words else ""), (text_of(name, 400) if name is not None else "")
    if grammar.grammar == "zig":
        return _split(_zig_name(node, kind))
    if kind == "function_definition" and (test := _test_macro(node)):
        return test
    found: Node | None = node
    for _ in range(20):
        if found is None or (found is not node and found.type in _IDENTIFIERS):
            break
        inner = _name_child(found, top=found is node)
        if inner is None:
            break
        found = inner
        if found.type in (
            "qualified_identifier",
            "scope_resolution",
            "member_expression",
            "scoped_identifier",
            "namespace_name",
            "qualified_name",
        ):
            break
    return _split(text_of(found, 400)) if found is not None and found is not node else ("", "")


def _test_macro(node: Node) -> tuple[str, str] | None:
    """`TEST_F(Suite, name) {…}`: a definition without a type whose name is a macro says its name in its arguments."""
    declarator = node.child_by_field_name("declarator")
    if node.child_by_field_name("type") is not None or declarator is None or declarator.type != "function_declarator":
        return None
    found = re.fullmatch(r"[A-Z][A-Z0-9_]+\s*\(\s*(\w+)(?:\s*,\s*(\w+))?\s*\)", text_of(declarator, 300))
    return ((found[1], found[2]) if found[2] else ("", found[1])) if found else None


def _name_child(node: Node, *, top: bool) -> Node | None:
    for field in _NAME_FIELDS if top else ("declarator", "name"):
        child = node.child_by_field_name(field)
        if child is not None and (field != "type" or node.type == "impl_item"):
            return child
    if top or node.type in (
        "reference_declarator",
        "parenthesized_declarator",
        "variable_declaration",
        "variable_list",
        "attributed_declarator",
    ):
        return next((child for child in node.named_children if child.type in _IDENTIFIERS or child.type.endswith("declarator")), None)
    return None


def _elixir_name(node: Node) -> str:
    arguments = next((child for child in node.named_children if child.type == "arguments"), None)
    return re.split(r"[(\s,]", text_of(arguments, 400).strip().strip('"'), maxsplit=1)[0] if arguments is not None else ""


def _zig_name(node: Node, kind: str) -> str:
    inner = node if kind == "TestDecl" else next((c for c in node.named_children if c.type in ("FnProto", "VarDecl")), None)
    if inner is None:
        return ""
    found = inner.child_by_field_name("function") or inner.child_by_field_name("variable_type_function")
    found = found or next((c for c in inner.named_children if c.type in _IDENTIFIERS), None)
    return text_of(found, 200) if found is not None else ""


def _split(raw: str) -> tuple[str, str]:
    """A name as written -> (scope, name): generics dropped, every separator a dot, `module.exports` and `prototype` left out."""
    text = raw.strip().strip("\"'`&*:")
    if text.startswith("operator") or "::operator" in text:
        scope, _, name = text.rpartition("::")
        return _dotted(scope), " ".join(name.split())[:_LONGEST_NAME]
    for _ in range(4):
        text = _GENERIC.sub("", text)
    words = _dotted(text).split(".")
    if words[:2] == ["module", "exports"]:
        words = words[2:]
    words = [word for word in words if word not in ("exports", "prototype", "this", "self", "crate", "super", "")]
    if not words or words[-1] in _KEYWORDS or not all(_NAME.match(word) for word in words):
        return "", ""
    return ".".join(words[:-1])[:_LONGEST_NAME], words[-1][:_LONGEST_NAME]


def _dotted(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"::|\\|:|->", ".", text))


def signature_of(node: Node, before: str = "", *, whole: bool = False) -> str:
    """The definition's header on one line: what stands before it, its first word, attributes left out, to where its body begins.

    `whole`: the node is its header.
    """
    begin, end = node.start_byte, node.end_byte
    body = body_of(node)
    if body is not None and body.start_byte > begin:
        end = body.start_byte
    for child in node.children[:6]:
        if child.type in ("attribute_list", "decorator", "annotation", "marker_annotation", "description"):
            begin = child.end_byte
        elif child.type == "modifiers":
            for modifier in child.children:
                if modifier.type in ("annotation", "marker_annotation", "attribute"):
                    begin = modifier.end_byte
                else:
                    break
            break
        else:
            break
    text = (node.text or b"")[begin - node.start_byte : min(end - node.start_byte, begin - node.start_byte + 2000)].decode(
        "utf-8", "replace"
    )
    if body is None and not whole:
        text = text.strip().partition("\n")[0]
    text = _COMMENT_AFTER.split(text, maxsplit=1)[0]
    return clipped(re.sub(r"(?:\s*(?:\{|=>|=|:|;|\\|\bdo))+$", "", " ".join(f"{before} {text}".split())))


def body_of(node: Node) -> Node | None:
    """Where the header ends: the node's body, or that of the function or class it assigns."""
    for holder in (node, *(held for field in ("value", "right", "type", "rhs") if (held := node.child_by_field_name(field)) is not None)):
        body = holder.child_by_field_name("body")
        if body is not None:
            return body
        for child in holder.named_children[-3:]:
            if child.type.lower().endswith(_BODY_END):
                return child
    return None
