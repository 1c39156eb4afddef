"""Changes of a running nova, each undone when its context ends.

Databases are changed by statements. Placement, Neutron and Cinder are changed through their APIs.
"""

import contextlib
import datetime

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.lab.audit import databases

OLD = runtime.naive_now() - datetime.timedelta(days=1)
NOWHERE = '00000000-0000-0000-0000-000000000007'
MICROVERSION = {'OpenStack-API-Version': 'placement 1.37'}


# Statements for a transaction in which rows are deleted that others refer to.
WITHOUT_KEYS = {
    'mysql': 'SET foreign_key_checks = 0',
    'postgresql': 'SET LOCAL session_replication_role = replica',
}


def engine_of(url):
    """Return an engine for a URL of nova's, with the driver of this environment.

    The user of PostgreSQL is its administrator, who can turn off foreign keys.
    """
    parsed = sa.make_url(url)
    kind = parsed.get_backend_name()
    parsed = parsed.set(drivername=databases.DRIVERS[kind])
    return sa.create_engine(parsed.set(username='root') if kind == 'postgresql' else parsed)


class Databases:
    """The databases of a nova. engines: {name: engine}"""

    def __init__(self, engines):
        self.engines = engines

    def rows(self, name, table, **where):
        """Return the rows of a table that have these values, as dicts."""
        there = _table(table, where)
        query = sa.select(sa.text('*')).select_from(there).where(*_conditions(there, where))
        with self.engines[name].connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def run(self, name, statement):
        """Run a statement. Return the id of an inserted row, None if it inserts none."""
        with self.engines[name].begin() as connection:
            connection.execute(sa.text(WITHOUT_KEYS[connection.dialect.name]))
            result = connection.execute(statement)
            return result.scalar_one() if result.returns_rows else None

    def insert(self, name, table, row):
        """Insert a row. Return its id."""
        there = _table(table, row)
        return self.run(name, sa.insert(there).values(row).returning(there.c.id))

    def delete(self, name, table, **where):
        """Delete the rows that have these values."""
        there = _table(table, where)
        self.run(name, sa.delete(there).where(*_conditions(there, where)))

    @contextlib.contextmanager
    def added(self, name, table, **row):
        """Add a row."""
        number = self.insert(name, table, row)
        try:
            yield
        finally:
            self.delete(name, table, id=number)

    @contextlib.contextmanager
    def removed(self, name, table, **where):
        """Remove rows."""
        found = self.rows(name, table, **where)
        assert found, (table, where)
        self.delete(name, table, **where)
        try:
            yield
        finally:
            # A command may have restored the rows.
            self.delete(name, table, **where)
            for row in found:
                self.insert(name, table, row)

    @contextlib.contextmanager
    def changed(self, name, table, where, **values):
        """Change values of rows."""
        found = self.rows(name, table, **where)
        assert found, (table, where)
        self._update(name, table, where, values)
        try:
            yield
        finally:
            for row in found:
                self._update(name, table, {'id': row['id']}, {key: row[key] for key in values})

    def _update(self, name, table, where, values):
        # updated_at changes only if it is set.
        there = _table(table, {**where, **values})
        self.run(name, sa.update(there).where(*_conditions(there, where)).values(values))


def _table(name, columns):
    """Return a table with these columns and an id."""
    return sa.table(name, *(sa.column(each) for each in {'id': None, **columns}))


def _conditions(table, where):
    return [table.c[key] == value for key, value in where.items()]


class Services:
    """Placement, Neutron and Cinder of a nova. connection: of the SDK, as an administrator"""

    def __init__(self, connection, placement_url):
        self.connection = connection
        self._placement = placement_url

    def placement(self, method, path, **request):
        """Return the answer of placement to a request of the administrator."""
        session = self.connection.session
        answer = session.request(
            self._placement + path, method, headers=MICROVERSION, raise_exc=True, **request
        )
        return answer.json() if answer.content else None

    @contextlib.contextmanager
    def holding(self, consumer, changes):
        """Replace the allocations of a consumer. changes: {provider: amounts, None for nothing}"""
        found = self.placement('GET', f'/allocations/{consumer}')['allocations']
        before = {uuid: each['resources'] for uuid, each in found.items()}
        after = {**before, **changes}
        self._hold(consumer, {uuid: held for uuid, held in after.items() if held})
        try:
            yield
        finally:
            self._hold(consumer, before)

    def _hold(self, consumer, held):
        found = self.placement('GET', f'/allocations/{consumer}')
        body = {
            'allocations': {uuid: {'resources': amounts} for uuid, amounts in held.items()},
            'consumer_generation': found.get('consumer_generation'),
            'project_id': found.get('project_id', 'audit'),
            'user_id': found.get('user_id', 'audit'),
        }
        if held or found['allocations']:
            self.placement('PUT', f'/allocations/{consumer}', json=body)

    @contextlib.contextmanager
    def in_aggregates(self, provider, change):
        """Replace the aggregates of a provider. change: function of their set"""
        path = f'/resource_providers/{provider}/aggregates'

        def put(names):
            generation = self.placement('GET', path)['resource_provider_generation']
            body = {'aggregates': sorted(names), 'resource_provider_generation': generation}
            self.placement('PUT', path, json=body)

        before = set(self.placement('GET', path)['aggregates'])
        put(change(before))
        try:
            yield
        finally:
            put(before)

    @contextlib.contextmanager
    def provider(self, uuid):
        """Add a provider like that of a compute node."""
        self.placement('POST', '/resource_providers', json={'uuid': uuid, 'name': 'left'})
        path = f'/resource_providers/{uuid}'
        body = {'traits': ['COMPUTE_NODE'], 'resource_provider_generation': 0}
        self.placement('PUT', f'{path}/traits', json=body)
        try:
            yield
        finally:
            self.placement('DELETE', path)

    @contextlib.contextmanager
    def attachment(self, server):
        """Reserve a new volume for a server."""
        storage = self.connection.block_storage
        volume = storage.create_volume(size=1)
        storage.wait_for_status(volume, 'available')
        made = storage.create_attachment(volume.id, instance=server, connector=None)
        try:
            yield
        finally:
            storage.delete_attachment(made)
            storage.delete_volume(volume)

    @contextlib.contextmanager
    def volume_status(self, uuid, status):
        """Change the status of a volume."""
        storage = self.connection.block_storage
        before = storage.get_volume(uuid).status
        storage.reset_volume_status(uuid, status=status)
        try:
            yield
        finally:
            storage.reset_volume_status(uuid, status=before)

    @contextlib.contextmanager
    def changed_port(self, port, **values):
        """Change a port."""
        before = {name: getattr(port, name) for name in values}
        self.connection.network.update_port(port, **values)
        try:
            yield
        finally:
            self.connection.network.update_port(port, **before)
