"""The tables and columns of nova's databases that an audit reads, and the revisions that have them.

They were learned by reflecting databases that nova-manage has created at each of these revisions.
A database of another revision is refused, because a column may mean something else there.
"""

from collections.abc import Mapping
import typing

import sqlalchemy as sa

from nova_lite import exception

# Revisions of the table `alembic_version`, oldest first. nova 34 creates the last one.
API_REVISIONS = ('d67eeaabee36', 'b30f573d3377', 'cdeec0c85668')
CELL_REVISIONS = (
    '8f2f1571d55b',
    '16f1fbcab42b',
    'ccb0fa1a2252',
    '960aac0e09ea',
    '1b91788ec3a6',
    '1acf2c98e646',
    '13863f4e1612',
    'd60bddf7a903',
    '2903cd72dc14',
    'ab450ba04102',
)
API, CELL = 'API database', 'cell database'
REVISIONS: Mapping[str, tuple[str, ...]] = {API: API_REVISIONS, CELL: CELL_REVISIONS}

Columns: typing.TypeAlias = dict[str, typing.Any]
_TEXT, _NUMBER, _TIME, _FLAG = sa.String, sa.Integer, sa.DateTime, sa.Boolean
_AGE: Columns = {'created_at': _TIME, 'updated_at': _TIME}
API_TABLES: dict[str, Columns] = {
    'cell_mappings': {'id': _NUMBER, 'uuid': _TEXT, 'name': _TEXT, 'database_connection': _TEXT},
    'instance_mappings': {
        **_AGE,
        'instance_uuid': _TEXT,
        'cell_id': _NUMBER,
        'queued_for_delete': _FLAG,
    },
    'build_requests': {**_AGE, 'instance_uuid': _TEXT},
    'request_specs': {'instance_uuid': _TEXT},
    'host_mappings': {'cell_id': _NUMBER, 'host': _TEXT},
    'aggregates': {'id': _NUMBER, 'uuid': _TEXT, 'name': _TEXT},
    'aggregate_hosts': {'host': _TEXT, 'aggregate_id': _NUMBER},
}
_INSTANCE: Columns = {
    **_AGE,
    'uuid': _TEXT,
    'host': _TEXT,
    'node': _TEXT,
    'vm_state': _TEXT,
    'task_state': _TEXT,
    'hidden': _FLAG,
    'deleted': _NUMBER,
}
CELL_TABLES: dict[str, Columns] = {
    'instances': _INSTANCE,
    'shadow_instances': {'uuid': _TEXT},
    'instance_extra': {'instance_uuid': _TEXT, 'flavor': _TEXT, 'deleted': _NUMBER},
    'migrations': {
        **_AGE,
        'uuid': _TEXT,
        'instance_uuid': _TEXT,
        'status': _TEXT,
        'migration_type': _TEXT,
        'source_compute': _TEXT,
        'source_node': _TEXT,
        'dest_compute': _TEXT,
        'dest_node': _TEXT,
        'deleted': _NUMBER,
    },
    'block_device_mapping': {
        'uuid': _TEXT,
        'instance_uuid': _TEXT,
        'volume_id': _TEXT,
        'attachment_id': _TEXT,
        'boot_index': _NUMBER,
        'destination_type': _TEXT,
        'deleted': _NUMBER,
    },
    'services': {
        'host': _TEXT,
        'binary': _TEXT,
        'last_seen_up': _TIME,
        'created_at': _TIME,
        'forced_down': _FLAG,
        'deleted': _NUMBER,
    },
    'compute_nodes': {
        'uuid': _TEXT,
        'host': _TEXT,
        'hypervisor_hostname': _TEXT,
        'deleted': _NUMBER,
    },
}
VERSION = sa.table('alembic_version', sa.column('version_num', sa.String))


class Unknown(exception.Invalid):
    """The schema of a database is not one of those that were tested."""

    msg = 'The %(name)s cannot be read: %(reason)s. Known revisions: %(known)s'


def tables(columns: Mapping[str, Columns]) -> dict[str, sa.Table]:
    """Return {name: table} with these columns only, none of which is a key."""
    metadata = sa.MetaData()
    return {
        name: sa.Table(name, metadata, *(sa.Column(each, kind) for each, kind in kinds.items()))
        for name, kinds in columns.items()
    }


OF_API, OF_CELL = tables(API_TABLES), tables(CELL_TABLES)


def require(connection: sa.Connection, kind: str, name: str) -> None:
    """Raise Unknown unless a database has a known revision. kind: API or CELL"""
    known = REVISIONS[kind]
    if not sa.inspect(connection).has_table(VERSION.name):
        reason = 'it has no table alembic_version; it is not of nova, or older than nova 24'
    else:
        found = sorted(connection.scalars(sa.select(VERSION.c.version_num)))
        if len(found) == 1 and found[0] in known:
            return
        reason = f'its schema has the revision {", ".join(found) or "none"}'
    raise Unknown(name=f'{kind} {name}'.strip(), reason=reason, known=', '.join(known))
