"""Steps of several sagas: their ids and the types of their results."""

import typing

from nova_lite import saga
from nova_lite.clients import release
from nova_lite.db import rows
from nova_lite.objects import selection

# {uuid of a block device: [id of its former attachment, id of its new attachment]}
Reserved: typing.TypeAlias = dict[str, list[str]]
# In place of the id of a new attachment: the volume's owner has taken it from the server.
LOST = ''
# A server's network information.
Info: typing.TypeAlias = list[dict[str, typing.Any]]


class Refusal(typing.TypedDict):
    """A destination that has refused, and the reason."""

    host: str
    error: str


class Began(saga.Value):
    """The server at the begin of a saga. image_id: of the image of a shelved server"""

    host: str | None
    node: str | None
    vm_state: str
    zone: str | None = None
    power_state: int | None = None
    image_id: str | None = None

    @classmethod
    def of(cls, row: rows.Row) -> typing.Self:
        """Return the values of a row of the cell."""
        return cls(
            host=row.host,
            node=row.node,
            vm_state=row.vm_state,
            zone=row.availability_zone,
            power_state=row.power_state,
            image_id=row.system_metadata.get(release.SHELVED_IMAGE),
        )


MIGRATION = saga.Result('record-migration', Began)
HOLD = 'hold-source-allocation'
CHOOSE = saga.Result('choose-destination', selection.Selection)
RECORD = 'record-destination'
BIND = 'bind-ports-to-destination'
RESERVE = saga.Result('reserve-volumes-for-destination', Reserved)
CLAIM = 'claim-on-destination'
ACTIVATE = saga.Result('activate-destination-bindings', Info)
FORMER = 'drop-source-attachments'
# A note: uuid of the server group whose policy the destination must obey.
GROUP = saga.Result('group', str)
# A note: destinations that have refused, in order.
REFUSED = saga.Result('refused', list[Refusal])
