"""What a trial showed, in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.staleness.changes import SHARE
from benchmarks.staleness.cited import State
from benchmarks.staleness.trial import Outcome, Reply

MOST_EMBEDDED = 0.05  # of the chunks, where a hundredth of the files changed


def lines(outcome: Outcome, *, answers: bool = False) -> Iterator[str]:
    full, incremental = outcome.full, outcome.incremental
    files, embedded = outcome.files / full.documents, incremental.embedded / max(1, incremental.chunks)
    kinds = ", ".join(f"{count} × {kind}" for kind, count in Counter(change.kind for change in outcome.changes).items())
    yield f"\n{outcome.name}: {full.documents:,} files, {full.chunks:,} chunks"
    yield f"  {len(outcome.changes)} changes in {outcome.files} files ({files:.1%}): {kinds}"
    yield f"  before the build   {stale(outcome.before)}"
    yield f"  after the build    {stale(outcome.after)}"
    yield f"  added things found {found(outcome.before)} before, {found(outcome.after)} after"
    took, whole = incremental.seconds["total"], full.seconds["total"]
    yield f"  incremental build  {took:.1f} s beside {whole:.1f} s for the full one, {whole / max(took, 1e-3):.1f} times as fast"
    yield f"  embedded anew      {incremental.embedded:,} of {incremental.chunks:,} chunks, {embedded:.1%}{_target(files, embedded)}"
    yield f"  same chunks as an index built from nothing: {'yes' if outcome.same else 'NO'}"
    if answers:
        for before, after in zip(outcome.before, outcome.after, strict=True):
            yield f"  {before.kind}: {before.question}"
            for when, reply in (("before", before), ("after", after)):
                yield f"    {when:<6} {_places(reply)}"
    for failure in failures(outcome):
        yield f"  FAILED: {failure}"


def failures(outcome: Outcome) -> list[str]:
    """Why this is no success; empty where it is one."""
    found = []
    if count := sum(reply.stale for reply in outcome.after):
        found.append(f"{count} answers cite what is gone after the build")
    if not any(reply.stale for reply in outcome.before):
        found.append("no answer cited what is gone before the build, so that this shows nothing")
    if not outcome.same:
        found.append("the incremental index holds other chunks than one built from nothing")
    return found


def stale(replies: Sequence[Reply]) -> str:
    count = sum(reply.stale for reply in replies)
    states = Counter(state for reply in replies for state in reply.states)
    what = ", ".join(f"{states[state]} × {state}" for state in State if states[state] and state is not State.HOLDS)
    said = f"{count} of {len(replies)} answers cite code that is gone"
    return f"{said} ({what}; {states.total()} citations)" if what else f"{said} ({states.total()} citations, all hold)"


def found(replies: Sequence[Reply]) -> str:
    asked = [reply.found for reply in replies if reply.found is not None]
    return f"{sum(asked)} of {len(asked)}"


def _target(files: float, embedded: float) -> str:
    if files > 1.5 * SHARE:
        return f"; the target of under {MOST_EMBEDDED:.0%} is for {SHARE:.0%} of the files changed, which these twenty changes exceed"
    return f" (target: under {MOST_EMBEDDED:.0%}, {'met' if embedded < MOST_EMBEDDED else 'NOT met'})"


def _places(reply: Reply) -> str:
    places = zip(reply.places, reply.states, strict=True)
    return ", ".join(place if state is State.HOLDS else f"{place} ({state})" for place, state in places) or "nothing cited"
