"""Passwords at rest: scrypt with a salt of its own for each."""

import base64
import hashlib
import hmac

from nova_lite import runtime

# 4 MiB and about 10 ms: a simulated cloud's test suites log in thousands of times.
COST, BLOCK = 2**12, 8


def _digest(password, salt):
    raw = hashlib.scrypt(password.encode(), salt=salt.encode(), n=COST, r=BLOCK, p=1, dklen=32)
    return base64.b64encode(raw).decode()


def hashed(password):
    """What to store for `password`."""
    salt = runtime.new_secret(12)
    return f'scrypt${salt}${_digest(password, salt)}'


def matches(password, stored):
    """Whether `password` is the one that `stored` was made from."""
    if stored is None:
        return False
    _, salt, digest = stored.split('$')
    return hmac.compare_digest(_digest(password, salt), digest)
