"""auth.test, api.test, bots.info, team.info, apps.connections.open."""

from __future__ import annotations

from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json


@method("auth.test")
def auth_test(call: Call) -> Json:
    workspace = call.workspace
    bot = workspace.bot
    return {
        "url": f"{call.platform.url()}/",
        "team": workspace.team_name,
        "user": bot.name,
        "team_id": workspace.team_id,
        "user_id": bot.id,
        "bot_id": bot.bot_id,
        "is_enterprise_install": False,
    }


@method("api.test")
def api_test(call: Call) -> Json:
    if call.arguments.text("error"):
        raise SlackError(call.arguments.text("error"))
    return {"args": {name: str(value) for name, value in call.arguments.values.items()}}


@method("bots.info")
def bots_info(call: Call) -> Json:
    wanted = call.arguments.text("bot", call.workspace.bot.bot_id)
    for person in call.workspace.people.values():
        if person.is_bot and person.bot_id == wanted:
            return {"bot": {"id": person.bot_id, "deleted": False, "name": person.real_name, "user_id": person.id, "app_id": person.app_id}}
    raise SlackError("bot_not_found")


@method("team.info")
def team_info(call: Call) -> Json:
    return {"team": {"id": call.workspace.team_id, "name": call.workspace.team_name, "domain": "playground", "is_verified": False}}


@method("apps.connections.open", token="app")  # noqa: S106 - a kind of token, not one
def connections_open(call: Call) -> Json:
    return {"url": call.platform.open_socket()}
