"""The URLs in cell mappings: whether daemons can use them."""

from importlib import metadata

import oslo_messaging
import sqlalchemy as sa

from nova_lite import cells
from nova_lite import exception
from nova_lite.manage import command
from nova_lite.rpc import transport


class Unusable(exception.Invalid):
    msg = '%(name)s of a cell cannot be used: %(reason)s'


def check(deployment: command.Deployment, bus: str, url: str) -> None:
    """Raise Unusable unless daemons can open the bus and the database of a cell by these URLs.

    A template is not checked further if this process has no URL to fill it from.
    """
    filled = _filled('The transport URL', bus, deployment.conf.transport_url)
    if '{' not in filled and not filled.startswith((transport.EMBEDDED, transport.NO_BUS)):
        _parse_bus(deployment, filled)
    filled = _filled('The database connection', url, deployment.cell_url)
    if '{' not in filled:
        _parse_database(filled)


def _filled(name: str, url: str, local: str | None) -> str:
    try:
        return cells.fill(url, local)
    except cells.TEMPLATE_ERRORS as error:
        raise Unusable(
            name=name, reason=f'its template has an error: {type(error).__name__}: {error}'
        ) from None


def _parse_bus(deployment: command.Deployment, url: str) -> None:
    try:
        found = oslo_messaging.TransportURL.parse(deployment.conf, url)
    except (oslo_messaging.InvalidTransportURL, ValueError) as error:
        raise Unusable(name='The transport URL', reason=error) from None
    if found.transport not in metadata.entry_points(group='oslo.messaging.drivers').names:
        raise Unusable(name='The transport URL', reason=f'there is no driver {found.transport}')


def _parse_database(url: str) -> None:
    try:
        sa.make_url(url).get_dialect()
    except (sa.exc.ArgumentError, ValueError) as error:
        raise Unusable(name='The database connection', reason=error) from None
