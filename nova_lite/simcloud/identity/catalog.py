"""The catalog: regions, services and endpoints.

Configured entries are computed, because their addresses may differ after a restart. The tables
hold entries that users have created, changed or deleted.
"""

import hashlib
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud.identity import tables

# In the form of Keystone's endpoints.
PROJECT_ID = '$(project_id)s'
SERVICES = (
    ('identity', 'keystone', '/identity'),
    ('compute', 'nova', '/compute/v2.1'),
    ('placement', 'placement', '/placement'),
    ('image', 'glance', '/image'),
    ('network', 'neutron', '/network'),
    ('volumev3', 'cinderv3', f'/volume/v3/{PROJECT_ID}'),
    ('block-storage', 'cinder', f'/volume/v3/{PROJECT_ID}'),
    ('sharev2', 'manilav2', '/share/v2'),
    ('shared-file-system', 'manila', '/share/v2'),
)
INTERFACES = ('public', 'internal', 'admin')
OURS = ('/identity', '/image', '/network', '/volume', '/share')
REGIONS, KINDS, ENDPOINTS = tables.regions, tables.services, tables.endpoints


def _id_of(*parts: str) -> str:
    return hashlib.sha256('/'.join(parts).encode()).hexdigest()[:32]


def formatted(url: str, **values: typing.Any) -> str | None:
    """Return an endpoint's URL with `values` filled in. None if it needs others or is malformed."""
    try:
        return url.replace('$(', '%(') % values
    except (KeyError, TypeError, ValueError):
        return None


class Catalog:
    """Regions, services and endpoints. The ids of configured entries follow from their names.

    internal_url: the address of simcloud inside the cloud, for interfaces that are not public
    """

    def __init__(
        self,
        public_url: str,
        *,
        region: str,
        endpoints: dict[str, str],
        internal_url: str | None = None,
    ) -> None:
        base = public_url.rstrip('/')
        self.identity_url = f'{base}/identity'
        urls = {kind: base + path for kind, _, path in SERVICES}
        given = {kind: url.replace('{project_id}', PROJECT_ID) for kind, url in endpoints.items()}
        self._urls = urls | given
        self._internal = dict(self._urls)
        if internal_url:
            self._internal |= {
                kind: internal_url.rstrip('/') + path
                for kind, _, path in SERVICES
                if path.startswith(OURS) and kind not in endpoints
            }
        self._configured = {
            REGIONS: self._by_id([{'id': region, 'description': '', 'parent_region_id': None}]),
            KINDS: self._by_id(self._services()),
            ENDPOINTS: self._by_id(self._endpoints(region)),
        }

    @property
    def compute_url(self) -> str:
        return self._internal['compute']

    @staticmethod
    def _by_id(values: list[database.Row]) -> dict[str, database.Row]:
        """Return {id: row of a table}."""
        common = {'enabled': True, 'extra': {}, 'removed': False}
        return {each['id']: common | each for each in values}

    def _services(self) -> list[database.Row]:
        names = {kind: name for kind, name, _ in SERVICES}
        return [
            {'id': _id_of(kind), 'type': kind, 'extra': {'name': names.get(kind, kind)}}
            for kind in self._urls
        ]

    def _endpoints(self, region: str) -> list[database.Row]:
        return [
            {
                'id': _id_of(kind, interface),
                'service_id': _id_of(kind),
                'interface': interface,
                'region_id': region,
                'url': (self._urls if interface == 'public' else self._internal)[kind],
            }
            for kind in self._urls
            for interface in INTERFACES
        ]

    # ---- rows, configured and changed ----

    def rows(
        self, conn: sa.Connection, table: sa.Table, **values: typing.Any
    ) -> list[database.Row]:
        """Return the rows with these values of columns, configured rows first."""
        changed = {row['id']: self._whole(row, table) for row in database.find_all(conn, table)}
        return [
            row
            for row in (self._configured[table] | changed).values()
            if not row['removed'] and all(row[name] == value for name, value in values.items())
        ]

    def _whole(self, row: database.Row, table: sa.Table) -> database.Row:
        """Return a stored row, with the configured URL if no user has set a URL."""
        if table is ENDPOINTS and row['url'] is None:
            configured = self._configured[table].get(row['id'], {})
            return {**row, 'url': configured.get('url', '')}
        return row

    def get(self, conn: sa.Connection, table: sa.Table, row_id: str) -> database.Row:
        """Return one row by id. Raise NotFound."""
        stored = database.find(conn, table, id=row_id)
        row = self._whole(stored, table) if stored else self._configured[table].get(row_id)
        if row is None or row['removed']:
            raise faults.NotFound(f'Could not find {tables.kind_of(table)}: {row_id[:64]}.')
        return row

    def insert(self, conn: sa.Connection, table: sa.Table, **values: typing.Any) -> database.Row:
        """Insert a row and return it. Replace a deleted row with the same id."""
        tables.touch(conn)
        if 'id' in values:
            database.delete(conn, table, id=values['id'])
        return database.insert(conn, table, **values)

    def save(
        self, conn: sa.Connection, table: sa.Table, row: database.Row, **values: typing.Any
    ) -> database.Row:
        """Write columns of a row, and return the new row."""
        if not values:
            return row
        if database.exists(conn, table, id=row['id']):
            return self._whole(tables.save(conn, table, row, **values), table)
        if table is ENDPOINTS:
            row = {**row, 'url': None}
        kept = {name: value for name, value in row.items() if name in table.c}
        return self._whole(self.insert(conn, table, **{**kept, **values}), table)

    def remove(self, conn: sa.Connection, table: sa.Table, row: database.Row) -> None:
        """Delete a row. For a configured row, store the deletion."""
        if table is ENDPOINTS:
            database.delete(conn, tables.project_endpoints, endpoint_id=row['id'])
        if row['id'] in self._configured[table]:
            self.save(conn, table, row, removed=True)
        else:
            tables.remove(conn, table, row['id'])

    # ---- the catalog of a token ----

    @staticmethod
    def filter_of(conn: sa.Connection, project_id: str) -> set[str]:
        """Return the ids of the endpoints to which a project is limited; empty if it is not."""
        links = database.find_all(conn, tables.project_endpoints, project_id=project_id)
        return {row['endpoint_id'] for row in links}

    def for_token(
        self, conn: sa.Connection, user_id: str, project_id: str | None
    ) -> list[bodies.Json]:
        """Return the catalog of a user's token. project_id: its scope, or None for a domain"""
        values = {'user_id': user_id}
        only: set[str] = set()
        if project_id:
            only = self.filter_of(conn, project_id)
            values |= {'project_id': project_id, 'tenant_id': project_id}
        endpoints: dict[str, list[bodies.Json]] = {}
        for row in self.rows(conn, ENDPOINTS, enabled=True):
            if only and row['id'] not in only:
                continue
            if url := formatted(row['url'], **values):
                endpoints.setdefault(row['service_id'], []).append(_of_token(row, url))
        return [
            {
                'id': row['id'],
                'type': row['type'],
                'name': row['extra'].get('name', ''),
                'endpoints': endpoints.get(row['id'], []),
            }
            for row in self.rows(conn, KINDS, enabled=True)
            if not only or row['id'] in endpoints
        ]


def _of_token(row: database.Row, url: str) -> dict[str, str]:
    return {
        **row['extra'],
        'id': row['id'],
        'interface': row['interface'],
        'region': row['region_id'],
        'region_id': row['region_id'],
        'url': url,
    }
