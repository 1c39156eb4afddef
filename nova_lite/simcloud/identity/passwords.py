"""Passwords at rest: scrypt with a salt of its own for each."""

import base64
import hashlib
import hmac

from nova_lite import runtime

# 4 MiB and about 10 ms: a simulated cloud's test suites log in thousands of times.
COST, BLOCK = 2**12, 8


def _digest(password, salt, cost):
    raw = hashlib.scrypt(password.encode(), salt=salt.encode(), n=cost, r=BLOCK, p=1, dklen=32)
    return base64.b64encode(raw).decode()


def hashed(password, cost):
    """Return what to store for `password`. cost: scrypt's N, a power of two."""
    salt = runtime.new_secret(12)
    return f'scrypt${cost}${salt}${_digest(password, salt, cost)}'


def matches(password, stored):
    """Whether `password` is the one that `stored` was made from."""
    if stored is None:
        return False
    # Hashes of earlier releases do not name their cost.
    _, *costs, salt, digest = stored.split('$')
    cost = int(costs[0]) if costs else COST
    return hmac.compare_digest(_digest(password, salt, cost), digest)
