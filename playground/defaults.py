"""The workspace a playground opens with: small, and with every kind of person and place that access rules must tell apart."""

from __future__ import annotations

from playground.model import Channel, Person

TEAM_ID = "T0PLAYGRND"
TEAM_NAME = "Playground"
PARTNER_TEAM_ID = "T0PARTNERS"
APP_ID = "A0FOOTNOTE"

BOT_USER = "U0FOOTNOTE"
BOT_ID = "B0FOOTNOTE"
MAYA = "U0MAYA0001"
TOMAS = "U0TOMAS002"
GUEST = "U0PRIYA003"
STRANGER = "U0JONAS004"
OTHER_BOT = "U0DEPLOYBT"

GENERAL = "C0GENERAL1"
ENGINEERING = "C0ENGINEER"
RANDOM = "C0RANDOM01"
PRIVATE = "C0SECURITY"
SHARED = "C0PARTNERS"


def people() -> list[Person]:
    """Two colleagues, a guest, a stranger of another workspace, the bot, and somebody else's bot."""
    return [
        Person(MAYA, "maya", "Maya Okafor", TEAM_ID, is_admin=True, email="maya@playground.example"),
        Person(TOMAS, "tomas", "Tomas Lind", TEAM_ID, email="tomas@playground.example"),
        Person(GUEST, "priya", "Priya Nair (guest)", TEAM_ID, is_restricted=True, email="priya@elsewhere.example"),
        Person(STRANGER, "jonas", "Jonas Weber (partner)", PARTNER_TEAM_ID, is_stranger=True),
        Person(BOT_USER, "footnote", "Footnote", TEAM_ID, is_bot=True, bot_id=BOT_ID, app_id=APP_ID),
        Person(OTHER_BOT, "deploybot", "Deploy Bot", TEAM_ID, is_bot=True, bot_id="B0DEPLOYBT", app_id="A0DEPLOYBT"),
    ]


def channels() -> list[Channel]:
    """Public with and without the bot, private, and shared with another workspace."""
    everyone = [MAYA, TOMAS]
    return [
        Channel(GENERAL, "general", "channel", [*everyone, BOT_USER, OTHER_BOT], purpose="Announcements and questions for everyone"),
        Channel(ENGINEERING, "engineering", "channel", [*everyone, GUEST, BOT_USER], purpose="How our code works"),
        Channel(RANDOM, "random", "channel", [*everyone], purpose="The bot has not been invited here"),
        Channel(PRIVATE, "security", "group", [MAYA, BOT_USER], purpose="Private: only those invited"),
        Channel(
            SHARED, "partners", "channel", [*everyone, STRANGER, BOT_USER], purpose="Shared with another workspace", is_ext_shared=True
        ),
    ]
