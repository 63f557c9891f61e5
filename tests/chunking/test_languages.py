# ruff: noqa: E501 - sources on one line each, as a table
"""Languages whose names are peculiar: what their definitions are called and hold, and that large ones are cut between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.types import Chunk, Kind

Cut = Callable[[str, str], list[Chunk]]

SINGLE = [
    ("haskell", "-- | Inserts it.\ninsert :: Ord k => k -> Map k\ninsert 0 = 1\ninsert n = n\n  where\n    helper = 2\n", "insert", Kind.FUNCTION,
     "insert :: Ord k => k -> Map k", "Inserts it.", ("insert",)),
    ("haskell", "-- | Hashes.\nclass Hashable a where\n  hash :: a -> Int\n  hash _ = 0\n", "Hashable", Kind.CLASS, "class Hashable a where", "Hashes.",
     ("Hashable", "hash")),
    ("haskell", "data Store k = Store\n  { items :: k\n  } deriving (Show)\n", "Store", Kind.CLASS, "data Store k = Store", "", ("Store",)),
    ("sql", "-- People.\nCREATE TABLE IF NOT EXISTS shop.\"users\" (\n  id INT,\n  email TEXT\n);\n", "shop.users", Kind.CLASS,
     'CREATE TABLE IF NOT EXISTS shop."users"', "People.", ("users",)),
    ("sql", "CREATE OR REPLACE FUNCTION add_tax(price numeric)\nRETURNS numeric AS $$\nBEGIN\n  RETURN price;\nEND;\n$$ LANGUAGE plpgsql;\n",
     "add_tax", Kind.FUNCTION, "CREATE OR REPLACE FUNCTION add_tax(price numeric) RETURNS numeric", "", ("add_tax",)),
    ("sql", "CREATE PROCEDURE do_it(a integer)\nLANGUAGE SQL\nAS $$\nINSERT INTO tbl VALUES (a);\n$$;\n", "do_it", Kind.FUNCTION,
     "CREATE PROCEDURE do_it(a integer)", "", ("do_it",)),
    ("sql", "CREATE INDEX by_email ON users (email);\n", "by_email", Kind.MODULE, "CREATE INDEX by_email ON users (email)", "", ("by_email",)),
    ("html", "<!-- Signs in. -->\n<form id=\"login\" action=\"/in\">\n  <input name=\"user\">\n</form>\n", "form#login", Kind.MODULE,
     '<form id="login" action="/in">', "Signs in.", ("form#login",)),
    ("css", "/* The button. */\n.btn-primary,\n.btn > a:hover {\n  color: red;\n}\n", ".btn-primary, .btn > a:hover", Kind.MODULE,
     ".btn-primary, .btn > a:hover", "The button.", (".btn-primary, .btn > a:hover",)),
    ("scss", "// Rounds it.\n@mixin round($radius: 1px) {\n  border-radius: $radius;\n}\n", "round", Kind.FUNCTION, "@mixin round($radius: 1px)",
     "Rounds it.", ("round",)),
    ("dart", "/// Loads it.\n@override\nFuture<void> load(\n  int id,\n) async {\n  await wait(id);\n}\n", "load", Kind.FUNCTION,
     "Future<void> load( int id, )", "Loads it.", ("load",)),
    ("dart", "/// A shape.\nabstract class Shape<T> extends Base {\n  Shape.named(this.a);\n  int get area => 1;\n  bool operator ==(Object o) => true;\n}\n", "Shape",
     Kind.CLASS, "abstract class Shape<T> extends Base", "A shape.", ("Shape", "named", "area", "operator==")),
    ("dart", "const double unit = 1.0;\n", "unit", Kind.MODULE, "const double unit = 1.0", "", ("unit",)),
    ("perl", "package My::Parser;\n\n# Reads it.\nsub parse {\n  my $self = shift;\n  return $self->{lines};\n}\n", "My.Parser.parse", Kind.FUNCTION, "sub parse",
     "Reads it.", ("parse",)),
    ("r", "#' Adds numbers.\n#'\n#' @param a A number.\nadd <- function(a, b = 2) {\n  a + b\n}\n", "add", Kind.FUNCTION, "add <- function(a, b = 2)",
     "Adds numbers.", ("add",)),
    ("r", "Stack <- R6Class(\"Stack\",\n  public = list(\n    push = function(x) {\n      x\n    }\n  )\n)\n", "Stack", Kind.CLASS, 'Stack <- R6Class("Stack",', "",
     ("Stack", "push")),
    ("r", "setMethod(\"greet\", \"Person\", function(obj) {\n  cat(obj@name)\n})\n", "greet", Kind.FUNCTION, 'setMethod("greet", "Person", function(obj)', "",
     ("greet",)),
    ("julia", "module Shapes\n\n\"\"\"\n    area(c)\n\nThe area of a circle.\n\"\"\"\nfunction area(c::Circle)\n    return pi * c.r^2\nend\nend\n", "Shapes.area",
     Kind.FUNCTION, "function area(c::Circle)", "The area of a circle.", ("area",)),
    ("julia", "mutable struct Counter{T<:Real}\n    n::T\nend\n", "Counter", Kind.CLASS, "mutable struct Counter{T<:Real}", "", ("Counter",)),
    ("julia", "@inline area(s::Square) = s.side^2\n", "area", Kind.FUNCTION, "area(s::Square) = s.side^2", "", ("area",)),
    ("terraform", "# A web server.\nresource \"aws_instance\" \"web\" {\n  ami = \"x\"\n\n  disk {\n    size = 1\n  }\n}\n", "aws_instance.web", Kind.MODULE,
     'resource "aws_instance" "web"', "A web server.", ("web",)),
    ("hcl", "variable \"region\" {\n  default = \"x\"\n}\n", "variable.region", Kind.MODULE, 'variable "region"', "", ("region",)),
    ("proto", "package shop.v1;\n// Searches.\nservice Search {\n  // Finds.\n  rpc Find(Ask) returns (Answer);\n}\n", "shop.v1.Search", Kind.CLASS,
     "service Search", "Searches.", ("Search", "Find")),
    ("graphql", "\"\"\"\nA user.\n\"\"\"\ntype User implements Node {\n  id: ID!\n}\n", "User", Kind.CLASS, "type User implements Node", "A user.", ("User",)),
    ("graphql", "scalar Date\n", "Date", Kind.MODULE, "scalar Date", "", ("Date",)),
    ("graphql", "query GetUser($id: ID!) {\n  user(id: $id) {\n    name\n  }\n}\n", "GetUser", Kind.FUNCTION, "query GetUser($id: ID!)", "", ("GetUser",)),
    ("dockerfile", "# Builds it.\nFROM python:3 AS builder\nWORKDIR /app\nRUN a && \\\n    b\n", "builder", Kind.MODULE, "FROM python:3 AS builder", "Builds it.",
     ("builder",)),
    ("make", "# Builds it.\nbuild: $(OBJS) | dir\n\t$(CC) -o app $^\n\t@echo done\n", "build", Kind.FUNCTION, "build: $(OBJS) | dir", "Builds it.", ("build",)),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "symbol", "kind", "signature", "doc", "defines"), SINGLE)
def test_a_definition_is_named_and_described(
    language: str, source: str, symbol: str, kind: Kind, signature: str, doc: str, defines: tuple[str, ...], cut: Cut
) -> None:
    (chunk,) = cut(language, source)
    assert (chunk.symbol, chunk.kind, chunk.signature, chunk.doc, chunk.defines) == (symbol, kind, signature, doc, defines)


FILLS = " + 1234567" * 30
LINES = "".join(f"  word{n} = 1234567;\n" for n in range(25))
MANY = [
    ("haskell", "import A\n\n", "m{n} :: Int -> Int\nm{n} x = x{fill}\n\n", "m{n}"),
    ("sql", "", "CREATE TABLE m{n} (\n{columns}  last INT\n);\n\n", "m{n}"),
    ("html", "<html>\n<body>\n", "<section id=\"m{n}\">\n{paragraphs}</section>\n", "section#m{n}"),
    ("css", "", ".m{n} {{\n{declarations}}}\n\n", ".m{n}"),
    ("scss", "$a: 1px;\n", ".m{n} {{\n{declarations}}}\n\n", ".m{n}"),
    ("dart", "", "int m{n}(int x) {{\n  return x{fill};\n}}\n\n", "m{n}"),
    ("perl", "package A;\n\n", "sub m{n} {{\n    return 1{fill};\n}}\n\n", "m{n}"),
    ("r", "library(a)\n\n", "m{n} <- function(x) {{\n  x{fill}\n}}\n\n", "m{n}"),
    ("julia", "module A\n", "function m{n}(x)\n    return x{fill}\nend\n\n", "m{n}"),
    ("terraform", "", "resource \"kind\" \"m{n}\" {{\n{attributes}}}\n\n", "m{n}"),
    ("proto", "syntax = \"proto3\";\n", "message m{n} {{\n{fields}}}\n\n", "m{n}"),
    ("graphql", "", "type m{n} {{\n{members}}}\n\n", "m{n}"),
    ("dockerfile", "ARG A=1\n", "FROM image:{n} AS m{n}\n{runs}\n", "m{n}"),
    ("make", "A = 1\n", "m{n}: other\n{recipe}\n", "m{n}"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "opening", "definition", "name"), MANY)
def test_what_does_not_fit_is_cut_between_its_definitions(language: str, opening: str, definition: str, name: str, cut: Cut) -> None:
    rows = range(15)
    blocks = {
        "fill": FILLS,
        "columns": "".join(f"  column_{i} VARCHAR(255) NOT NULL,\n" for i in rows),
        "paragraphs": "".join(f"  <p>Words of paragraph {i}</p>\n" for i in rows),
        "declarations": "".join(f"  --custom-{i}: 12px solid;\n" for i in rows),
        "attributes": "".join(f'  attribute_{i} = "value {i}"\n' for i in rows),
        "fields": "".join(f"  string field_{i} = {i + 1};\n" for i in rows),
        "members": "".join(f"  member{i}: String!\n" for i in rows) * 2,
        "runs": "".join(f"RUN install package-{i} quietly\n" for i in rows),
        "recipe": "".join(f"\tinstall package-{i} quietly\n" for i in rows),
    }
    chunks = cut(language, opening + "".join(definition.format(n=n, **blocks) for n in range(8)))
    assert [defined for chunk in chunks for defined in chunk.defines if defined in {name.format(n=n) for n in range(8)}] == [
        name.format(n=n) for n in range(8)
    ], "each is defined once, in order"
    assert len(chunks) >= 4
    first_words = [definition.format(n=n, **blocks).split("\n")[0] for n in range(8)]
    starts = [chunk for chunk in chunks if any(chunk.text.lstrip().startswith(words) for words in first_words)]
    assert len(starts) >= len(chunks) - 1, "all but the first begin at a definition"


VUE = """<template>
  <p>{{ count }}</p>
</template>

<script setup lang="ts">
import { ref } from 'vue'

// Adds one.
function increment(by: number = 1): void {
  count.value += by
}
</script>

<style scoped lang="scss">
.counter { .inner { color: red; } }
</style>
"""


@pytest.mark.parametrize(
    ("language", "source", "defines", "symbol"),
    [
        ("vue", VUE, ("template", "increment", "style", ".counter"), "increment"),
        ("svelte", VUE.replace("<template>\n", "").replace("</template>\n", ""), ("increment", "style", ".counter"), "increment"),
        ("html", "<body>\n<script>\nclass A {\n  go(x) {\n    return x;\n  }\n}\n</script>\n</body>\n", ("A", "go"), "A"),
        ("html", '<script type="text/template">\nfunction no() {\n  return 1;\n}\n</script>\n', (), ""),
    ],
)
def test_a_script_in_markup_is_read_in_its_own_language(
    language: str, source: str, defines: tuple[str, ...], symbol: str, cut: Cut
) -> None:
    (chunk,) = cut(language, source)
    assert (chunk.defines, chunk.symbol) == (defines, symbol)


def test_a_long_script_is_cut_between_its_functions(cut: Cut) -> None:
    functions = "".join(f"/** Does {n}. */\nexport function f{n}(x) {{\n  return x{FILLS};\n}}\n\n" for n in range(8))
    chunks = cut("vue", f"<template>\n  <p>Hi</p>\n</template>\n\n<script>\n{functions}</script>\n")
    assert [name for chunk in chunks for name in chunk.defines if name != "template"] == [f"f{n}" for n in range(8)]
    assert all(chunk.text.startswith("/** Does") for chunk in chunks[1:])
    assert {chunk.signature for chunk in chunks[1:]} <= {f"export function f{n}(x)" for n in range(8)}


def test_a_package_names_the_scope_of_what_follows_until_the_next(cut: Cut) -> None:
    body = "{\n    return 1" + FILLS + ";\n}\n\n"
    chunks = cut("perl", f"package A::B;\n\nsub one {body}package C;\n\nsub two {body}package D {{\nsub three {body}}}\n")
    assert [chunk.symbol for chunk in chunks if chunk.symbol] == ["A.B.one", "C.two", "D.three"]


def test_documentation_of_a_module_is_that_of_its_file(cut: Cut) -> None:
    assert (
        cut("haskell", "{-# LANGUAGE X #-}\n-- | A store of things.\nmodule Store where\n\nimport A\n")[0].module_doc
        == "A store of things."
    )
    assert cut("julia", '"""\nShapes and areas.\n"""\nmodule Shapes\nusing A\nend\n')[0].module_doc == "Shapes and areas."
    assert cut("dockerfile", "# syntax=docker/dockerfile:1\nFROM a\nRUN b\n")[0].module_doc == ""


def test_documentation_of_perl_is_cut_at_its_headings(cut: Cut) -> None:
    pod = "".join(f"=head2 method_{n}\n\n{'Words that say what it does. ' * 18}\n\n" for n in range(6))
    chunks = cut("perl", f"package A;\n\nsub a {{\n  return 1;\n}}\n\n{pod}=cut\n")
    assert len(chunks) >= 6
    assert all(chunk.text.startswith("=head2 method_") for chunk in chunks[1:])
