"""Types and timeouts of the signatures."""

import typing

from nova_lite import context
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects

# Timeout of methods of moves, which reply within two seconds unless the machine is busy. A process
# that was killed sends no RPC heartbeat, and the call is repeated after a shorter time.
MOVE, SILENCE = 20, 8
# Timeout of methods that upload or download a whole image.
UPLOAD = 'long_rpc_timeout'

Ctxt: typing.TypeAlias = context.RequestContext
Instance: typing.TypeAlias = objects.Instance
Devices: typing.TypeAlias = list[block_device.BlockDevice]
# 'auto', 'none', or [{'network_id', 'fixed_ip', 'port_id', 'tag'}].
Networks: typing.TypeAlias = typing.Literal['auto', 'none'] | list[dict[str, typing.Any]]
# {name: plain value}
Json: typing.TypeAlias = dict[str, typing.Any]


class Arrival(typing.TypedDict):
    """The destination of a cold move, and the guest to create there. node: a node of the host"""

    node: str
    power_on: bool
    key: str


class HandedOver(Arrival):
    """The arrival of a guest whose disks the source has handed over."""

    handover: Json


class Uploaded(Arrival):
    """The arrival of a guest from the image of its disk. None: it boots from a volume"""

    image_id: str | None


class Returning(Arrival):
    """The return of a guest to the source of a move. move: the migration's uuid"""

    move: str
