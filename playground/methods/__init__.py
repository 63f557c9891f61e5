"""The Web API's methods, one module per family. Importing this package registers them all."""

from playground.methods import agents, chat, connection, conversations, reactions, stream, users, views
from playground.methods.registry import METHODS, Call, Platform

__all__ = ["METHODS", "Call", "Platform", "agents", "chat", "connection", "conversations", "reactions", "stream", "users", "views"]
