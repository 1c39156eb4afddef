"""Guests of servers: what they report, and passwords in them."""

from nova_lite.api.policies import base

CHANGE_PASSWORD = 'os_compute_api:os-admin-password'
SHOW_PASSWORD = 'os_compute_api:os-server-password:show'
CLEAR_PASSWORD = 'os_compute_api:os-server-password:clear'
DIAGNOSTICS = 'os_compute_api:os-server-diagnostics'

_SERVER = '/servers/{server_id}'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(
            CHANGE_PASSWORD,
            base.MEMBER,
            'Set the administrator password in the guest of a server.',
            f'POST {_SERVER}/action (changePassword)',
        ),
        base.rule(
            SHOW_PASSWORD,
            base.READER,
            'Show the encrypted password that the guest of a server reported.',
            f'GET {_SERVER}/os-server-password',
        ),
        base.rule(
            CLEAR_PASSWORD,
            base.MEMBER,
            'Remove the encrypted password of a server from its record.',
            f'DELETE {_SERVER}/os-server-password',
        ),
        base.rule(
            DIAGNOSTICS,
            base.ADMIN,
            'Show the resource usage of the guest of a server.',
            f'GET {_SERVER}/diagnostics',
        ),
    ]
