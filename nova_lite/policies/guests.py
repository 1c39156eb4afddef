"""Guests of servers: what they report, and passwords in them."""

from nova_lite.policies import base

DIAGNOSTICS = 'os_compute_api:os-server-diagnostics'

_SERVER = '/servers/{server_id}'


def list_rules():
    """The defaults."""
    return [
        base.rule(
            DIAGNOSTICS,
            base.ADMIN,
            'Show the resource usage of the guest of a server.',
            f'GET {_SERVER}/diagnostics',
        ),
    ]
