"""nova-lite-manage run in this process, over databases of its own."""

import contextlib
import io
import os

import fixtures
import testtools

from nova_lite import runtime
from nova_lite.cmd import manage
from nova_lite.db import schema_migration
from nova_lite.db import transactions
from nova_lite.db.api import cell_mappings
from nova_lite.db.cell import instances
from tests.fixtures import flavor_records
from tests.fixtures import reported
from tests.fixtures import templates

FLAVOR = flavor_records.of(name='f', vcpus=2, root_gb=5)
# The second is cell0's, which nova-lite-manage names after the local cell's.
CELL_FILES = ('cell1.sqlite', 'cell1.sqlite_cell0')
SIZES = {name: FLAVOR[name] for name in ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb')}


class ManageTest(testtools.TestCase):
    """`run` runs a verb. The configuration names an API database and one cell's."""

    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path
        self.api_db = self.database('api')
        self.local = self.database('cell1')
        self.options = {
            'DEFAULT': {'transport_url': 'rabbit://u:secret@bus/cell1'},
            'api_database': {'connection': self.api_db.url},
            'database': {'connection': self.local.url},
        }

    def database(self, name):
        found = transactions.Database(f'sqlite:///{os.path.join(self.directory, name)}.sqlite')
        self.addCleanup(found.dispose)
        return found

    def run_verb(self, *argv, code=0):
        """Return what the verb prints, or its exit code if `code` is None.

        code: that it must exit with
        """
        path = os.path.join(self.directory, 'manage.conf')
        with open(path, 'w') as config:
            for group, options in self.options.items():
                config.write(f'[{group}]\n')
                config.writelines(f'{name} = {value}\n' for name, value in options.items())
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            found = manage.main([f'--config-file={path}', *argv])
        if code is None:
            return found
        self.assertEqual(code, found, f'{argv}: {out.getvalue()}{err.getvalue()}')
        return out.getvalue()

    def set_up_cells(self):
        """Schemas, cell0 and the local cell as cell1; sets `cell_uuid`.

        SyncTest migrates empty databases; here the verbs find the newest schemas.
        """
        for file, kind in (('api.sqlite', 'api'), *((file, 'cell') for file in CELL_FILES)):
            templates.write(os.path.join(self.directory, file), schema_migration.upgrade, kind)
        self.run_verb('api_db', 'sync')
        self.run_verb('cell_v2', 'map_cell0')
        self.run_verb('db', 'sync')
        self.cell_uuid = self.run_verb(
            'cell_v2', 'create_cell', '--name', 'cell1', '--verbose'
        ).strip()

    def add_host(self, name, database=None):
        """A host that has reported itself; returns its node's uuid."""
        return reported.report_host(database or self.local, name)

    def add_server(self, database=None, **more):
        uuid = runtime.new_uuid()
        values = {
            'uuid': uuid,
            'project_id': 'p',
            'user_id': 'u',
            'display_name': 's',
            'vm_state': 'active',
            'flavor': FLAVOR,
            **SIZES,
            **more,
        }
        (database or self.local).write(instances.create, [values])
        return uuid

    def cells(self):
        return {row.name: row for row in self.api_db.read(cell_mappings.every)}
