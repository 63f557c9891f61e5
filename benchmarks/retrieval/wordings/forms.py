"""The same thing asked for by another form of sentence."""

from __future__ import annotations

from benchmarks.retrieval.wordings.wording import Kind, Wording, framed

_PHRASE: frozenset[Kind] = frozenset({"phrase"})
_SYMBOL: frozenset[Kind] = frozenset({"symbol"})
_CLAUSE: frozenset[Kind] = frozenset({"clause"})

WORDINGS: tuple[Wording, ...] = (
    *(
        framed("phrase as a sentence", template, _PHRASE)
        for template in (
            "where is the {q}?",
            "show me the {q}",
            "what handles {q}?",
            "find {q}",
            "{q} - where does that live?",
            "which file has the {q}?",
            "is there something for {q}?",
            "explain {q}",
            "how does the {q} work?",
            "can you point me to the code for {q}?",
            "I'm looking for the {q}",
            "do we have {q}?",
            "tell me about {q}",
        )
    ),
    *(
        framed("symbol in a sentence", template, _SYMBOL)
        for template in (
            "where is {q} defined?",
            "what does {q} do?",
            "show me {q}",
            "explain {q}",
            "how does {q} work?",
            "find {q}",
            "what is {q}?",
            "which file contains the {q} class?",
            "{q}?",
        )
    ),
    *(
        framed("clause in a sentence", template, _CLAUSE)
        for template in (
            "can you explain {q}?",
            "I'd like to know {q}",
            "does anyone know {q}?",
            "tell me {q}",
            "I want to understand {q}",
            "please show me {q}.",
        )
    ),
)
