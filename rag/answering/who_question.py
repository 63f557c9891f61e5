"""Whether a question asks for people ("who knows about X", "whom do I ask about X"), and what X is. Pure.

"Who calls this function?" asks for code and is none of these.
"""

from __future__ import annotations

import re

from rag.index.tokens import terms
from rag.retrieval.stop_words import STOP_WORDS

_LEAD = (
    r"^(?:(?:hey|hi|hello|please|ok|okay|so|and|but|well|now|also),? ){0,2}"
    r"(?:(?:do you|does anyone|does anybody|does someone) know |(?:can|could) you (?:tell|say) (?:me |us )?|tell (?:me|us) |any idea )?"
)
_OFTEN = r"(?:(?:else|last|first|still|also|mainly|mostly|usually|normally|currently|originally|actually|recently|really|best|most) )*"
_KNOWS = (
    r"(?:knows?|understands?) (?:(?:the )?(?:most|best|more|something|anything|a lot|much|enough) )?(?:about |of |how )?"
    r"|(?:wrote|authored|maintains?|maintained|owns?|owned|changed|touched|edited|modified|implemented|built|created|added|introduced) "
    r"|(?:works|worked|has worked|have worked|is working|are working) (?:most |mostly )?(?:on|at|with) "
    r"|(?:is|are|was|were)? ?(?:responsible|in charge|accountable) (?:for|of) "
    r"|(?:is|are) (?:most |best )?(?:familiar with|knowledgeable about|good at) "
    r"|(?:is|are|was|were) (?:the |an? |our )?(?:main |best |original |right |code )?"
    r"(?:owners?|codeowners?|maintainers?|authors?|experts?|contacts?|person|people|one) (?:of|for|on|in|about|behind|to ask about) "
    r"|(?:should|can|could|must|would|has to) (?:review|approve|look at|look over) "
    r"|(?:can|could|might|would) (?:be able to )?(?:tell|help|explain|advise|teach) (?:me |us )?"
    r"(?:something |more |out )?(?:about|with|on) "
    r"|(?:has|have) (?:the )?(?:most |some |any )?(?:experience|knowledge|expertise) (?:with|of|in|on|about) "
)
_ASK = (
    r"(?:do|can|could|should|would|must|shall|to|is to|might) (?:i |we |one |you )?"
    r"(?:ask|talk to|speak to|speak with|talk with|contact|turn to|approach|reach out to|ping|add as (?:a )?reviewers?) "
    r"(?:about|for|of|regarding|concerning|on|with|if|when|in) "
)
_WHO = re.compile(rf"{_LEAD}whom? {_OFTEN}(?:{_KNOWS}|{_ASK})(?P<topic>.+)$", re.IGNORECASE | re.DOTALL)
_CODE_OF = re.compile(
    r"^(?:the |our |this )?(?:code|implementation|logic|part|parts|stuff) (?:for|of|in|behind|that does|around) ", re.IGNORECASE
)
_NOTHING = STOP_WORDS | frozenset(
    {"code", "codebase", "repo", "repository", "project", "program", "thing", "things", "stuff", "file", "files"}
)
_LONGEST = 500  # characters of a question that are looked at; more is no question of this kind


def topic_of(question: str) -> str:
    """What a question wants people for, filters included; "" where it does not ask for people, or for those of nothing in particular."""
    text = re.sub(r"(?<=\bwho)['’]s(?= )", " is", " ".join(question.split()), flags=re.IGNORECASE)
    if len(text) > _LONGEST or (found := _WHO.match(text)) is None:
        return ""
    topic = _CODE_OF.sub("", found["topic"].strip(" ?!.,"))
    return topic if any(term not in _NOTHING for term in terms(topic)) else ""
