"""A Slack-shaped workspace on localhost. It imports nothing of Footnote: the bot meets it over HTTP and WebSocket alone."""

from playground.acting import Acting
from playground.errors import PlaygroundError, SlackError
from playground.faults import Fault, Faults
from playground.model import Channel, Message, Person
from playground.server import Playground
from playground.socket_mode import Delivery
from playground.web_api import RecordedCall

__all__ = [
    "Acting",
    "Channel",
    "Delivery",
    "Fault",
    "Faults",
    "Message",
    "Person",
    "Playground",
    "PlaygroundError",
    "RecordedCall",
    "SlackError",
]
