"""Deletions by hosts: their requests and their ends, each for any number of servers at once."""

from collections.abc import Sequence
import typing

import sqlalchemy as sa

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.states import transitions

ACTION = 'delete'
CHANGES = {'task_state': str(states.TaskState.DELETING), 'progress': 0}


class Request(typing.NamedTuple):
    """A request to delete a server. row: as the request has read it; guard: the allowed states"""

    ctxt: context.RequestContext
    row: rows.Row
    guard: transitions.Transition


class Accepted(typing.NamedTuple):
    """A server that is being deleted.

    row: as it was before; answers: whether its host is up, or its cell cannot hear it. An unheard
        host may be running the guest: it deletes the server when it receives the message.
    """

    row: rows.Row
    answers: bool


def accept(
    connection: sa.Connection, requests: Sequence[Request], down_time_s: float
) -> list[Accepted]:
    """Begin the deletions of different servers, and record the actions.

    Raises InstanceNotFound, also for a hidden copy, and StateChanged for a server that is not as
    its request demands.
    """
    held = instances.held_each(connection, [each.row.uuid for each in requests])
    for request in requests:
        _require(held.get(request.row.uuid), request)
    instances.update_held(connection, list(held.values()), CHANGES)
    actions.start_each(connection, [(each.ctxt, each.row.uuid) for each in requests], ACTION)
    found = [held[each.row.uuid] for each in requests]
    lost = services.lost(connection, {row.host for row in found if row.host}, down_time_s)
    return [Accepted(row, bool(row.host) and row.host not in lost) for row in found]


def _require(row: rows.Row | None, request: Request) -> None:
    if row is None or row.hidden:
        raise exception.InstanceNotFound(instance_id=request.row.uuid)
    guard = request.guard
    instances.require(
        row,
        expect_task=instances.ANY if guard.task_states is None else guard.task_states,
        expect_vm=instances.ANY if guard.vm_states is None else guard.vm_states,
        expect_host=(request.row.host,),
    )


def end(connection: sa.Connection, uuids: Sequence[str]) -> None:
    """Delete the records of servers whose hosts have removed them, also remains of their builds."""
    # Other transactions lock the record of a server first, too.
    instances.mark_deleted(connection, *uuids, build=None)
    for table in (models.BlockDevice, models.Tag, models.ShareMapping):
        rows.delete(connection, table.__table__, instance_uuid=uuids)
