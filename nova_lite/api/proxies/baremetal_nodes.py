"""/os-baremetal-nodes up to 2.35, of a cloud without a bare metal service.

Without that service there are no nodes, and only that service changes nodes.
Source: reference/nova/api-surface 2.6.
"""

import typing

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api.policies import hosts as rules

PATH = '/os-baremetal-nodes'
ONE = PATH + '/{id}'
UNTIL = '2.35'
CHANGES = (
    ('POST', PATH, None),
    ('DELETE', ONE, None),
    ('POST', ONE + '/action', 'add_interface'),
    ('POST', ONE + '/action', 'remove_interface'),
)


class NodeNotFound(exception.NotFound):
    msg = 'Node %(node_id)s could not be found.'


class NotChangedHere(exception.Invalid):
    msg = 'Bare metal nodes are changed by the bare metal service only.'


@operation.operation('GET', PATH, policy=rules.BAREMETAL_LIST, until=UNTIL, faults=(403,))
def index(_req: request.Request) -> operation.Result:
    """Return an empty list of nodes."""
    return {'nodes': []}


@operation.operation('GET', ONE, policy=rules.BAREMETAL_SHOW, until=UNTIL, faults=(403, 404))
def show(req: request.Request) -> None:
    """Answer 404 for any node."""
    raise NodeNotFound(node_id=req.args['id'])


def refuse(_req: request.Request) -> typing.NoReturn:
    """Answer 400 for any change of a node."""
    raise NotChangedHere()


for method, path, action in CHANGES:
    operation.operation(method, path, action=action, until=UNTIL, faults=(400,))(refuse)
