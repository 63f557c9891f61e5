"""What a worker and its parent must agree on."""

from __future__ import annotations

WALL_FACTOR = 6
"""So many times the processor seconds that a document may take, its answer is waited for by the clock."""
