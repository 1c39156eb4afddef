"""What daemons need: functions that raise, with the cause, when it does not answer."""

import functools

from nova_lite import context


def bus(client, server=None):
    """Whether a call comes back over the bus. client: of an RPC interface"""
    return functools.partial(client.ping, server)


def placement(client):
    """Whether placement answers, and believes who we are. client: clients.placement"""
    return functools.partial(
        client.service.call, context.admin(), 'GET', '/resource_providers?name=nobody'
    )
