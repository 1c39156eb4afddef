"""What daemons need: functions that raise, with the cause, when it does not answer."""

import functools

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite.db.api import sagas


def database(found):
    """Whether a Database answers."""
    return functools.partial(found.read, _one)


def _one(connection):
    connection.execute(sa.text('SELECT 1'))


def bus(client, server=None):
    """Whether a call comes back over the bus. client: of an RPC interface"""
    return functools.partial(client.ping, server)


def placement(client):
    """Whether placement answers, and believes who we are. client: clients.placement"""
    return functools.partial(
        client.service.call, context.admin(), 'GET', '/resource_providers?name=nobody'
    )


def saga_lag(api_db, limit_s):
    """Whether sagas that are due are taken up."""

    def check():
        lag = api_db.read(sagas.lag_s)
        if lag > limit_s:
            raise exception.Unavailable(
                service='The sweep', reason=f'a saga waits since {lag:.0f} s for being taken up'
            )

    return check
