"""Health check of the daemon that sweeps sagas."""

from nova_lite import exception
from nova_lite.daemons.monitoring import health
from nova_lite.db import transactions
from nova_lite.db.api import sagas


def lag(api_db: transactions.Database, limit_s: float) -> health.Check:
    """Return a check that raises when a due saga was not picked up within `limit_s`."""

    def check() -> None:
        found_s = api_db.read(sagas.lag_s)
        if found_s > limit_s:
            raise exception.Unavailable(
                service='The sweep',
                reason='no super-conductor has picked up a saga that has been due for '
                f'{found_s:.0f} s',
            )

    return check
