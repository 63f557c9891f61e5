"""All tables that the bot needs."""

from bot import channels, inbox
from rag.answer_log import MIGRATIONS

ALL_MIGRATIONS = (*MIGRATIONS, *inbox.MIGRATIONS, *channels.MIGRATIONS)
