"""Buses of oslo.messaging, and what is known of each."""

import collections.abc
import typing
import weakref

from kombu import exceptions as kombu_exceptions
from kombu.transport import pyamqp
import oslo_messaging

# Of the URLs of buses whose listeners are shared.
PREFIX = 'nova-lite+'
# The exchange at which consumers of nova's notifications look for them.
NOTIFICATIONS = 'nova'
# Errors of a connection that cannot be opened.
LOST = (kombu_exceptions.OperationalError, *pyamqp.Transport.connection_errors)
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
    """The name of a server, with the queues that it consumes as `names`."""

    names: tuple[str, ...]

    def __new__(cls, server: str, names: collections.abc.Iterable[str]) -> typing.Self:
        self = super().__new__(cls, server)
        self.names = tuple(names)
        return self


_open: weakref.WeakKeyDictionary[oslo_messaging.Transport, Bus] = weakref.WeakKeyDictionary()


def note(transport: oslo_messaging.Transport, bus: Bus) -> oslo_messaging.Transport:
    """Remember what is known of a bus that was opened. Return the bus."""
    _open[transport] = bus
    return transport


def of(transport: oslo_messaging.Transport) -> Bus:
    """Return what is known of an open bus."""
    return _open[transport]
