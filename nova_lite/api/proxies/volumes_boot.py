"""/os-volumes_boot up to 2.102: the operations on servers under another path.

Source: reference/nova/api-surface 3.
"""

import dataclasses

from nova_lite.api import microversion
from nova_lite.api import operation

PATH, SERVERS = '/os-volumes_boot', '/servers'
UNTIL = microversion.parse('2.102')
ALIASED = (SERVERS, f'{SERVERS}/detail', f'{SERVERS}/{{server_id}}')
ACTIONS = (
    'confirmResize',
    'revertResize',
    'reboot',
    'resize',
    'rebuild',
    'createImage',
    'os-start',
    'os-stop',
    'trigger_crash_dump',
)


def _is_aliased(each: operation.Operation) -> bool:
    if each.action is not None:
        return each.path == f'{SERVERS}/{{server_id}}/action' and each.action in ACTIONS
    return each.path in ALIASED


def _declare() -> None:
    operation.load('nova_lite.api.servers')
    for each in [each for each in operation.OPERATIONS if _is_aliased(each)]:
        path = each.path.replace(SERVERS, PATH, 1)
        until = min(each.until, UNTIL)
        operation.OPERATIONS.append(dataclasses.replace(each, path=path, until=until))


_declare()
