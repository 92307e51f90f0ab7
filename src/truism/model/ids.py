"""Short names that follow from content: of models, rules, incidents and patterns."""

import base64
import hashlib
from typing import Any

import msgspec


def id_of(content: Any, n_bytes: int = 5) -> str:
    """Return a name for a value: equal content has the same one, in small letters and digits.

    >>> id_of(("flow", 1)), len(id_of("flow", 10))
    ('6ccovjux', 16)
    """
    digest = hashlib.blake2b(msgspec.json.encode(content), digest_size=n_bytes).digest()
    return base64.b32encode(digest).decode().lower()
