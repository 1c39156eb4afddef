"""Names of objects in a twin. Those of people are hashed unless they are asked for."""

from collections.abc import Container
from collections.abc import Sequence
import hashlib

# Names in a line.
SHOWN = 8


class Names:
    """Gives names to objects. shown: whether their own names are used"""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        # The key is the kind and the id of an object.
        self._given: dict[tuple[str, str], str] = {}

    def of(self, kind: str, identity: str, name: str) -> str:
        """Return the name of an object, which no other object of the kind has.

        identity: id in the real cloud; name: its own name, '' if it has none
        """
        key = kind, identity
        if key not in self._given:
            own = name if self._shown and name else hidden(kind, identity)
            taken = {given for (other, _id), given in self._given.items() if other == kind}
            self._given[key] = unique(own, taken)
        return self._given[key]


def listed(names: Sequence[str]) -> str:
    """Return the first names, with commas, and the number of the others."""
    more = f' and {len(names) - SHOWN} others' if len(names) > SHOWN else ''
    return ', '.join(names[:SHOWN]) + more


def hidden(kind: str, identity: str) -> str:
    """Return the name of an object whose own name is not used. identity: its id"""
    return f'{kind}-{digest(identity)}'


def digest(text: str) -> str:
    """Return a short name for a text, from which the text cannot be read."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def unique(name: str, taken: Container[str]) -> str:
    """Return a name, with a number behind it if it is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f'{name}-{number}'
    return found
