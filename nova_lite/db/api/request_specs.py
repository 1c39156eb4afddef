"""Request specs: the requirements of servers, which moves apply again."""

from collections.abc import Iterable
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.objects import request_spec

TABLE = models.RequestSpec.__table__
# The stored fields of the server of a mapping, and of a build request; NULL without a spec.
OF_MAPPING, OF_BUILD_REQUEST = (
    sa.select(TABLE.c.spec)
    .where(TABLE.c.instance_uuid == other.__table__.c.instance_uuid)
    .scalar_subquery()
    .label('spec')
    for other in (models.InstanceMapping, models.BuildRequest)
)


def create(connection: sa.Connection, specs: Iterable[request_spec.RequestSpec]) -> None:
    """Store specs (RequestSpec objects)."""
    rows.insert(
        connection,
        TABLE,
        [{'instance_uuid': spec.instance_uuid, 'spec': spec.stored()} for spec in specs],
    )


def get(connection: sa.Connection, uuid: str) -> request_spec.RequestSpec:
    """Return the spec of a server. Raise RequestSpecNotFound."""
    row = rows.get(connection, TABLE, exception.RequestSpecNotFound(uuid=uuid), instance_uuid=uuid)
    return request_spec.RequestSpec.restore(row.spec)


def stored(connection: sa.Connection, uuids: Iterable[str]) -> dict[str, dict[str, typing.Any]]:
    """Return {server uuid: stored fields as plain values} for several servers."""
    return {
        row.instance_uuid: row.spec
        for row in rows.every(connection, TABLE, instance_uuid=list(uuids))
    }


def change(connection: sa.Connection, uuid: str, /, **fields: typing.Any) -> None:
    """Change fields of a server's spec. Raise RequestSpecNotFound.

    All fields are in one column, so a concurrent change of other fields waits.
    """
    row = rows.lock(connection, TABLE, instance_uuid=uuid)
    if row is None:
        raise exception.RequestSpecNotFound(uuid=uuid)
    spec = request_spec.RequestSpec.restore(row.spec)
    for name, value in fields.items():
        setattr(spec, name, value)
    rows.change(connection, TABLE, {'spec': spec.stored()}, instance_uuid=uuid)


def destroy(connection: sa.Connection, uuid: str) -> None:
    """Forget the spec of a server."""
    rows.delete(connection, TABLE, instance_uuid=uuid)
