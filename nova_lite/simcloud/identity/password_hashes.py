"""Stored passwords: scrypt with a salt for each."""

import base64
import hashlib
import hmac

from nova_lite import runtime

# 4 MiB and about 10 ms: a simulated cloud's test suites log in thousands of times.
COST, BLOCK = 2**12, 8
# So many passwords that were right are known again without scrypt.
MOST_VERIFIED = 1000


def _digest(password, salt, cost):
    raw = hashlib.scrypt(password.encode(), salt=salt.encode(), n=cost, r=BLOCK, p=1, dklen=32)
    return base64.b64encode(raw).decode()


def _stored(password, cost):
    salt = runtime.new_secret(12)
    return f'scrypt${cost}${salt}${_digest(password, salt, cost)}'


class Verifier:
    """Compares passwords, and remembers in memory which were right.

    Daemons and clients log in with the same few passwords all the time. The verifier stores
    neither a password nor a digest that another process could use.
    """

    def __init__(self):
        self._key = runtime.new_secret(32).encode()
        # (stored, digest of the password under our key) of those that were right.
        self._verified = set()
        # That of the last password that was hashed.
        self._cost = COST

    def hashed(self, password, cost):
        """Return what to store for `password`. cost: scrypt's N, a power of two."""
        stored, self._cost = _stored(password, cost), cost
        self._remember(self._known(password, stored))
        return stored

    def matches(self, password, stored):
        """Return whether `password` is the one that `stored` was made from.

        stored: None for a user who may not log in, which takes as long as a wrong password
        """
        if stored is None:
            _digest(password, '', self._cost)
            return False
        known = self._known(password, stored)
        if known in self._verified:
            return True
        # Hashes of earlier releases do not name their cost.
        _, *costs, salt, digest = stored.split('$')
        self._cost = cost = int(costs[0]) if costs else COST
        if not hmac.compare_digest(_digest(password, salt, cost), digest):
            return False
        self._remember(known)
        return True

    def _known(self, password, stored):
        return stored, hmac.digest(self._key, password.encode(), 'sha256')

    def _remember(self, known):
        if len(self._verified) >= MOST_VERIFIED:
            self._verified.clear()
        self._verified.add(known)


_verifier = Verifier()
hashed, matches = _verifier.hashed, _verifier.matches
