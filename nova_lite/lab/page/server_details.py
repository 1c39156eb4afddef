"""The details of one server: its record, its actions with their events, and its last fault.

Tracebacks of events are left out, and everything with secrets: user data, keys, metadata,
passwords.
"""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite.api.servers import addresses
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.lab.page import document
from nova_lite.lab.page import neighbour_names
from nova_lite.lab.page import reading

INSTANCES = models.Instance.__table__
ACTIONS = models.InstanceAction.__table__
EVENTS = models.InstanceActionEvent.__table__
# The newest actions that are shown.
MOST_ACTIONS = 20

_SERVER = reading.SERVER.add_columns(
    INSTANCES.c.user_id,
    INSTANCES.c.image_ref,
    INSTANCES.c.flavor,
    INSTANCES.c.network_info,
    INSTANCES.c.availability_zone,
    INSTANCES.c.locked,
    INSTANCES.c.created_at,
    INSTANCES.c.launched_at,
).where(INSTANCES.c.uuid == sa.bindparam('uuid'))
_ACTIONS = (
    sa.select(ACTIONS)
    .where(ACTIONS.c.instance_uuid == sa.bindparam('uuid'))
    .order_by(ACTIONS.c.id.desc())
    .limit(MOST_ACTIONS)
)
_EVENTS = (
    sa.select(EVENTS)
    .where(EVENTS.c.action_id.in_(sa.bindparam('actions', expanding=True)))
    .order_by(EVENTS.c.id)
)

Json: typing.TypeAlias = dict[str, typing.Any]
Row: typing.TypeAlias = typing.Any


class Records(typing.NamedTuple):
    """Rows of one server: of its record, its newest actions, their events, its last fault."""

    server: Row
    actions: Sequence[Row]
    events: Sequence[Row]
    fault: Row | None


def read(connection: sa.Connection, uuid: str) -> Records | None:
    """Return the Records of a server in a cell, None if the cell does not have the server."""
    server = connection.execute(_SERVER, {'uuid': uuid}).first()
    if server is None:
        return None
    actions = connection.execute(_ACTIONS, {'uuid': uuid}).all()
    numbers = [action.id for action in actions]
    events = connection.execute(_EVENTS, {'actions': numbers}).all()
    return Records(server, actions, events, instances.faults(connection, [uuid]).get(uuid))


def ids(records: Records) -> dict[str, list[str | None]]:
    """Return the ids whose names the details show, as neighbour_names.read takes them."""
    server = records.server
    users = [server.user_id, *(action.user_id for action in records.actions)]
    return {
        neighbour_names.PROJECTS: [server.project_id],
        neighbour_names.USERS: users,
        neighbour_names.IMAGES: [server.image_ref],
    }


def make(records: Records, names: neighbour_names.Names) -> Json:
    """Return the details. names: of `ids`"""
    server, flavor, fault = records.server, records.server.flavor, records.fault
    networks = addresses.by_network(server.network_info)

    def named(key: str | None) -> str | None:
        return key and names.get(key, key)

    return {
        'project': named(server.project_id),
        'project_id': server.project_id,
        'user': named(server.user_id),
        'flavor': flavor.get('name'),
        'vcpus': server.vcpus,
        'memory_mb': server.memory_mb,
        'image': named(server.image_ref),
        'image_id': server.image_ref or None,
        'addresses': [
            {'network': network, 'address': address, 'type': kind}
            for network, found in networks.items()
            for address, _version, kind, _mac in found
        ],
        'zone': server.availability_zone,
        'is_locked': server.locked,
        'created_at': document.time_of(server.created_at),
        'launched_at': document.time_of(server.launched_at),
        'fault': fault and {'message': fault.message, 'at': document.time_of(fault.created_at)},
        'actions': [
            {
                'action': action.action,
                'request_id': action.request_id,
                'user': named(action.user_id),
                'at': document.time_of(action.start_time),
                'message': action.message,
                'events': [
                    _event(event) for event in records.events if event.action_id == action.id
                ],
            }
            for action in records.actions
        ],
    }


def _event(event: Row) -> Json:
    return {
        'event': event.event,
        'host': event.host,
        'at': document.time_of(event.start_time),
        'ended_at': document.time_of(event.finish_time),
        'result': event.result,
        'details': event.details,
    }
