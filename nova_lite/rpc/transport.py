"""Buses: open an oslo.messaging transport from a URL and send errors across it.

A URL is RabbitMQ's (`rabbit://user:password@host:port/vhost`) or `embedded://NAME`, a bus inside
this process. Only the launcher of an embedded cloud has buses inside its process (`embed`).
"""

import typing
import urllib.parse

from oslo_config import cfg
import oslo_messaging

from nova_lite import exception
from nova_lite import incarnation
from nova_lite.conf import messaging as options
from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import plain

EMBEDDED = 'embedded://'
# A bus inside the process by oslo.messaging alone.
FAKE = 'fake:'
# The transport URL of cell0, which has no daemons.
NO_BUS = 'none:///'
EXCHANGE = options.EXCHANGE
ERROR_MODULES = ['nova_lite.exception']


class Embedded(typing.Protocol):
    """Buses inside this process."""

    def url(self, name: str) -> str:
        """Return the URL by which oslo.messaging opens the bus `name`."""


_embedded: Embedded | None = None


def embed(buses: Embedded) -> None:
    """Open the buses at `embedded://` URLs inside this process from now on."""
    global _embedded
    _embedded = buses


def embedded_name(url: str, of: incarnation.Incarnation | None = None) -> str:
    """Return the name of an embedded bus; see `driver_url`."""
    number = (of or incarnation.current()).number
    return url.removeprefix(EMBEDDED) + (f'.{number}' if number else '')


def driver_url(url: str, of: incarnation.Incarnation | None = None) -> str:
    """Return the URL for oslo.messaging of one of our URLs, also for buses that are not shared.

    of: the incarnation of an embedded bus; None: the current one
    Raise Invalid for an embedded bus in a process that has none.
    """
    if not url.startswith(EMBEDDED):
        return url
    if _embedded is None:
        raise exception.Invalid(reason=f'the bus {url} is inside the process of `nova-lite up`')
    return _embedded.url(embedded_name(url, of))


def shares(url: str) -> bool:
    """Return whether the bus at one of our URLs is used by undocumented names, too."""
    return _shares(driver_url(url))


def _shares(driven: str) -> bool:
    return not driven.startswith(FAKE) and messaging.LIBRARY.is_used


def _exchange(driven: str, name: str) -> str | None:
    """Return the exchange of a bus of the fake driver, whose queues have one name space for each.

    None for other buses.
    """
    return f'{name} {driven}' if driven.startswith(FAKE) else None


def open_notifications(conf: cfg.ConfigOpts, url: str) -> oslo_messaging.Transport:
    """Open the bus at `url` for notifications only, with separate connections."""
    driven = driver_url(url)
    if not _shares(driven):
        exchange = _exchange(driven, buses.NOTIFICATIONS) or buses.NOTIFICATIONS
        given = plain.Notifying(conf, exchange)
        opened = oslo_messaging.get_notification_transport(given, url=driven)
        return buses.note(opened, buses.Bus(driven, shares=False))
    opened = oslo_messaging.get_notification_transport(conf, url=buses.PREFIX + driven)
    return buses.note(opened, buses.Bus(driven))


def open_bus(
    conf: cfg.ConfigOpts, url: str, of: incarnation.Incarnation | None = None
) -> oslo_messaging.Transport:
    """Open the bus at `url`; the caller keeps the result and calls `cleanup` on it.

    of: see `driver_url`
    """
    driven = driver_url(url, of)
    shares = _shares(driven)
    opened = oslo_messaging.get_rpc_transport(
        conf,
        url=buses.PREFIX + driven if shares else driven,
        allowed_remote_exmods=ERROR_MODULES,
    )
    return buses.note(opened, buses.Bus(driven, shares, _exchange(driven, EXCHANGE)))


def name_of(url: str) -> str:
    """Return the name of the bus at `url`: its virtual host, or its machine if there is none."""
    parts = urllib.parse.urlsplit(url)
    return parts.path.strip('/') or parts.netloc.rpartition('@')[2]
