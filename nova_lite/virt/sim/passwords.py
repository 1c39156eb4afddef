"""Passwords in simulated guests: a definition keeps a salted hash of the last one that was set.

The hash moves with the guest: a handover contains it, and so does the journal of the saga until
the saga ends.
"""

import hashlib
import json

from nova_lite import runtime
from nova_lite.virt import model

# Takes 16 MiB and some 50 ms.
COST = 2**14


def hashed(password: str) -> str:
    """Return the salt and the hash of a password as one text."""
    salt = runtime.new_secret(12)
    return f'{salt}:{_digest(salt, password)}'


def matches(kept: str, password: str) -> bool:
    """Return whether a text that `hashed` returned is of this password."""
    salt, _colon, digest = kept.partition(':')
    return digest == _digest(salt, password)


def _digest(salt: str, password: str) -> str:
    return hashlib.scrypt(password.encode(), salt=salt.encode(), n=COST, r=8, p=1).hex()


def put(spec: str, kept: str | None) -> str:
    """Return a definition (JSON text) with the hash that its guest had elsewhere, if any."""
    if not kept:
        return spec
    value: model.Json = json.loads(spec)
    return json.dumps({**value, 'password': kept})


def get(spec: str) -> str:
    """Return the hash in a definition (JSON text), '' for none."""
    kept: str = json.loads(spec).get('password', '')
    return kept
