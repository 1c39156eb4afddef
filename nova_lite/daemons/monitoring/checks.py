"""Health checks: functions that raise, with the cause, if a service does not answer."""

import functools
import typing

from nova_lite import context
from nova_lite.clients import placement as placement_client
from nova_lite.daemons.monitoring import health


def bus(client: typing.Any, server: str | None = None) -> health.Check:
    """Return a check that sends a call over the bus. client: the client of an RPC interface"""
    return functools.partial(client.ping, server)


def placement(client: placement_client.Placement) -> health.Check:
    """Return a check that sends an authenticated request. client: clients.placement"""
    return functools.partial(
        client.service.call, context.admin(), 'GET', '/resource_providers?name=nobody'
    )
