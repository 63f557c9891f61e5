"""Which language a file is written in, from its name and, where the name says nothing, from its first line.

Names are tree-sitter's where a grammar exists ("csharp", "bash", "make", "proto"), so that the chunker can look them up;
"text" is what is left.
"""

from __future__ import annotations

import re

_EXTENSIONS: dict[str, str] = {
    extension: language
    for language, extensions in {
        "python": "py pyi pyw pyx pxd wsgi",
        "javascript": "js mjs cjs jsx es6",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "c": "c h",
        "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl tpp ino",
        "cuda": "cu cuh",
        "csharp": "cs csx",
        "fsharp": "fs fsi fsx",
        "ruby": "rb rake gemspec ru rbi podspec builder jbuilder thor rabl",
        "php": "php phtml php5 php7",
        "kotlin": "kt kts",
        "swift": "swift",
        "scala": "scala sc sbt",
        "groovy": "groovy gradle gvy",
        "clojure": "clj cljs cljc edn",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "gleam": "gleam",
        "elm": "elm",
        "haskell": "hs lhs hsc",
        "purescript": "purs",
        "ocaml": "ml",
        "ocaml_interface": "mli",
        "lua": "lua",
        "luau": "luau",
        "bash": "sh bash zsh ksh bats",
        "fish": "fish",
        "powershell": "ps1 psm1 psd1",
        "batch": "bat cmd",
        "template": "hbs handlebars mustache tmpl tpl stub liquid njk j2 jinja jinja2 haml slim pug",
        "zig": "zig zon",
        "nim": "nim nims",
        "d": "d di",
        "v": "vsh",
        "odin": "odin",
        "dart": "dart",
        "perl": "pl pm t pod",
        "r": "r",
        "julia": "jl",
        "objc": "m mm",
        "fortran": "f f77 f90 f95 f03 f08",
        "pascal": "pas pp dpr",
        "ada": "adb ads",
        "cobol": "cob cbl",
        "asm": "asm s",
        "verilog": "sv svh",
        "vhdl": "vhd vhdl",
        "solidity": "sol",
        "elisp": "el",
        "commonlisp": "lisp lsp cl",
        "scheme": "scm ss",
        "racket": "rkt",
        "tcl": "tcl",
        "vim": "vim",
        "sql": "sql ddl dml pgsql psql",
        "html": "html htm xhtml",
        "embeddedtemplate": "erb ejs eex leex",
        "heex": "heex",
        "twig": "twig",
        "css": "css",
        "scss": "scss",
        "sass": "sass",
        "less": "less",
        "vue": "vue",
        "svelte": "svelte",
        "astro": "astro",
        "xml": "xml xsd xsl xslt plist csproj fsproj vbproj props targets resx nuspec storyboard xib pom xaml wsdl svg",
        "terraform": "tf tfvars",
        "hcl": "hcl nomad",
        "proto": "proto",
        "thrift": "thrift",
        "graphql": "graphql gql graphqls",
        "prisma": "prisma",
        "dockerfile": "dockerfile containerfile",
        "make": "mk mak make",
        "cmake": "cmake",
        "nix": "nix",
        "starlark": "bzl star bazel",
        "jsonnet": "jsonnet libsonnet",
        "rego": "rego",
        "bicep": "bicep",
        "puppet": "puppet",
        "markdown": "md markdown mdx mkd mdown qmd",
        "restructuredtext": "rst rest",
        "asciidoc": "adoc asciidoc",
        "org": "org",
        "latex": "tex sty cls",
        "text": "txt text rdoc",
        "toml": "toml",
        "yaml": "yaml yml neon",
        "json": "json json5 jsonc webmanifest map",
        "jsonl": "jsonl ndjson",
        "geojson": "geojson",
        "csv": "csv",
        "tsv": "tsv",
        "ini": "ini cfg conf editorconfig",
        "properties": "properties",
        "po": "po pot",
        "notebook": "ipynb",
        "glsl": "glsl vert frag comp",
        "wgsl": "wgsl",
        "hlsl": "hlsl",
    }.items()
    for extension in extensions.split()
}

_WRAPPED = frozenset({"tt", "in", "dist", "example", "sample", "template", "orig", "rej", "bak", "old"})
"""What stands behind the extension that counts: "database.yml.tt", "config.h.in"."""

_NAMES: dict[str, str] = {
    name: language
    for language, names in {
        "dockerfile": "dockerfile containerfile",
        "make": "makefile gnumakefile kbuild bsdmakefile",
        "cmake": "cmakelists.txt",
        "meson": "meson.build meson_options.txt meson.options",
        "ruby": "gemfile rakefile guardfile podfile vagrantfile capfile brewfile fastfile appraisals steepfile dangerfile .irbrc",
        "groovy": "jenkinsfile",
        "starlark": "build workspace tiltfile",
        "python": "sconstruct sconscript wscript snakefile",
        "javascript": "jakefile",
        "bash": ".bashrc .bash_profile .profile .zshrc .zshenv pkgbuild configure gradlew",
        "json": ".babelrc .eslintrc .prettierrc .swcrc .jshintrc composer.lock",
        "gomod": "go.mod go.work",
        "ini": ".gitconfig .npmrc .flake8 .pylintrc .coveragerc .editorconfig .flaskenv",
        "gitignore": ".gitignore .npmignore .dockerignore .eslintignore .prettierignore",
        "gitattributes": ".gitattributes",
        "requirements": "requirements.txt constraints.txt",
        "yaml": ".clang-format .clang-tidy",
        "perl": "cpanfile makefile.pl",
        "text": "license licence copying readme authors notice changelog changes contributing news todo install",
    }.items()
    for name in names.split()
}

_INTERPRETERS: dict[str, str] = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "deno": "typescript",
    "bun": "typescript",
    "ts-node": "typescript",
    "tsx": "typescript",
    "ruby": "ruby",
    "jruby": "ruby",
    "php": "php",
    "perl": "perl",
    "lua": "lua",
    "luajit": "lua",
    "sh": "bash",
    "bash": "bash",
    "dash": "bash",
    "ash": "bash",
    "ksh": "bash",
    "zsh": "bash",
    "bats": "bash",
    "fish": "fish",
    "pwsh": "powershell",
    "rscript": "r",
    "julia": "julia",
    "elixir": "elixir",
    "escript": "erlang",
    "groovy": "groovy",
    "swift": "swift",
    "tclsh": "tcl",
    "make": "make",
    "runhaskell": "haskell",
    "scala": "scala",
}

_SHEBANG = re.compile(r"#!\s{0,4}(\S{1,200})(?:[ \t]{1,8}(?:-S[ \t]{1,4})?(\S{1,100}))?")
_MODELINE = re.compile(r"-\*-\s{0,4}(?:mode:\s{0,4})?([A-Za-z+#-]{1,20})", re.IGNORECASE)


def language_of(path: str, first_line: str = "") -> str:
    """The language of the file at `path`, "text" where none is known. `first_line` serves files whose name says nothing."""
    name = path.rpartition("/")[2].lower()
    if name in _NAMES:
        return _NAMES[name]
    stem, dot, extension = name.rpartition(".")
    if name.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    if name.startswith("makefile."):
        return "make"
    if extension in _WRAPPED and "." in stem.strip("."):
        return language_of(stem, first_line)
    if dot and stem and extension in _EXTENSIONS:
        language = _EXTENSIONS[extension]
        if extension == "h" and "c++" in first_line.lower():
            return "cpp"  # the Emacs line that C++ projects put into their headers
        return language
    return _from_first_line(first_line[:400]) or "text"


def _from_first_line(line: str) -> str:
    if shebang := _SHEBANG.match(line):
        program, argument = shebang[1].rpartition("/")[2], shebang[2] or ""
        interpreter = (argument.rpartition("/")[2] if program == "env" else program).lower()
        return _INTERPRETERS.get(interpreter) or _INTERPRETERS.get(interpreter.rstrip("0123456789.-"), "")
    if mode := _MODELINE.search(line):
        name = mode[1].lower()
        return {"c++": "cpp", "sh": "bash", "shell-script": "bash", "makefile": "make", "emacs-lisp": "elisp"}.get(name) or (
            name if name in _EXTENSIONS.values() else ""
        )
    if line.startswith("<?php"):
        return "php"
    if line.startswith("<?xml"):
        return "xml"
    return ""
