"""Connections to PostgreSQL with timeouts."""

import typing

import psycopg
from psycopg import abc

from nova_lite import runtime

# The server, if it is alive, ends a statement before the client's timeout.
MARGIN_S = 1

T = typing.TypeVar('T')


class Connection(psycopg.Connection):
    """A connection to PostgreSQL that waits at most `answer_s` for an answer."""

    answer_s = None

    def wait(self, gen: abc.PQGen[T], *args: typing.Any, **kwargs: typing.Any) -> T:
        if self.answer_s is not None:
            gen = self._until(runtime.monotonic() + self.answer_s + MARGIN_S, gen)
        return super().wait(gen, *args, **kwargs)

    def _until(self, deadline: float, steps: abc.PQGen[T]) -> abc.PQGen[T]:
        """Run `steps` (a generator that yields what it waits for) until the deadline.

        psycopg sends the socket's state when it is ready, and None a few times a second.
        """
        try:
            wanted = next(steps)
            while True:
                ready = yield wanted
                if not ready and runtime.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError('the server does not answer')
                wanted = steps.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result
