"""Passwords that guests have encrypted and reported: kept in parts in the system metadata.

Source: reference/nova/api-surface 2.4.
"""

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.cell import instances

PART_LENGTH = 255
PARTS = tuple(f'password_{number}' for number in range(4))
LENGTH = PART_LENGTH * len(PARTS)


class PasswordIsSet(exception.Conflict):
    msg = 'The password of instance %(instance_id)s is set already.'


def of(row: rows.Row) -> str:
    """Return the password in the record of a server, '' for none."""
    kept = row.system_metadata or {}
    return ''.join(kept.get(part) or '' for part in PARTS)


def store(connection: sa.Connection, uuid: str, password: str) -> None:
    """Record a password of at most LENGTH characters.

    Raise PasswordIsSet, InstanceNotFound, or InstanceSealed for a server that changes cells, or
    has changed cells since it was read.
    """
    row = instances.lock(connection, uuid)
    if row.hidden:
        raise exception.InstanceSealed(instance_id=uuid)
    if of(row):
        raise PasswordIsSet(instance_id=uuid)
    pieces = {
        part: password[index * PART_LENGTH : (index + 1) * PART_LENGTH]
        for index, part in enumerate(PARTS)
    }
    values = {'system_metadata': {**row.system_metadata, **pieces}}
    instances.update(connection, uuid, values)


def forget(connection: sa.Connection, uuid: str) -> None:
    """Remove the password. Raise InstanceNotFound or InstanceSealed."""
    kept = instances.lock(connection, uuid).system_metadata
    left = {key: value for key, value in kept.items() if key not in PARTS}
    if left != kept:
        instances.update(connection, uuid, {'system_metadata': left})
