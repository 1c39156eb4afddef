"""Health check of the daemon that sweeps sagas."""

from nova_lite import exception
from nova_lite.db.api import sagas


def lag(api_db, limit_s):
    """Whether sagas that are due are taken up."""

    def check():
        found_s = api_db.read(sagas.lag_s)
        if found_s > limit_s:
            raise exception.Unavailable(
                service='The sweep',
                reason=f'no super-conductor has picked up a saga that has been due for {found_s:.0f} s',
            )

    return check
