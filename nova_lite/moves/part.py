"""What a saga is made of: parts, each about one thing, and transactions of its cell."""

import functools


class Part:
    """move: the saga that has it"""

    def __init__(self, move):
        self._move = move

    def write(self, function, *args, **kwargs):
        """One transaction of the saga's cell."""
        return self._move.write(function, *args, **kwargs)


def transaction(method):
    """Make a method (self, connection, ...) of a saga or a part one transaction of its cell."""

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        return self.write(method.__get__(self), *args, **kwargs)

    return run
