"""Errors of other daemons and neighbours, and of the way to them."""

from nova_lite.exception import base


class NeighbourError(base.NovaLiteError):
    """A neighbour service rejected a request of ours."""

    msg = 'The %(service)s service answered %(status)s to %(request)s: %(reason)s'


class NeighbourForbids(base.Forbidden):
    """A neighbour service does not permit a request of the user, or one of ours for the user."""

    msg = 'The %(service)s service refuses: %(reason)s'


class RemoteError(base.NovaLiteError):
    """An error of another daemon that is no NovaLiteError. Its text, `value`, is for logs only."""

    msg = 'Remote error: %(type)s'

    def __str__(self) -> str:
        return f'{self.message} {self.kwargs.get("value", "")}'.rstrip()


class TooOld(base.Conflict):
    """A daemon of an earlier release does not support the call. Raised before it is sent."""

    msg = (
        'Finish the upgrade first: a %(service)s service does not support RPC version '
        '%(since)s, which %(method)s requires.'
    )


class DiskFull(base.Unavailable):
    msg = 'The disk of %(service)s is full. Free space on it, and repeat the request.'


class BusUnavailable(base.Unavailable):
    outage = True


class MessagingTimeout(base.Unavailable):
    msg = 'Timed out waiting for %(method)s on %(topic)s'


class CellTimeout(base.Unavailable):
    msg = 'Cell %(cell)s did not respond'
