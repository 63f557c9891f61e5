"""What becomes of a search that fails, or takes too long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rag.errors import FootnoteError, RetrievalError

log = logging.getLogger(__name__)


@asynccontextmanager
async def failures_explained(name: str, seconds: float) -> AsyncIterator[None]:
    """Makes an error of ours of whatever fails inside, and of what takes more than so many `seconds`. Raises: RetrievalError."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except FootnoteError:
        raise
    except TimeoutError as error:
        raise RetrievalError(
            f"The search in {name} took more than {seconds:g} seconds.",
            "Try again; if it happens often, raise the retrieval timeout or lower the number of candidates.",
        ) from error
    except Exception as error:  # whatever numpy, onnxruntime or a store raise: never told as "nothing found"
        log.exception("A search in %s failed.", name)
        raise RetrievalError(
            f"The search in {name} failed ({type(error).__name__}).", "Try again; if it stays, index the repository again."
        ) from error
