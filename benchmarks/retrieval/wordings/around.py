"""What stands around a question in a channel: greetings, thanks, mentions, emoji, markup, where it came from."""

from __future__ import annotations

from benchmarks.retrieval.wordings.wording import Wording, framed

_CHATTER = (
    "hey folks :wave: quick question - {q}? thx!",
    "I was wondering, {q}",
    "sorry if this was asked before, but {q}? Thanks in advance :pray:",
    "Hi team, hope you're all doing well. {q}\n\nCheers",
    "Morning all! Does anyone know {q}? :thinking_face:",
    "ok so I've been staring at this for hours now 😩 {q}",
    "TL;DR {q}",
    "{q}\n\nNo rush, just curious. Thank you so much!!",
    "could you please help me with the following: {q}",
    "hi! {q}? any pointers appreciated 🙏",
    "@here can somebody point me to this please: {q}",
    "@footnote {q} pls",
    "Q: {q}",
)
_ORIGIN = (
    "for a customer ticket: {q}",
    "{q} … asking for a colleague in <#C02DEVELOP|dev> 😅",
    "Context: I'm new on the team and reading through the code. {q}",
    "this came up in standup today and nobody knew the answer: {q}",
)
_MARKUP = (
    "<@U04ABCDEF12> {q}",
    "&gt; {q}",
    "*{q}*",
    "_{q}_",
    "“{q}”",
    "• {q}\n",
    "{q} (see <https://wiki.example.com/display/ENG/Onboarding|onboarding page>)",
    "cc <@U0AAA1111> <@U0BBB2222> – {q}",
)
_UNREAD = (
    "yo, anybody got a clue about this one? {q} :eyes:",
    "Good evening everyone, apologies for the noise. {q}. Much obliged!",
    "<!channel> dumb question incoming :see_no_evil: {q}",
    "Following up from <https://acme.slack.com/archives/C01ABCD/p1700000000000100|this thread>: {q}",
    "{q} -- need this for the audit on Friday, so any hint would be great",
    "My manager would like to know: {q}",
    "1. {q}\n",
    "so, um, {q}... sorry for the newbie question",
    "Dear bot, kindly explain to me {q}. Best, Tom",
    "‘{q}’ – ring a bell for anyone?",
    "```{q}```",
    "pretty sure I've seen this somewhere but can't find it any more, {q}",
    "*Question:* {q}\n*Urgency:* low",
)
_AFTERWARDS = (
    "Heya, maybe a silly thing to ask on a Monday :sweat_smile: but {q} Ta!",
    "<!channel> we're having a debate at lunch about this: {q} Loser buys coffee ☕",
    "{q} (context: writing the onboarding doc and got stuck on that part)",
    "Just got off a call with support, they want to know {q}",
    "<@U0QWERTYU>, since you wrote most of it: {q}",
    "FWIW I did search the channel first. {q} Links welcome :link:",
    "Happy Friday y'all 🎉 {q}",
    "not urgent at all, but if somebody has a minute: {q}",
    "Trying to get my head around something here… {q}",
    "*[backend]* {q} _edited_",
)  # written when the code stood; it was changed once after they were first asked


def _spaced(text: str) -> str:
    """With the spaces that word processors and chat programs leave: unbreakable, and of no width."""
    return "\ufeff" + text.replace(" ", "\u00a0").replace("-", "\u2011") + "\u200b"


WORDINGS: tuple[Wording, ...] = (
    *(framed("chatter", template) for template in _CHATTER),
    *(framed("where it came from", template) for template in _ORIGIN),
    *(framed("markup", template) for template in _MARKUP),
    Wording("markup", "no-break and zero-width spaces", lambda text, random: _spaced(text)),
    *(framed("unread wrappers", template, unread=True) for template in _UNREAD),
    *(framed("wrappers written afterwards", template, unread=True) for template in _AFTERWARDS),
)
