"""Guests of servers: their reports, and passwords in them."""

from nova_lite.api.policies import base

CHANGE_PASSWORD = base.rule(
    'os_compute_api:os-admin-password',
    base.MEMBER,
    'Set the administrator password in the guest of a server.',
)
SHOW_PASSWORD = base.rule(
    'os_compute_api:os-server-password:show',
    base.READER,
    'Show the encrypted password that the guest of a server reported.',
)
CLEAR_PASSWORD = base.rule(
    'os_compute_api:os-server-password:clear',
    base.MEMBER,
    'Remove the encrypted password of a server from its record.',
)
DIAGNOSTICS = base.rule(
    'os_compute_api:os-server-diagnostics',
    base.ADMIN,
    'Show the resource usage of the guest of a server.',
)
