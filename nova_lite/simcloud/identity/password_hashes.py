"""Hashes of stored passwords: scrypt, with a salt for each password."""

import base64
import hashlib
import hmac

from nova_lite import runtime

# 4 MiB and about 10 ms, because test suites of a simulated cloud log in thousands of times.
COST, BLOCK = 2**12, 8
# Number of passwords that are recognised without computing scrypt again.
MOST_VERIFIED = 1000


def _digest(password: str, salt: str, cost: int) -> str:
    raw = hashlib.scrypt(password.encode(), salt=salt.encode(), n=cost, r=BLOCK, p=1, dklen=32)
    return base64.b64encode(raw).decode()


def _stored(password: str, cost: int) -> str:
    salt = runtime.new_secret(12)
    return f'scrypt${cost}${salt}${_digest(password, salt, cost)}'


class Verifier:
    """Verifies passwords, and remembers in memory the passwords that were right.

    Daemons and clients log in with the same few passwords again and again. The verifier stores
    neither a password nor a digest that another process could use.
    """

    def __init__(self) -> None:
        self._key = runtime.new_secret(32).encode()
        # (stored hash, digest of the password under our key) of passwords that were right.
        self._verified: set[tuple[str, bytes]] = set()
        # The cost of the last password that was hashed.
        self._cost = COST

    def hashed(self, password: str, cost: int) -> str:
        """Return the hash of `password` to store. cost: scrypt's N, a power of two"""
        stored, self._cost = _stored(password, cost), cost
        self._remember(self._known(password, stored))
        return stored

    def matches(self, password: str, stored: str | None) -> bool:
        """Return whether `stored` is a hash of `password`.

        stored: None for a user who may not log in; that takes as long as a wrong password
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

    def _known(self, password: str, stored: str) -> tuple[str, bytes]:
        return stored, hmac.digest(self._key, password.encode(), 'sha256')

    def _remember(self, known: tuple[str, bytes]) -> None:
        if len(self._verified) >= MOST_VERIFIED:
            self._verified.clear()
        self._verified.add(known)


_verifier = Verifier()
hashed, matches = _verifier.hashed, _verifier.matches
