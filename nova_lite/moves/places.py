"""Places where steps take effect: a daemon or service, and the end of a move.

A server that does not move is at its source.
"""

import typing

from nova_lite import saga

# Tries of a step after the pivot that a host or a service may refuse temporarily.
ATTEMPTS = 8
SOURCE, DEST = 'source', 'destination'


class Place(typing.NamedTuple):
    """A place. daemon: name of a daemon or service; end: SOURCE, DEST, or None outside of cells"""

    daemon: str
    end: str | None = None

    def step(
        self, step: str, do: saga.Effect, undo: saga.Effect | None = None, **options: typing.Any
    ) -> saga.Step:
        """Return a step that takes effect at this place. step: its id; options: see saga.Step"""
        return saga.Step(step, do, undo, at=self, **options)

    def transaction(
        self, step: str, transaction: saga.Transaction, **options: typing.Any
    ) -> saga.Step:
        """Return a step that is a transaction of the API database, which records its end."""
        return self.step(step, saga.nothing, transaction=transaction, **options)

    def best_effort(
        self, step: str, do: saga.Effect, *, attempts: int = ATTEMPTS, **options: typing.Any
    ) -> saga.Step:
        """Return a step after the pivot, which is given up after `attempts` tries."""
        return self.step(step, do, attempts=attempts, best_effort=True, **options)


SOURCE_RECORDS, DEST_RECORDS = Place('cell database', SOURCE), Place('cell database', DEST)
SOURCE_HOST, DEST_HOST = Place('compute', SOURCE), Place('compute', DEST)
API_DATABASE = Place('API database')
SCHEDULER, PLACEMENT = Place('scheduler'), Place('placement')
IMAGES, NETWORK, VOLUMES, SHARES = (
    Place('image service'),
    Place('network service'),
    Place('volume service'),
    Place('shared file system service'),
)
