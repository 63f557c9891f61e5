"""Questions with more in the message than the question: a preamble, a log, a trace, a second question, another language."""

from __future__ import annotations

from benchmarks.retrieval.wordings.wording import ALL, Kind, Wording, framed

_PREAMBLES = (
    "We had a small incident last night and the person on call had to restart a few machines by hand, which took most of an hour. I am "
    "writing the report for that now and would like to get the facts right before I send it around. {q}",
    "As some of you know I joined two weeks ago and I am still finding my way around. Yesterday I paired with Maria and we looked at a lot "
    "of things, but we did not get to this before lunch. So here is what I would like to find out:\n\n{q}",
    "{q}\n\nThe reason I ask is that the quarterly planning is coming up next month and somebody from the finance side wants to know how "
    "much effort it would be to change anything there, and I have no idea what to tell them.",
)
_LOGS = (
    "2024-05-14T09:31:07.412Z ERROR [worker-7] pid=8812 request_id=3f9a1c77e0 gateway timeout after 30000ms upstream=10.4.0.17:8443\n{q}",
    "{q}\n```\n[2024-05-14 09:31:07] WARN  (main) disk usage at 91% on /dev/nvme0n1p1, mounted on /var/lib/data\n```",
)
_TRACES = (
    'Traceback (most recent call last):\n  File "/srv/app/jobs/nightly.py", line 88, in main\n    report(total)\n  File '
    '"/srv/app/jobs/report.py", line 14, in report\n    raise ValueError("negative total: -3")\nValueError: negative total: -3\n\n{q}',
    'panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.pick(...)\n\t/home/me/demo/main.go:12\n'
    'main.main()\n\t/home/me/demo/main.go:7 +0x1d\nexit status 2\n\n{q}',
)  # fmt: skip
_FOREIGN: tuple[tuple[frozenset[Kind], tuple[str, ...]], ...] = (
    (
        frozenset({"phrase", "symbol"}),
        (
            "Hallo zusammen, weiß jemand, wo {q} implementiert ist? Danke!",
            "Bonjour, où se trouve {q} dans le code ? Merci d'avance",
            "Hola, ¿alguien sabe dónde está {q} en el código? Gracias",
        ),
    ),
    (
        frozenset({"clause", "question"}),
        ("Kurze Frage: {q} Danke schon mal!", "Une question rapide : {q} Merci beaucoup !", "Una pregunta rápida: {q} ¡Muchas gracias!"),
    ),
)

WORDINGS: tuple[Wording, ...] = (
    *(framed("preamble", template) for template in _PREAMBLES),
    *(framed("pasted log", template) for template in _LOGS),
    *(framed("pasted trace", template) for template in _TRACES),
    framed("two questions", "{q}? Also, what time is the release tomorrow?", ALL, bare=True),
    framed("two questions", "Two things: first, where do I book a desk for next week? And second, {q}?", ALL, bare=True),
    *(framed("other language", template, kinds) for kinds, templates in _FOREIGN for template in templates),
)
