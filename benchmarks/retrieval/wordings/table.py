"""Plain against said otherwise, a line a family, and a line a wording where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from benchmarks.retrieval.wordings.measure import FAMILIES, Found, Pair
from rag.evaluation.datasets import in_half
from rag.retrieval.confidence import REFUSE_BELOW, WARN_BELOW

HEAD = (
    f"{'':<34}{'pairs':>6}  {'one list: plain':>15}{'said':>7}{'change':>8}{'half a':>8}{'half b':>8}"
    f"  {'code: plain':>11}{'said':>7}{'change':>8}  {'other group leads':>17}"
    f"  {'warned: plain':>13}{'said':>6}  {'declined: plain':>15}{'said':>6}"
)


def render(pairs: Sequence[Pair], *, each_wording: bool = False) -> str:
    lines = [HEAD]
    for family in FAMILIES:
        of_family = [pair for pair in pairs if pair.wording.family == family]
        if not of_family:
            continue
        lines.append(_line(family, of_family))
        if each_wording:
            names = dict.fromkeys(pair.wording.name for pair in of_family)
            lines += [_line(f"   {name[:30]}", [pair for pair in of_family if pair.wording.name == name]) for name in names]
    return "\n".join(lines) + "\n"


def as_json(pairs: Sequence[Pair]) -> list[dict[str, object]]:
    return [
        {
            "id": pair.question.id,
            "family": pair.wording.family,
            "wording": pair.wording.name,
            "text": pair.said,
            **{
                f"{name}_{when}": getattr(found, name)
                for when, found in (("plain", pair.before), ("said", pair.after))
                for name in found.__slots__
            },
        }
        for pair in pairs
    ]


def _line(name: str, pairs: Sequence[Pair]) -> str:
    one, code = (_both(pairs, lambda found, of=of: getattr(found, of)) for of in ("one_list", "code"))  # type: ignore[misc]
    halves = [_both([p for p in pairs if in_half(p.question.repository, half)], lambda found: found.one_list) for half in ("a", "b")]
    led = fmean(pair.before.leads != pair.after.leads for pair in pairs)
    shares = [_both(pairs, lambda found, least=least: float(found.confidence < least)) for least in (WARN_BELOW, REFUSE_BELOW)]  # type: ignore[misc]
    changes = "".join(f"{after - before:>+8.3f}" for before, after in (one, *halves))
    sure = "  ".join(f"{before:>{width}.1%}{after:>6.1%}" for width, (before, after) in zip((13, 15), shares, strict=True))
    return (
        f"{name:<34}{len(pairs):>6}  {one[0]:>15.3f}{one[1]:>7.3f}{changes}"
        f"  {code[0]:>11.3f}{code[1]:>7.3f}{code[1] - code[0]:>+8.3f}  {led:>17.1%}  {sure}"
    )


def _both(pairs: Iterable[Pair], value: Callable[[Found], float]) -> tuple[float, float]:
    """The means before and after, nothing where there is no pair."""
    found = [(value(pair.before), value(pair.after)) for pair in pairs]
    return (fmean(before for before, _ in found), fmean(after for _, after in found)) if found else (0.0, 0.0)
