"""A small nova for tests to damage: SQLite databases and answers of the services around it.

The databases have the tables of `nova_schema.json`, which was reflected from databases that
nova-manage of nova 34 has created. `tests/nightly/test_audit.py` compares them.
"""

import functools
import json
import os
import pathlib
import tempfile
import urllib.parse

import fixtures
import sqlalchemy as sa

from nova_lite import runtime
from tests.fixtures import http

SCHEMA = json.loads(pathlib.Path(__file__).with_name('nova_schema.json').read_text())
SERVER, GONE, VOLUME, ATTACHMENT, PORT = 'a-server', 'gone', 'a-volume', 'an-attachment', 'a-port'
NODE, OTHER_NODE, AGGREGATE, MOVE = 'node-1-uuid', 'node-2-uuid', 'an-aggregate', 'a-migration'
TYPES = {'INTEGER': sa.Integer, 'BIGINT': sa.BigInteger, 'DATETIME': sa.DateTime}
TYPES |= {'FLOAT': sa.Float, 'BOOLEAN': sa.Boolean, 'TEXT': sa.Text}
HELD = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
FLAVOR = {'vcpus': 1, 'memory_mb': 512, 'root_gb': 1, 'ephemeral_gb': 0, 'swap': 0}
FLAVOR['extra_specs'] = {}
# Rows of the databases; each row of a cell has deleted=0.
API = {
    'cell_mappings': [
        {'id': 1, 'uuid': 'cell0-uuid', 'name': 'cell0'},
        {'id': 2, 'uuid': 'cell1-uuid', 'name': 'cell1'},
        {'id': 3, 'uuid': 'cell2-uuid', 'name': 'cell2'},
    ],
    'instance_mappings': [{'instance_uuid': SERVER, 'cell_id': 2, 'queued_for_delete': False}],
    'request_specs': [{'instance_uuid': SERVER, 'spec': '{}'}],
    'host_mappings': [{'cell_id': 2, 'host': 'host-1'}, {'cell_id': 3, 'host': 'host-2'}],
    'aggregates': [{'id': 7, 'uuid': AGGREGATE, 'name': 'fast'}],
    'aggregate_hosts': [{'aggregate_id': 7, 'host': 'host-1'}],
}
SERVER_ROWS = {
    'instances': [
        {'uuid': SERVER, 'host': 'host-1', 'node': 'node-1', 'vm_state': 'active', 'hidden': False}
    ],
    'instance_extra': [
        {
            'instance_uuid': SERVER,
            'flavor': json.dumps({'cur': {'nova_object.data': FLAVOR}, 'old': None, 'new': None}),
        }
    ],
    'block_device_mapping': [
        {
            'uuid': 'a-device',
            'instance_uuid': SERVER,
            'volume_id': VOLUME,
            'attachment_id': ATTACHMENT,
            'boot_index': None,
            'destination_type': 'volume',
        }
    ],
}


def host_rows(number):
    """Return the rows of a host."""
    name, node = f'host-{number}', f'node-{number}'
    service = {'host': name, 'binary': 'nova-compute', 'last_seen_up': runtime.naive_now()}
    return {
        'services': [service],
        'compute_nodes': [{'uuid': f'{node}-uuid', 'host': name, 'hypervisor_hostname': node}],
    }


class Services:
    """A WSGI application that answers like placement, Neutron and Cinder, a list a page.

    statuses: {path: status that replaces 200}
    """

    def __init__(self):
        self.providers = {
            uuid: {'uuid': uuid, 'name': uuid, 'root_provider_uuid': uuid, 'generation': 1}
            for uuid in (NODE, OTHER_NODE)
        }
        self.aggregates = {NODE: [AGGREGATE], OTHER_NODE: []}
        self.allocations = {NODE: {SERVER: dict(HELD)}, OTHER_NODE: {}}
        self.ports = [
            {
                'id': PORT,
                'device_id': SERVER,
                'device_owner': 'compute:nova',
                'binding:host_id': 'host-1',
            }
        ]
        self.volumes = [{'id': VOLUME, 'status': 'in-use'}]
        self.attachments = [{'id': ATTACHMENT, 'instance': SERVER, 'volume_id': VOLUME}]
        self.asked = []
        self.methods = set()
        self.statuses = {}

    def __call__(self, environ, start_response):
        path = environ['PATH_INFO']
        query = urllib.parse.parse_qs(environ['QUERY_STRING'])
        self.asked.append(path)
        self.methods.add(environ['REQUEST_METHOD'])
        status = self.statuses.get(path, '200 OK')
        start_response(status, [('Content-Type', 'application/json')])
        return [json.dumps(self.answer(path, query)).encode()]

    def answer(self, path, query):
        """Return the JSON of a path."""
        rest = 'marker' in query or query.get('offset', ['0']) != ['0']
        lists = {
            '/v2.0/ports': ('ports', self.ports),
            '/v3/volumes/detail': ('volumes', self.volumes),
            '/v3/attachments/detail': ('attachments', self.attachments),
        }
        if path in lists:
            key, items = lists[path]
            return {key: [] if rest else items}
        if path == '/resource_providers':
            shared = query.get('required') == ['MISC_SHARES_VIA_AGGREGATE']
            return {'resource_providers': [] if shared else list(self.providers.values())}
        uuid, kind = path.removeprefix('/resource_providers/').split('/')
        if kind == 'aggregates':
            return {'aggregates': self.aggregates[uuid]}
        held = self.allocations[uuid].items()
        return {'allocations': {consumer: {'resources': found} for consumer, found in held}}


class Nova(fixtures.Fixture):
    """The nova. conf: path of its nova.conf; services: Services; engines: {database: engine}"""

    def _setUp(self):
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.services = Services()
        self.url = self.useFixture(http.Http({'/': self.services})).url
        self.engines = {}
        self._make('api', 'api', API)
        for name, rows in (
            ('cell0', {}),
            ('cell1', {**SERVER_ROWS, **host_rows(1)}),
            ('cell2', host_rows(2)),
        ):
            self._make(name, 'cell', rows)
            self.run('api', f"UPDATE cell_mappings SET database_connection = '{self.of(name)}' "
                            f"WHERE name = '{name}'")  # fmt: skip
        self.conf = self.path('nova.conf')
        self.write(('placement', 'neutron', 'cinder'))

    def path(self, name):
        """Return the path of a file."""
        return os.path.join(self.directory, name)

    def of(self, name):
        """Return the URL of a database."""
        return f'sqlite:///{self.path(name)}.db'

    def write(self, asked):
        """Write nova.conf. asked: services with credentials"""
        lines = ['[api_database]', f'connection = {self.of("api")}']
        lines += ['[database]', f'connection = {self.of("cell0")}']
        for name in asked:
            lines += [f'[{name}]', 'auth_type = none', f'endpoint_override = {self.url}']
        pathlib.Path(self.conf).write_text('\n'.join(lines) + '\n')

    def run(self, name, statement, /, **values):
        """Run a statement in a database."""
        with self.engines[name].begin() as connection:
            connection.execute(sa.text(statement), values)

    def add(self, name, table, /, **values):
        """Add a row to a table of a database."""
        if name != 'api':
            values.setdefault('deleted', 0)
        columns = ', '.join(values)
        places = ', '.join(f':{column}' for column in values)
        self.run(name, f'INSERT INTO {table} ({columns}) VALUES ({places})', **values)

    def _make(self, name, kind, rows):
        pathlib.Path(self.path(f'{name}.db')).write_bytes(_empty(kind))
        engine = self.engines[name] = sa.create_engine(self.of(name))
        self.addCleanup(engine.dispose)
        for table, many in rows.items():
            for row in many:
                self.add(name, table, **row)


@functools.cache
def _empty(kind):
    """Return the file of an empty database with all tables. kind: api or cell"""
    metadata = sa.MetaData()
    for table, columns in SCHEMA[kind]['tables'].items():
        made = [
            sa.Column(column, TYPES.get(text, sa.String), primary_key=column == 'id')
            for column, text in columns.items()
        ]
        sa.Table(table, metadata, *made)
    version = sa.Table('alembic_version', metadata, sa.Column('version_num', sa.String))
    with tempfile.NamedTemporaryFile() as file:
        engine = sa.create_engine(f'sqlite:///{file.name}')
        with engine.begin() as connection:
            metadata.create_all(connection)
            connection.execute(version.insert().values(version_num=SCHEMA[kind]['revision']))
        engine.dispose()
        return pathlib.Path(file.name).read_bytes()
