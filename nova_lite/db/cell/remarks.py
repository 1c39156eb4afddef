"""Remarks of instance actions: failures after the requested effect."""

import sqlalchemy as sa

from nova_lite.db import rows
from nova_lite.db.cell import actions

LONGEST_MESSAGE = 255


def add(
    connection: sa.Connection,
    uuid: str,
    request_id: str,
    *,
    event: str,
    host: str | None,
    text: str,
) -> None:
    """Add a remark to the newest action of a request and to an event of it.

    The results of both do not change, and an action that has failed keeps its message.
    """
    action = actions.asked(connection, uuid, request_id)
    if action is None:
        return
    own = {'action_id': action.id, 'event': event, **({} if host is None else {'host': host})}
    rows.change(connection, actions.EVENTS, {'details': text}, **own)
    rows.change(
        connection, actions.ACTIONS, {'message': text[:LONGEST_MESSAGE]}, id=action.id, message=None
    )
