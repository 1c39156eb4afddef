"""Health checks: functions that raise, with the cause, if a service does not answer."""

import functools

from nova_lite import context


def bus(client, server=None):
    """Return a check that sends a call over the bus. client: of an RPC interface"""
    return functools.partial(client.ping, server)


def placement(client):
    """Return a check that sends an authenticated request. client: clients.placement"""
    return functools.partial(
        client.service.call, context.admin(), 'GET', '/resource_providers?name=nobody'
    )
