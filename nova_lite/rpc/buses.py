"""Buses of oslo.messaging, and the facts known of each."""

import collections.abc
import errno
import socket
import ssl
import typing
import weakref

from kombu import exceptions as kombu_exceptions
from kombu.transport import pyamqp
import oslo_messaging

# Of the URLs of buses whose listeners are shared.
PREFIX = 'nova-lite+'
# The exchange at which consumers of nova's notifications look for them.
NOTIFICATIONS = 'nova'
# Errors of a connection that cannot be opened. Every OSError is among them.
LOST = (kombu_exceptions.OperationalError, *pyamqp.Transport.connection_errors)
# Errors of the system that concern connections, by class and by number. A socket that another
# thread has closed is EBADF. One that takes no message in time is EAGAIN.
_OF_CONNECTIONS = (ConnectionError, TimeoutError, socket.gaierror, socket.herror, ssl.SSLError)
_NUMBERS = (
    errno.EADDRNOTAVAIL,
    errno.EAGAIN,
    errno.EBADF,
    errno.EHOSTDOWN,
    errno.EHOSTUNREACH,
    errno.ENETDOWN,
    errno.ENETRESET,
    errno.ENETUNREACH,
    errno.ENOBUFS,
    errno.ENOTCONN,
)
# Tries to reach a broker before a call fails.
TRIES = 2


class Bus(typing.NamedTuple):
    """An open bus.

    url: for oslo.messaging
    shares: whether a listener serves many hosts, by undocumented names of oslo.messaging
    exchange: of its messages; None: the configured one
    """

    url: str
    shares: bool = True
    exchange: str | None = None


class Queues(str):
    """The name of a server, with the queues that it consumes as `names`.

    renewed: function that is called when the queues have been declared again on a new connection.
        Messages may be lost with the former queues. It must not block
    """

    names: tuple[str, ...]
    renewed: collections.abc.Callable[[], None]

    def __new__(
        cls,
        server: str,
        names: collections.abc.Iterable[str],
        renewed: collections.abc.Callable[[], None] = lambda: None,
    ) -> typing.Self:
        self = super().__new__(cls, server)
        self.names, self.renewed = tuple(names), renewed
        return self


_open: weakref.WeakKeyDictionary[oslo_messaging.Transport, Bus] = weakref.WeakKeyDictionary()


def is_of_connection(error: Exception) -> bool:
    """Return whether one of LOST concerns a connection, and not a file for example.

    amqp raises an OSError without a number when the broker closes the connection.
    """
    if not isinstance(error, OSError) or isinstance(error, _OF_CONNECTIONS):
        return True
    return error.errno is None or error.errno in _NUMBERS


def note(transport: oslo_messaging.Transport, bus: Bus) -> oslo_messaging.Transport:
    """Remember the facts known of a bus that was opened. Return the bus."""
    _open[transport] = bus
    return transport


def of(transport: oslo_messaging.Transport) -> Bus:
    """Return the facts known of an open bus."""
    return _open[transport]
