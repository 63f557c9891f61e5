"""The words and phrases with which people address each other around a question. They are of conversation, not of code."""

from __future__ import annotations

import re

from rag.retrieval.stop_words import FOREIGN_WORDS, STOP_WORDS

CIVIL = frozenset(
    """
hey hi hiya hello heya yo howdy greetings morning afternoon evening folks everyone everybody guys people friends thanks thank thx ty
tia cheers regards appreciate appreciated please pls plz kindly sorry apologies apologise apologize forgive newbie noob dumb silly
urgent rush curious wondering wonder um uh hmm erm btw fyi tldr qq afaik imho hope hoping anyway pointers hint hints clue idea ideas
anyone anybody someone somebody haha lol question questions asking pray advance welcome cc danke dankeschön hallo moin servus merci
bonjour bonsoir salut gracias hola frage pregunta
""".split()  # noqa: SIM905
)
"""Words one of which makes a sentence of nothing but such words a courtesy."""

OF_SENTENCES = (
    CIVIL
    | STOP_WORDS
    | FOREIGN_WORDS
    | frozenset(
        """
good day well nice great lovely happy team all there dear bot footnote quick short simple small basic stupid little one ask asked
before already again just maybe perhaps really very much quite lot lots long way help helps helping know knows knew think ok okay
right now today here back so but also too if then than because hopefully probably new time moment minute sec second take look
looking let be been could would might best kind bother bothering disturb spam spamming ping pinging friday monday week weekend
answer answers pointer tl dr q ps hours ve re ll m s t d don doesn didn isn aren wasn can couldn wouldn
""".split()  # noqa: SIM905
    )
)
"""What a courtesy is made of."""

EMPTY = OF_SENTENCES | frozenset(
    """
live lives located happen happens happening wrong going cause causes reason problem issue supposed possible mean means it that this
these those them thing things stuff place somewhere anything something nothing
""".split()  # noqa: SIM905
)
"""Words that ask for nothing by themselves."""

FIRST_PERSON = frozenset(
    "i im ive my mine myself colleague colleagues coworker coworkers teammate teammates boss nobody somebody someone".split()  # noqa: SIM905
)
OTHERS = frozenset("we us our ours you your yours they them their theirs he she his her him".split())  # noqa: SIM905
ANYBODY = frozenset("anyone anybody somebody someone everyone everybody folks guys".split())  # noqa: SIM905

_WHOM = r"(?:you|u|anyone|anybody|someone|somebody|everyone|any ?one of you|one of you|some of you|we|i)(?: (?:guys|folks|all|here))?"
_SOFTLY = r"(?:(?:please|pls|plz|kindly|possibly|maybe|perhaps|quickly|briefly|just|happen to|also|already|really|still|actually) )*"
_WITH = (
    r"out|find|understand|know|see|through|to|towards?|at|in the direction of|on|with|of|about|figure out|find out|locate|the following"
    r"|an? (?:overview|pointer|hint|summary|explanation|idea|quick overview)"
)
_TELL = (
    rf"(?:(?:tell|show|give|help|teach|remind|enlighten|walk|guide|direct|point|let) (?:me|us)(?: (?:{_WITH}))*|explain(?: to (?:me|us))?"
    r"|clarify|elaborate on|shed (?:some )?light on|know|remember|recall|say|help(?: me| us)?(?: out)?(?: with)?(?: the following| this)?"
    r"|find(?: out)?|check|look up)"
)
_THEN = (
    r"(?:[:,]? (?:if|whether)(?: (?:there is|there's|we have))?(?= )|:| about| of"
    r"| the (?:code|place|spot|part|bit)s? (?:for|of|that|which|where))?"
)


def _spaced(pattern: str) -> str:
    """As a verbose pattern needs it."""
    return pattern.replace(" ", "[ ]")


_TO_WHOM, _SOFT, _TELLS, _ABOUT = (_spaced(pattern) for pattern in (f"{_WHOM} {_SOFTLY}", _SOFTLY, _TELL, _THEN))
_FRONT = re.compile(
    rf"""\s*(?:
        (?:hey|hi|hiya|hello(?![ ,]*world\b)|heya|yo|howdy|morning|good\ (?:morning|afternoon|evening|day)|dear)\b(?![-./_(]\w)
            (?:[ ](?:there|all|folks|team|everyone|everybody|guys|people|friends|bot|footnote|again|y'all|to\ all|channel))*\s*[,:!.-]*
      | (?:ok|okay|so|well|um+|uh+|hmm+|erm|right|anyway|btw|fyi|now|also|and|but|then|please|pls|plz|kindly|maybe)\b\s*[,:!.-]*
      | (?:tl;?dr|qq?|question|ps|quick\ (?:question|one|q))\s*[:,-]+
      | (?:first|second|third|firstly|secondly|finally|lastly|next)(?:\ of\ all)?,
      | tl;?dr\b | @footnote\b[,:]?
      | (?:(?:a\ |one\ |just\ (?:a\ )?|another\ )*(?:quick|short|small|simple|dumb|silly|stupid|basic|newbie|noob|random|general)\ )
            (?:question|q|one|thing)\b(?:[ ](?:here|about|for\ you|for\ the\ team|from\ me))?\s*[:,-]*
      | (?:can|could|would|will|might|may)[ ]{_TO_WHOM}{_TELLS}{_ABOUT}
      | (?:do|does|did|has|have)[ ]{_TO_WHOM}
            (?:know|remember|recall|have\ (?:any|an|a)\ (?:idea|clue|hint|pointer)s?(?:\ (?:of|on|about|as\ to))?
              |got\ (?:any|an|a)\ (?:idea|clue)s?){_ABOUT}
      | (?:any(?:one|body)|some(?:one|body))[ ]{_SOFT}(?:know|knows|got\ (?:a|any)\ (?:clue|idea)s?){_ABOUT}
      | (?:i(?:'m|\ am|\ was|'ve\ been|\ have\ been)?|we(?:'re|\ are|\ were)?)[ ]{_SOFT}
            (?:wondering|wonder|curious|asking(?:\ myself)?|trying\ to\ (?:find(?:\ out)?|understand|figure\ out|locate|see|learn)
              |looking\ (?:for|to\ find|into)|searching\ for|interested\ (?:in|to\ know)|unsure|not\ sure){_ABOUT}
      | (?:i|we)(?:'d|\ would)?[ ]{_SOFT}(?:like|love|want|need|have|wanted|wish)[ ]to[ ]
            (?:know|understand|find(?:\ out)?|ask|see|learn|figure\ out|hear|locate){_ABOUT}
      | (?:i|we)[ ](?:can't|cannot|couldn't|don't|do\ not)[ ](?:seem\ to[ ])?(?:find|know|understand|remember|figure\ out|see|get){_ABOUT}
      | (?:tell|show)[ ](?:me|us){_ABOUT} | point[ ](?:me|us)[ ](?:to|at|towards?){_ABOUT}
      | help[ ](?:me|us)(?:[ ](?:find|understand|with|locate)){_ABOUT}
      | (?:is|are)[ ]there[ ](?:(?:some|any)thing|(?:some|any)\ (?:code|place))(?:[ ](?:here|already))?[ ](?:for|that|which|to)\b
      | (?:any|got\ any)[ ](?:idea|clue|hint|pointer|chance)s?(?:[ ](?:on|about|as\ to|of))?\s*[:,]?
      | (?:sorry|apologies|forgive\ me|excuse\ me)\b[^:,.!?]{{0,60}}[:,-]+
    )(?:[,:](?=\s))?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
BACK = re.compile(
    r"""[\s,;.!?()-]+(?:(?:many|much|big)\ )?(?:please|pls|plz|thx|ty|tia
        |thanks?(?:\ (?:you|a\ (?:lot|bunch)|(?:so|very)\ much|in\ advance|all|folks|again))*
        |cheers|kindly|anyone|anybody|folks|guys|by\ any\ chance|at\ all|asap|(?:best|kind)?\ ?regards|btw|haha|lol)\s*[?!.:)]*\s*$
      | (?<=[^.])\.{3}\s*$ | \?{2,}\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
"""A courtesy that ends a sentence."""

_SENTENCE = 4  # words of a preface that is one
_PREFACE = re.compile(r"([^:`\n]{2,90}):\s+(?=\S)|([^:,`\n]{2,90}),\s+(?=\S)|([^:`\n]{2,90})\.{3}\s+(?=\S)")
_OF_A_CAUSE = re.compile(
    r"(?:for|from|following up|follow-up|context|background|regarding|re|in|at|during|after|before|this|that|here(?:'s| is))\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"(?:if|when|whenever|while|once|given|assuming|since|because|can|could|do|does|did|is|are|should|would|will|may|must|has|have|how|what|where|which|why|who|as|with|without|unless)\b",
    re.I,
)
_THAT_IS = re.compile(r"\bi\.\s?e\.", re.IGNORECASE)
_SPOKEN = re.compile(r"(?<!['’\w])[^\W_]+")  # "you're" is you


def spoken(text: str) -> list[str]:
    """The words of a sentence, lower case, without what an apostrophe ties to them."""
    return [word.lower() for word in _SPOKEN.findall(_THAT_IS.sub(" ", text))]


def front_of(text: str) -> int:
    """Where a sentence begins behind the phrases that open it."""
    at = 0
    while (found := _FRONT.match(text, at)) and found.end() > at:
        at = found.end()
    return at


def prefaced(text: str) -> tuple[int, bool] | None:
    """Where a sentence begins behind words that only lead up to it ("for a customer ticket: …"), and whether these tell something. None
    where there are none."""
    found = _PREFACE.match(text)
    if found is None:
        return None
    preface = found[1] or found[2] or found[3]
    words = spoken(preface)
    if OF_SENTENCES.issuperset(words) and not CIVIL.isdisjoint(words):
        return found.end(), False
    person = not FIRST_PERSON.isdisjoint(words) or not ANYBODY.isdisjoint(words)
    if found[1] and len(words) > 1 and (person or _OF_A_CAUSE.match(preface)):
        return found.end(), True
    if found[1] and len(words) >= _SENTENCE and not OTHERS.isdisjoint(words):
        return found.end(), True
    if found[2] and person and not _SUBORDINATE.match(preface):
        return found.end(), True
    return None
