# ruff: noqa: E501 - sources on one line each, as a table
"""What is found in source code: one small file a language, and what its definitions must be called and hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.chunking.grammars import GRAMMARS
from rag.types import Chunk, Kind
from tests.chunking import test_languages

Cut = Callable[[str, str], list[Chunk]]


def alone(cut: Cut, language: str, source: str) -> Chunk:
    """The chunk of a source that fits one."""
    chunks = cut(language, source)
    assert len(chunks) == 1
    return chunks[0]


SINGLE = [
    ("python", '@app.route("/")\nasync def index(a, b: int = 1) -> str:\n    """Says hello. And more."""\n    return "hello"\n',
     "index", Kind.FUNCTION, "async def index(a, b: int = 1) -> str", "Says hello."),
    ("python", 'class A(B):\n    """Holds things."""\n    x: int = 1\n\n    def m(self): ...\n', "A", Kind.CLASS, "class A(B)", "Holds things."),
    ("javascript", "/**\n * Adds two numbers.\n * @param {number} a\n */\nexport default async function add(a, b) {\n  return a + b;\n}\n",
     "add", Kind.FUNCTION, "export default async function add(a, b)", "Adds two numbers."),
    ("javascript", "// Doubles.\nexport const twice = (x) => {\n  return 2 * x;\n};\n", "twice", Kind.FUNCTION, "export const twice = (x)", "Doubles."),
    ("javascript", "Engine.prototype.start = function (key) {\n  this.on = key;\n};\n", "Engine.start", Kind.FUNCTION,
     "Engine.prototype.start = function (key)", ""),
    ("typescript", "/** What a user is. */\nexport interface User extends Base {\n  name: string;\n  greet(): void;\n}\n", "User", Kind.CLASS,
     "export interface User extends Base", "What a user is."),
    ("typescript", "export type Pair<T> = {\n  left: T;\n  right: T;\n};\n", "Pair", Kind.MODULE, "export type Pair<T>", ""),
    ("tsx", "export const Button = ({ label }: Props) => {\n  return <b>{label}</b>;\n};\n", "Button", Kind.FUNCTION,
     "export const Button = ({ label }: Props)", ""),
    ("go", "// ServeHTTP answers a request.\nfunc (engine *Engine[K]) ServeHTTP(w http.ResponseWriter) error {\n\treturn nil\n}\n", "Engine.ServeHTTP",
     Kind.METHOD, "func (engine *Engine[K]) ServeHTTP(w http.ResponseWriter) error", "ServeHTTP answers a request."),
    ("go", "// Context carries.\ntype Context struct {\n\tmu sync.Mutex\n}\n", "Context", Kind.CLASS, "type Context struct", "Context carries."),
    ("rust", "/// Sends a value.\n#[inline]\npub async fn send<T>(value: T) -> Result<(), T>\nwhere\n    T: Send,\n{\n    Ok(())\n}\n", "send",
     Kind.FUNCTION, "pub async fn send<T>(value: T) -> Result<(), T> where T: Send,", "Sends a value."),
    ("rust", "impl<T> fmt::Display for a::Wrapper<T> {\n    fn fmt(&self) -> R {\n        Ok(())\n    }\n}\n", "a.Wrapper", Kind.CLASS,
     "impl<T> fmt::Display for a::Wrapper<T>", ""),
    ("java", "/** Reads JSON. */\n@Deprecated\npublic final class Reader<T> extends Base {\n  void read() {}\n}\n", "Reader", Kind.CLASS,
     "public final class Reader<T> extends Base", "Reads JSON."),
    ("c", "/* Frees it. */\nstatic struct item *\nitem_free(struct item *it, void (*done)(int))\n{\n\treturn 0;\n}\n", "item_free", Kind.FUNCTION,
     "static struct item * item_free(struct item *it, void (*done)(int))", "Frees it."),
    ("c", "typedef struct {\n  int x;\n  int y;\n} point;\n", "point", Kind.CLASS, "typedef struct", ""),
    ("c", "#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n", "MAX", Kind.FUNCTION, "#define MAX(a, b)", ""),
    ("cpp", "template <typename T>\nint Stack<T>::size() const {\n  return n;\n}\n", "Stack.size", Kind.METHOD, "int Stack<T>::size() const", ""),
    ("cpp", "namespace a::b {\n/// A queue.\nclass LIB_EXPORT Queue final : public Base {\n public:\n  int size() const;\n};\n}\n", "a.b.Queue",
     Kind.CLASS, "class Queue final : public Base", "A queue."),
    ("cpp", "TEST_F(QueueTest, GrowsWhenFull) {\n  EXPECT_EQ(1, 1);\n}\n", "QueueTest.GrowsWhenFull", Kind.METHOD,
     "TEST_F(QueueTest, GrowsWhenFull)", ""),
    ("csharp", "namespace A.B\n{\n    /// <summary>Writes.</summary>\n    [Obsolete]\n    public class Writer : IWriter\n    {\n        void W() {}\n    }\n}\n",
     "A.B.Writer", Kind.CLASS, "public class Writer : IWriter", "Writes."),
    ("ruby", "module Rack\n  # Serves files.\n  class Files < Base\n    def call(env)\n    end\n  end\nend\n", "Rack.Files", Kind.CLASS,
     "class Files < Base", "Serves files."),
    ("ruby", "# Builds.\ndef self.build(a, b = 1)\n  new(a)\nend\n", "build", Kind.FUNCTION, "def self.build(a, b = 1)", "Builds."),
    ("php", "<?php\n/**\n * Logs.\n */\nfinal class Logger implements Log\n{\n    public function log(string $m): void {}\n}\n", "Logger", Kind.CLASS,
     "final class Logger implements Log", "Logs."),
    ("kotlin", "/** Runs it. */\n@Test\nfun <T> List<T>.second(n: Int): T {\n    return this[1]\n}\n", "second", Kind.FUNCTION,
     "fun <T> List<T>.second(n: Int): T", "Runs it."),
    ("swift", "/// Sends.\npublic func send(_ x: Int) async throws -> Bool {\n    return true\n}\n", "send", Kind.FUNCTION,
     "public func send(_ x: Int) async throws -> Bool", "Sends."),
    ("scala", "/** A tree. */\nsealed trait Tree[A] extends Base {\n  def size: Int\n}\n", "Tree", Kind.CLASS, "sealed trait Tree[A] extends Base", "A tree."),
    ("elixir", "defmodule Plug.Conn do\n  @doc \"\"\"\n  Halts it.\n  \"\"\"\n  def halt(conn), do: conn\nend\n", "Plug.Conn", Kind.CLASS, "defmodule Plug.Conn", ""),
    ("lua", "-- Loads.\nfunction M.load(name)\n  return name\nend\n", "M.load", Kind.METHOD, "function M.load(name)", "Loads."),
    ("bash", "# Greets.\ngreet() {\n  echo hi\n}\n", "greet", Kind.FUNCTION, "greet()", "Greets."),
    ("zig", "/// A list.\npub const List = struct {\n    len: usize,\n    pub fn size(self: List) usize {\n        return self.len;\n    }\n};\n", "List",
     Kind.CLASS, "pub const List = struct", "A list."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "symbol", "kind", "signature", "doc"), SINGLE)
def test_a_definition_is_named_and_described(
    language: str, source: str, symbol: str, kind: Kind, signature: str, doc: str, cut: Cut
) -> None:
    chunk = alone(cut, language, source)
    assert (chunk.symbol, chunk.kind, chunk.signature, chunk.doc) == (symbol, kind, signature, doc)
    assert symbol.rpartition(".")[2] in chunk.defines or language == "elixir"


MEMBERS = [
    ("python", "class A:\n{}", "    def m{n}(self):\n        return {n}{fill}\n"),
    ("javascript", "class A {{\n{}}}\n", "  m{n}(x) {{\n    return {n}{fill};\n  }}\n"),
    ("typescript", "export abstract class A {{\n{}}}\n", "  private m{n}(x: number): number {{\n    return {n}{fill};\n  }}\n"),
    ("rust", "impl<T: Clone> A<T> {{\n{}}}\n", "    /// Doc.\n    pub fn m{n}(&self) -> i64 {{\n        {n}{fill}\n    }}\n"),
    ("java", "public class A {{\n{}}}\n", "  @Override\n  public int m{n}() {{\n    return {n}{fill};\n  }}\n"),
    ("cpp", "class A {{\n public:\n{}}};\n", "  int m{n}() const {{\n    return {n}{fill};\n  }}\n"),
    ("csharp", "public class A\n{{\n{}}}\n", "    public int m{n}()\n    {{\n        return {n}{fill};\n    }}\n"),
    ("ruby", "class A\n{}end\n", "  def m{n}(x)\n    {n}{fill}\n  end\n"),
    ("php", "<?php\nclass A\n{{\n{}}}\n", "    public function m{n}()\n    {{\n        return {n}{fill};\n    }}\n"),
    ("kotlin", "class A {{\n{}}}\n", "    fun m{n}(): Int {{\n        return {n}{fill}\n    }}\n"),
    ("swift", "struct A {{\n{}}}\n", "    func m{n}() -> Int {{\n        return {n}{fill}\n    }}\n"),
    ("scala", "object A {{\n{}}}\n", "  def m{n}(x: Int): Int = {{\n    {n}{fill}\n  }}\n"),
    ("elixir", "defmodule A do\n{}end\n", "  def m{n}(x) do\n    {n}{fill}\n  end\n"),
]


@pytest.mark.parametrize(("language", "frame", "member"), MEMBERS)
def test_a_class_that_does_not_fit_is_cut_between_its_members(language: str, frame: str, member: str, cut: Cut) -> None:
    fill = " + 1234567" * 30
    chunks = cut(language, frame.format("\n".join(member.format(n=n, fill=fill) for n in range(12))))
    assert len(chunks) >= 6
    members = [name for chunk in chunks for name in chunk.defines if name != "A"]
    assert members == [f"m{n}" for n in range(12)], "each member is defined once"
    for chunk in chunks[1:]:
        assert chunk.kind is Kind.METHOD
        assert chunk.scope == "A"
        assert chunk.symbol == f"A.{chunk.defines[0]}" or len(chunk.defines) > 1
        assert chunk.signature


TOP = [
    ("go", "package a\n\n{}", "// M{n} adds.\nfunc (a *A) m{n}() int {{\n\treturn {n}{fill}\n}}\n"),
    ("c", "#include <a.h>\n\n{}", "/* Adds. */\nstatic int\nm{n}(void)\n{{\n\treturn {n}{fill};\n}}\n"),
    ("tsx", "{}", "export const m{n} = ({{ x }}: Props) => {{\n  return <b>{{{n}{fill}}}</b>;\n}};\n"),
    ("lua", "local M = {{}}\n\n{}return M\n", "-- Adds.\nfunction m{n}(x)\n  return {n}{fill}\nend\n"),
    ("bash", "#!/bin/bash\nset -e\n\n{}", "# Adds.\nm{n}() {{\n  echo $(( {n}{fill} ))\n}}\n"),
    ("zig", 'const std = @import("std");\n\n{}', "/// Adds.\npub fn m{n}(x: u32) u32 {{\n    return {n}{fill};\n}}\n"),
]


@pytest.mark.parametrize(("language", "frame", "definition"), TOP)
def test_what_does_not_fit_is_cut_between_its_definitions(language: str, frame: str, definition: str, cut: Cut) -> None:
    fill = " + 1234567" * 30
    written = [definition.format(n=n, fill=fill) for n in range(8)]
    chunks = cut(language, frame.format("\n".join(written)))
    assert [name for chunk in chunks for name in chunk.defines if name not in ("M", "std")] == [f"m{n}" for n in range(8)], (
        "each once, in order"
    )
    assert len(chunks) >= 4
    for source in written:
        assert sum(source.strip() in chunk.text for chunk in chunks) == 1, "whole, with what is above it"


def test_every_language_of_the_table_has_its_samples() -> None:
    described = {row[0] for row in (*SINGLE, *test_languages.SINGLE)} | {"vue", "svelte"}  # test_a_script_in_markup_…
    assert described >= set(GRAMMARS)
    assert {row[0] for row in (*MEMBERS, *TOP, *test_languages.MANY)} | {"vue", "svelte"} >= set(GRAMMARS)


def test_a_long_class_begins_with_its_header_and_fields(cut: Cut) -> None:
    fields = "".join(f"    field_{n}: int = {n}  # what the field with number {n} is for\n" for n in range(6))
    methods = "".join(f"\n    def method_{n}(self) -> int:\n        return {' + '.join(['self.field_1'] * 30)}\n" for n in range(6))
    chunks = cut("python", f'class Thing(Base):\n    """A thing."""\n\n{fields}{methods}')
    assert (chunks[0].symbol, chunks[0].kind, chunks[0].defines) == ("Thing", Kind.CLASS, ("Thing",))
    assert chunks[0].text.splitlines()[-1].strip().startswith("field_5")
    assert chunks[1].symbol == "Thing.method_0"


def test_a_long_function_is_cut_between_statements_and_keeps_its_name(cut: Cut) -> None:
    statements = "".join(f"    if value > {n}:\n        total += compute(value, {n})\n        log.info('%s', total)\n" for n in range(40))
    chunks = cut("python", f'def work(value):\n    """Does it all."""\n    total = 0\n{statements}    return total\n')
    assert len(chunks) > 3
    assert {chunk.symbol for chunk in chunks} == {"work"}
    assert {chunk.signature for chunk in chunks} == {"def work(value)"}
    assert {chunk.doc for chunk in chunks} == {"Does it all."}
    assert [chunk.defines for chunk in chunks[1:]] == [()] * (len(chunks) - 1)
    assert all(chunk.text.lstrip().startswith(("if ", "return")) for chunk in chunks[1:]), "no statement is torn apart"


def test_nested_definitions_are_in_one_chunk_only(cut: Cut) -> None:
    inner = "".join(f"    def inner_{n}():\n        return {' + '.join(['1234'] * 60)}\n\n" for n in range(8))
    chunks = cut("python", f"def outer():\n{inner}    return inner_0\n")
    names = [name for chunk in chunks for name in chunk.defines]
    assert names == ["outer", *(f"inner_{n}" for n in range(8))]
    assert "outer.inner_3" in {chunk.symbol for chunk in chunks}
    assert sum(chunk.text.count("def inner_") for chunk in chunks) == 8


def test_tiny_neighbours_are_merged_and_name_the_largest(cut: Cut) -> None:
    source = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(5)) + "def largest(a, b, c):\n    return a + b + c + a + b + c\n"
    chunk = alone(cut, "python", source)
    assert chunk.defines == ("f0", "f1", "f2", "f3", "f4", "largest")
    assert chunk.symbol == "largest"


@pytest.mark.parametrize(
    ("language", "above", "definition"),
    [
        ("python", "# Why it is so.\n@decorated(\n    1,\n)\n", "def f{n}():\n    return {fill}\n"),
        ("go", "// Why it is so.\n// And more.\n", "func f{n}() int {{\n\treturn {fill}\n}}\n"),
        ("rust", "/// Why it is so.\n#[test]\n", "fn f{n}() -> i64 {{\n    {fill}\n}}\n"),
        ("javascript", "/**\n * Why it is so.\n */\n", "export function f{n}() {{\n  return {fill};\n}}\n"),
        ("cpp", "// Why it is so.\ntemplate <typename T>\n", "int f{n}() {{\n  return {fill};\n}}\n"),
        ("elixir", '@doc """\nWhy it is so.\n"""\n@spec f(a) :: b\n', "def f{n}(a) do\n  {fill}\nend\n"),
        ("kotlin", "// Why it is so.\n@Test\n", "fun f{n}(): Int {{\n    return {fill}\n}}\n"),
    ],
)
def test_comments_and_decorators_stay_with_what_they_describe(language: str, above: str, definition: str, cut: Cut) -> None:
    fill = " + ".join(["12345"] * 50)
    chunks = cut(language, "\n".join(above + definition.format(n=n, fill=fill) for n in range(8)))
    assert len(chunks) >= 4
    assert all(chunk.text.startswith(above.splitlines()[0]) for chunk in chunks)
    if language != "python":
        assert all(chunk.doc.startswith("Why it is so.") for chunk in chunks)


MODULE_DOCS = [
    ("python", '#!/usr/bin/env python\n# Copyright someone\n"""Tools for trees. And more."""\nimport a\n', "Tools for trees."),
    ("python", "import a\nx = 1\n", ""),
    ("rust", "// Copyright 2020\n\n//! Channels for tasks.\n//!\n//! More.\n\nuse a;\n", "Channels for tasks."),
    ("rust", "// A note on what follows.\nuse a;\n", ""),
    ("go", "// Copyright 2014. All rights reserved.\n\n// Package gin routes requests. It is fast.\npackage gin\n", "Package gin routes requests."),
    ("javascript", "/**\n * Licensed under MIT.\n */\n\n/**\n * @file\n */\n\n// Helpers for URLs.\n\nimport a from 'a';\n", "Helpers for URLs."),
    ("javascript", "// eslint-disable-next-line\nimport a from 'a';\n", ""),
    ("javascript", "/** Adds. */\nfunction add() {}\n", ""),
    ("java", "/*\n * Copyright (C) 2008 Google Inc.\n */\npackage a;\n\nimport b.C;\n", ""),
    ("c", "/* Reads tokens of a grammar. */\n\n#include <a.h>\n", "Reads tokens of a grammar."),
    ("ruby", "# frozen_string_literal: true\n\n# Serves files of a folder.\n\nrequire 'a'\n", "Serves files of a folder."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "module_doc"), MODULE_DOCS)
def test_a_file_says_what_it_is_for_but_not_its_licence(language: str, source: str, module_doc: str, cut: Cut) -> None:
    assert alone(cut, language, source).module_doc == module_doc


def test_code_that_does_not_parse_is_still_cut_at_what_was_understood(cut: Cut) -> None:
    fill = " + ".join(["12345"] * 60)
    broken = "x = = 3\nclass\n\n\n"
    chunks = cut("python", broken.join(f"def f{n}():\n    return {fill}\n\n\n" for n in range(6)))
    assert {f"f{n}" for n in range(6)} <= {name for chunk in chunks for name in chunk.defines}


def test_a_header_named_c_that_is_cpp_is_read_as_cpp(cut: Cut) -> None:
    chunk = alone(cut, "c", "namespace a {\ntemplate <class T>\nclass Box {\n public:\n  T get() const { return t; }\n};\n}\n")
    assert (chunk.symbol, chunk.language) == ("a.Box", "c")


def test_what_is_a_string_does_not_define_anything(cut: Cut) -> None:
    chunk = alone(cut, "python", 'TEMPLATE = """\ndef not_a_function():\n    pass\n"""\n')
    assert (chunk.defines, chunk.symbol, chunk.kind) == (("TEMPLATE",), "TEMPLATE", Kind.MODULE)


def test_variables_count_at_the_top_of_a_file_only(cut: Cut) -> None:
    source = "LIMIT = 3\n\n\ndef f():\n    local = 1\n    return local\n\n\nclass A:\n    field = 2\n"
    assert alone(cut, "python", source).defines == ("LIMIT", "f", "A")
