"""Request specs: what each server asked for, applied again at every move."""

from nova_lite import exception
from nova_lite.db import rows
from nova_lite.db.api import models
from nova_lite.objects import request_spec

TABLE = models.RequestSpec.__table__


def create(connection, specs):
    """Store specs (RequestSpec objects)."""
    rows.insert(
        connection,
        TABLE,
        [{'instance_uuid': spec.instance_uuid, 'spec': spec.stored()} for spec in specs],
    )


def get(connection, uuid):
    """The spec of a server; raises RequestSpecNotFound."""
    row = rows.get(connection, TABLE, exception.RequestSpecNotFound(uuid=uuid), instance_uuid=uuid)
    return request_spec.RequestSpec.restore(row.spec)


def stored(connection, uuids):
    """{server uuid: stored fields as plain values} for several servers."""
    return {
        row.instance_uuid: row.spec
        for row in rows.every(connection, TABLE, instance_uuid=list(uuids))
    }


def save(connection, spec):
    """Replace what is stored for the spec's server."""
    connection.execute(
        TABLE.update().where(TABLE.c.instance_uuid == spec.instance_uuid).values(spec=spec.stored())
    )


def destroy(connection, uuid):
    """Forget the spec of a server."""
    rows.delete(connection, TABLE, instance_uuid=uuid)
