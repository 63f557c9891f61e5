"""What a question about the setup asks about: a package, a tool, a system. Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set

from rag.index.tokens import split_words, word_terms, words
from rag.retrieval.setup.asked import SetupKind
from rag.retrieval.setup.ecosystems import without_ecosystems
from rag.retrieval.stop_words import STOP_WORDS

_OF_SUCH_QUESTIONS = """
add against all allow allowed any applied apply build built called ci compose config configuration configure configured constraint
constraints contain container continuous core create created current currently cut declare declared default define defined depend
dependencies dependency depends dev devdependencies development do docker does each enable enabled enough every exactly exist exists
expected external extras file first gem good happen happens have image images install installed integration is it job jobs kind know known
latest least libraries library licence licences license licensed licenses licensing list listed lower lowest made main make maximum
minimal minimum name named need needed needs new oldest on one open option optional options other our package packages party peer
peerdependencies permitted pin pinned pipeline pipelines please project pull push range reference referenced release released repo
repository require required requirement requirements requires rule rules run running runs runtime script scripts set setting settings
setup show something specified still support supported supports target targets task tasks test tested testing tests thing things third
this tool tools under up use used uses using version versions want way ways we when which workflow workflows works yet you your
"""
_GENERIC = STOP_WORDS | set(_OF_SUCH_QUESTIONS.split())  # they say that the setup is asked for


def subject_of_setup(text: str, kinds: Sequence[SetupKind], repository: str) -> list[str]:
    """The words of the question that its answer must hold, as they are written. Of a licence none: its text names neither whom nor what it
    is for. A repository's own name only where nothing else can be meant."""
    if tuple(kinds) == ("licence",):
        return []
    named = _named(text, _GENERIC.union(split_words(repository)))
    return named or (_named(text, _GENERIC) if tuple(kinds) == ("used",) else [])


def _named(text: str, beside: Set[str]) -> list[str]:
    return [
        word
        for word in dict.fromkeys(words(without_ecosystems(text)))
        if len(word) > 1 and beside.isdisjoint((word.lower(), *word_terms(word)[1:]))
    ]
