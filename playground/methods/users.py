"""users.info, list, lookupByEmail."""

from __future__ import annotations

from playground.errors import SlackError
from playground.methods.registry import Call, method, page_of
from playground.model import Json


@method("users.info")
def info(call: Call) -> Json:
    person = call.workspace.people.get(call.arguments.required("user"))
    if person is None:
        raise SlackError("user_not_found")
    return {"user": person.as_slack()}


@method("users.list")
def list_(call: Call) -> Json:
    members = [person.as_slack() for person in call.workspace.people.values() if not person.is_stranger]
    page, cursor = page_of(members, call.arguments, 200)
    return {"members": page, "cache_ts": int(call.workspace.clock()), "response_metadata": {"next_cursor": cursor}}


@method("users.lookupByEmail")
def lookup_by_email(call: Call) -> Json:
    wanted = call.arguments.required("email").lower()
    for person in call.workspace.people.values():
        if person.email.lower() == wanted and not person.is_stranger:
            return {"user": person.as_slack()}
    raise SlackError("users_not_found")
