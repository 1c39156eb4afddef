"""Steps that several sagas have. Each takes its effects from the move of which it is a step."""

import typing

from nova_lite import saga
from nova_lite.clients import release
from nova_lite.moves import places
from nova_lite.objects import selection

# {uuid of a block device: [id of its former attachment, id of the new one]}
Reserved: typing.TypeAlias = dict[str, list[str]]
# What a saga found of its server when it began, and remembers.
Found = typing.TypeVar('Found')
# A server's network information.
Info: typing.TypeAlias = list[dict[str, typing.Any]]


class Refusal(typing.TypedDict):
    """A destination that has refused, and why."""

    host: str
    error: str


class Began(saga.Value):
    """What a server was when a saga began. image_id: of the image that it is shelved in"""

    host: str | None
    node: str | None
    vm_state: str
    zone: str | None = None
    power_state: int | None = None
    image_id: str | None = None

    @classmethod
    def of(cls, row):
        """Return what a server is. row: of the cell"""
        return cls(
            host=row.host,
            node=row.node,
            vm_state=row.vm_state,
            zone=row.availability_zone,
            power_state=row.power_state,
            image_id=row.system_metadata.get(release.SHELVED_IMAGE),
        )


MIGRATION = saga.Result('record the migration', Began)
HOLD = 'hold source allocation'
CHOOSE = saga.Result('choose destination', selection.Selection)
RECORD = 'record destination'
BIND = 'bind ports to destination'
RESERVE = saga.Result('reserve volumes for destination', Reserved)
CLAIM = 'claim on destination'
ACTIVATE = saga.Result('activate destination bindings', Info)
FORMER = 'drop source attachments'
# A note: the group whose policy the destination is to suit.
GROUP = saga.Result('group', str)
# A note: the destinations that have refused, in order.
REFUSED = saga.Result('refused', list[Refusal])


def begin(move, *, at=places.SOURCE_RECORDS, **options):
    """The first step: what is recorded when a move begins. options: of saga.Step"""
    return at.step(move.first, move.begin, move.give_up, **options)


def hold(move):
    """The migration holds what the server holds where it is."""
    return places.PLACEMENT.step(HOLD, move.hold, move.release)


def choose(move):
    """A destination is chosen, and its resources claimed."""
    return places.SCHEDULER.step(CHOOSE, move.choice.choose, move.drop_claim)


def save_spec(move):
    """The server's request says what the server is now."""
    return places.API_DATABASE.step('save request spec', move.save_spec)
