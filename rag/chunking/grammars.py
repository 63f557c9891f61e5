"""The table of languages that are cut by their syntax tree. Another language is one more row.

Words are node types of the grammar, as tree-sitter-language-pack 0.13.0 names them. "type=name" fixes the name of what has none of its own.
`functions`: definitions with a body of statements, and their declarations. `classes`: what holds members. `spaces`: names that only
prefix what is in them, and costs nothing to be in. `variables`: named values and types that are no class, counted outside definitions
alone. `values`: what a variable, property or assignment must hold to be a function or class itself. `through`: holds a definition and
begins with it (exports, templates, conditional compilation). `trivia`: comments, attributes, decorators: they go with what follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rag.chunking import peculiar
from rag.chunking.peculiar import NOTHING, Peculiar


def _named(text: str) -> dict[str, str]:
    return {kind: name for kind, _, name in (word.partition("=") for word in text.split())}


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    grammar: str
    functions: Mapping[str, str]
    classes: Mapping[str, str]
    spaces: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    class_values: frozenset[str] = frozenset()
    through: frozenset[str] = frozenset()
    trivia: frozenset[str] = frozenset({"comment"})
    docstrings: bool = False  # documented by the first string of the body instead of the comment above
    inner_doc: str = ""  # prefix of comments that document the file they begin
    macros: bool = False  # unknown macros among the words of a declaration are blanked before parsing
    trivia_prefix: tuple[str, ...] = ()  # rows that begin so go with what follows, whatever their node is
    peculiar: Peculiar = NOTHING


def _row(
    grammar: str,
    functions: str,
    classes: str,
    spaces: str = "",
    variables: str = "",
    values: str = "",
    class_values: str = "",
    through: str = "",
    trivia: str = "comment",
    docstrings: bool = False,
    inner_doc: str = "",
    macros: bool = False,
    trivia_prefix: str = "",
    peculiar: Peculiar = NOTHING,
) -> Grammar:
    return Grammar(
        grammar,
        _named(functions),
        _named(classes),
        _named(spaces),
        _named(variables),
        words(values),
        words(class_values),
        words(through),
        words(trivia),
        docstrings,
        inner_doc,
        macros,
        tuple(trivia_prefix.split()),
        peculiar,
    )


_JS_FUNCTIONS = "function_declaration generator_function_declaration method_definition"
_JS_VARIABLES = "variable_declarator assignment_expression pair field_definition public_field_definition"
_JS_VALUES = "arrow_function function_expression generator_function"
_JS_THROUGH = "export_statement lexical_declaration variable_declaration expression_statement ambient_declaration"
_TS_FUNCTIONS = f"{_JS_FUNCTIONS} function_signature method_signature abstract_method_signature"
_TS_CLASSES = "class_declaration abstract_class_declaration interface_declaration enum_declaration"
_C_CLASSES = "struct_specifier union_specifier enum_specifier"
_C_VARIABLES = "declaration type_definition preproc_def alias_declaration concept_definition field_declaration"
_C_THROUGH = "preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification template_declaration"

GRAMMARS: Mapping[str, Grammar] = {
    "python": _row(
        "python",
        "function_definition",
        "class_definition",
        variables="assignment type_alias_statement",
        through="decorated_definition expression_statement",
        trivia="comment decorator",
        docstrings=True,
    ),
    "javascript": _row(
        "javascript",
        _JS_FUNCTIONS,
        "class_declaration",
        variables=_JS_VARIABLES,
        values=_JS_VALUES,
        class_values="class",
        through=_JS_THROUGH,
        trivia="comment decorator",
    ),
    "typescript": _row(
        "typescript",
        _TS_FUNCTIONS,
        _TS_CLASSES,
        "internal_module module",
        f"{_JS_VARIABLES} type_alias_declaration",
        _JS_VALUES,
        "class",
        _JS_THROUGH,
        "comment decorator",
    ),
    "tsx": _row(
        "tsx",
        _TS_FUNCTIONS,
        _TS_CLASSES,
        "internal_module module",
        f"{_JS_VARIABLES} type_alias_declaration",
        _JS_VALUES,
        "class",
        _JS_THROUGH,
        "comment decorator",
    ),
    "go": _row(
        "go",
        "function_declaration method_declaration method_elem",
        "type_spec",
        variables="const_spec var_spec type_alias",
        through="type_declaration const_declaration var_declaration var_spec_list",
    ),
    "rust": _row(
        "rust",
        "function_item function_signature_item macro_definition",
        "struct_item enum_item trait_item impl_item union_item",
        "mod_item foreign_mod_item",
        "const_item static_item type_item",
        trivia="line_comment block_comment attribute_item",
        inner_doc="//!",
    ),
    "java": _row(
        "java",
        "method_declaration constructor_declaration compact_constructor_declaration",
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
        trivia="line_comment block_comment",
    ),
    "c": _row("c", "function_definition preproc_function_def", _C_CLASSES, variables=_C_VARIABLES, through=_C_THROUGH, macros=True),
    "cpp": _row(
        "cpp",
        "function_definition preproc_function_def",
        f"{_C_CLASSES} class_specifier",
        "namespace_definition",
        _C_VARIABLES,
        through=_C_THROUGH,
        macros=True,
    ),
    "csharp": _row(
        "csharp",
        "method_declaration constructor_declaration destructor_declaration operator_declaration=operator indexer_declaration=this"
        " local_function_statement delegate_declaration",
        "class_declaration interface_declaration struct_declaration record_declaration enum_declaration",
        "namespace_declaration",
        through="global_statement preproc_if preproc_region",
    ),
    "ruby": _row("ruby", "method singleton_method", "class", "module singleton_class=", "assignment"),
    "php": _row(
        "php",
        "function_definition method_declaration",
        "class_declaration interface_declaration trait_declaration enum_declaration",
        "namespace_definition",
        "const_element",
    ),
    "kotlin": _row(
        "kotlin",
        "function_declaration secondary_constructor=constructor anonymous_initializer=init",
        "class_declaration object_declaration companion_object=Companion",
        variables="property_declaration type_alias",
        trivia="line_comment multiline_comment",
    ),
    "swift": _row(
        "swift",
        "function_declaration protocol_function_declaration init_declaration=init deinit_declaration=deinit"
        " subscript_declaration=subscript",
        "class_declaration protocol_declaration",
        variables="property_declaration typealias_declaration",
        trivia="comment multiline_comment",
    ),
    "scala": _row(
        "scala",
        "function_definition function_declaration",
        "class_definition object_definition trait_definition enum_definition",
        variables="val_definition type_definition",
        trivia="comment block_comment",
    ),
    "elixir": _row("elixir", "call", "call", trivia_prefix="@doc @spec @impl @typedoc @deprecated @since"),
    "lua": _row(
        "lua",
        "function_declaration",
        "",
        variables="assignment_statement",
        values="function_definition",
        through="variable_declaration local_declaration",
    ),
    "bash": _row("bash", "function_definition", "", variables="variable_assignment"),
    "zig": _row(
        "zig",
        "TestDecl",
        "",
        variables="Decl",
        values="FnProto",
        class_values="ContainerDecl",
        trivia="line_comment doc_comment container_doc_comment",
        inner_doc="//!",
    ),
    "haskell": _row(
        "haskell",
        "signature function bind",
        "data_type newtype class instance",
        variables="type_synomym type_family type_instance",
        through="header imports declarations class_declarations instance_declarations",
        trivia="comment haddock",
        peculiar=Peculiar(peculiar.haskell, notes=words("haddock"), mark=peculiar.HADDOCK, whole=words("signature"), merges=True),
    ),
    "sql": _row(
        "sql",
        "create_function create_procedure create_trigger",
        "create_table create_view create_materialized_view create_type",
        variables="create_index create_schema create_sequence create_database create_role create_policy create_extension ERROR",
        trivia="comment marginalia",
        peculiar=Peculiar(peculiar.sql, opens=words("statement")),
    ),
    "html": _row("html", "", "", variables="element", peculiar=Peculiar(peculiar.markup, flat=True, embeds=True)),
    "vue": _row(
        "vue", "", "", variables="template_element style_element element", peculiar=Peculiar(peculiar.markup, flat=True, embeds=True)
    ),
    "svelte": _row("svelte", "", "", variables="style_element element", peculiar=Peculiar(peculiar.markup, flat=True, embeds=True)),
    "css": _row("css", "", "", variables="rule_set keyframes_statement at_rule", peculiar=Peculiar(peculiar.stylesheet, flat=True)),
    "scss": _row(
        "scss",
        "mixin_statement function_statement",
        "",
        variables="rule_set keyframes_statement at_rule declaration",
        trivia="comment js_comment",
        peculiar=Peculiar(peculiar.stylesheet, flat=True),
    ),
    "dart": _row(
        "dart",
        "function_signature getter_signature setter_signature method_signature declaration",
        "class_definition mixin_declaration extension_declaration extension_type_declaration enum_declaration",
        variables="type_alias static_final_declaration",
        trivia="comment documentation_comment annotation",
        peculiar=Peculiar(
            peculiar.dart,
            body="function_body",
            opens=words("static_final_declaration_list"),
            whole=words("function_signature getter_signature setter_signature method_signature declaration"),
        ),
    ),
    "perl": _row(
        "perl",
        "subroutine_declaration_statement method_declaration_statement",
        "class_statement role_statement",
        "package_statement",
        trivia="comment pod",
        peculiar=Peculiar(notes=words("pod"), scopes_rest=words("package_statement class_statement")),
    ),
    "r": _row("r", "", "", variables="binary_operator call argument", peculiar=Peculiar(peculiar.r, mark=peculiar.ROXYGEN)),
    "julia": _row(
        "julia",
        "function_definition macro_definition",
        "struct_definition abstract_definition primitive_definition",
        "module_definition",
        "assignment",
        through="const_statement macrocall_expression macro_argument_list",
        trivia="line_comment block_comment string_literal",
        peculiar=Peculiar(
            peculiar.julia, notes=words("string_literal"), opens=words("const_statement macrocall_expression macro_argument_list")
        ),
    ),
    "terraform": _row("terraform", "", "", variables="block", peculiar=Peculiar(peculiar.terraform)),
    "proto": _row(
        "proto",
        "rpc",
        "message enum service extend",
        "package",
        peculiar=Peculiar(peculiar.proto, scopes_rest=words("package")),
    ),
    "graphql": _row(
        "graphql",
        "operation_definition fragment_definition",
        "object_type_definition input_object_type_definition enum_type_definition interface_type_definition schema_definition"
        " object_type_extension input_object_type_extension enum_type_extension interface_type_extension",
        variables="scalar_type_definition union_type_definition directive_definition union_type_extension",
        through="document definition",
        peculiar=Peculiar(
            peculiar.graphql,
            notes=words("description"),
            opens=words("document definition type_system_definition type_definition executable_definition"),
        ),
    ),
    "dockerfile": _row(
        "dockerfile",
        "",
        "",
        variables="from_instruction",
        peculiar=Peculiar(peculiar.dockerfile, sections=words("from_instruction")),
    ),
    "make": _row("make", "rule", "", variables="variable_assignment define_directive", peculiar=Peculiar(peculiar.make, flat=True)),
}

# Other names under which the same language may come.
ALIASES: Mapping[str, str] = {
    "c++": "cpp",
    "c#": "csharp",
    "c_sharp": "csharp",
    "shell": "bash",
    "sh": "bash",
    "jsx": "javascript",
    "hcl": "terraform",
}


_CPP = re.compile(r"\s*(?:namespace\b(?!\s*=)|template\s*<|class\s+\w+[^;]*$|(?:public|private|protected)\s*:|using\s+\w)")


def is_cpp(lines: Sequence[str]) -> bool:
    """Whether a file that is called C (by the name of a header) is C++."""
    return any(_CPP.match(line) for line in lines)


def grammar_for(language: str) -> Grammar | None:
    """The row of a language, None where it has no syntax tree here."""
    return GRAMMARS.get(ALIASES.get(language, language))
