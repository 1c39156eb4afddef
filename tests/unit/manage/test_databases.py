"""api_db and db: schemas, archive and purge."""

import contextlib
import datetime
import json
import os

import sqlalchemy as sa

from nova_lite import context
from nova_lite import runtime
from nova_lite.db import schema_migration
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import sagas
from nova_lite.db.api import server_groups
from nova_lite.db.cell import archive
from nova_lite.db.cell import instances
from nova_lite.db.cell import task_log
from tests.fixtures import imported
from tests.unit.manage import base


class Killed(BaseException):
    """The command is killed."""


class Kill:
    """Raises Killed instead of statement or COMMIT number `at` of all databases."""

    def __init__(self, at):
        self.left, self.done = at, False

    def __call__(self, *_arguments):
        self.left -= 1
        if self.left == 0:
            self.done = True
            raise Killed


@contextlib.contextmanager
def killed_at(number):
    """Kill the command that the block runs."""
    kill, names = Kill(number), ('before_cursor_execute', 'commit')
    for name in names:
        sa.event.listen(sa.Engine, name, kill)
    try:
        yield kill
    except Killed:
        pass
    finally:
        for name in names:
            sa.event.remove(sa.Engine, name, kill)


class SyncTest(base.ManageTest):
    def test_in_the_order_of_a_new_deployment(self):
        self.assertEqual('None\n', self.run_verb('api_db', 'version'))
        self.run_verb('api_db', 'sync')
        self.assertEqual(f'{schema_migration.newest("api")}\n', self.run_verb('api_db', 'version'))
        self.assertIn('not syncing cell0', self.run_verb('db', 'sync'))
        self.run_verb('cell_v2', 'map_cell0')
        self.assertEqual('', self.run_verb('db', 'sync'))
        self.assertEqual(f'{schema_migration.newest("cell")}\n', self.run_verb('db', 'version'))
        url = self.cells()['cell0'].database_connection
        self.assertIn('cell1.sqlite_cell0', url)
        self.assertEqual(schema_migration.newest('cell'), schema_migration.version(url, 'cell'))

    def test_local_cell_leaves_cell0_alone(self):
        self.run_verb('api_db', 'sync')
        self.run_verb('cell_v2', 'map_cell0')
        self.run_verb('db', 'sync', '--local_cell')
        url = self.cells()['cell0'].database_connection
        self.assertIsNone(schema_migration.version(url, 'cell'))

    def test_cell0_cannot_be_reached(self):
        self.run_verb('api_db', 'sync')
        self.run_verb(
            'cell_v2',
            'map_cell0',
            '--database_connection',
            'mysql+pymysql://nobody:x@127.0.0.1:1/cell0',
        )
        self.assertIn('ERROR', self.run_verb('db', 'sync', code=1))
        self.assertEqual(
            schema_migration.newest('cell'), schema_migration.version(self.local.url, 'cell')
        )

    def test_unknown_revision(self):
        for revision in ('unheard-of', 'head+1'):
            self.run_verb('api_db', 'sync', revision, code=1)

    def test_without_an_api_database(self):
        del self.options['api_database']
        self.run_verb('api_db', 'sync', code=255)

    def test_online_data_migrations(self):
        self.run_verb('db', 'online_data_migrations')
        self.run_verb('db', 'online_data_migrations', '--max-count', '0', code=127)
        self.assertEqual([], json.loads(self.run_verb('db', 'online_data_migrations', '--json')))


class ArchiveTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.set_up_cells()

    def add_deleted(self, cell='cell1'):
        uuid = self.add_server()
        self.local.write(instances.mark_deleted, uuid)
        self.api_db.write(
            instance_mappings.create,
            [
                {
                    'instance_uuid': uuid,
                    'project_id': 'p',
                    'cell_id': self.cells()[cell].id,
                    'queued_for_delete': True,
                }
            ],
        )
        return uuid

    def archive(self, *argv, code=1):
        return self.run_verb('db', 'archive_deleted_rows', *argv, code=code)

    def test_archive(self):
        uuid = self.add_deleted()
        group = self.api_db.write(
            server_groups.create,
            {'uuid': runtime.new_uuid(), 'name': 'g', 'policy': 'affinity', 'project_id': 'p'},
        )
        self.api_db.write(server_groups.add_members, group, [uuid])
        shown = self.archive('--verbose')
        self.assertIn('| instances ', shown)
        self.assertIn('API_DB.instance_mappings', shown)
        self.assertIsNone(self.api_db.read(instance_mappings.find, uuid))
        self.assertEqual({}, self.api_db.read(server_groups.groups_of, [uuid]))
        self.assertIn('Nothing', self.archive('--verbose', code=0))
        self.assertEqual([], json.loads(self.archive('--verbose', '--json', code=0)))

    def test_archive_as_json(self):
        self.add_deleted()
        found = json.loads(self.archive('--verbose', '--json', '--purge', '--until-complete'))
        rows = {each['table']: each['rows'] for each in found}
        self.assertEqual((1, 1), (rows['instances'], rows['API_DB.instance_mappings']))

    def test_records_of_usage_audits(self):
        """Records of the last period stay, so that the conductor does not audit it again."""
        now, day = runtime.naive_now(), datetime.timedelta(days=1)
        former, last = (now - 2 * day, now - day), (now - day, now)
        for period in (former, last):
            self.local.write(task_log.audit, 'host1', period)
        self.archive(code=0)
        self.assertEqual(1, len(self.local.read(task_log.of_period, former)))
        (found,) = json.loads(self.archive('--task-log', '--verbose', '--json'))
        self.assertEqual({'table': 'task_log', 'rows': 1}, found)
        self.assertEqual([], self.local.read(task_log.of_period, former))
        self.assertEqual(1, len(self.local.read(task_log.of_period, last)))
        self.archive('--task-log', code=0)

    def test_what_nobody_foresaw(self):
        # As a process: 1, which Python itself would exit with, asks to be run again.
        path = os.path.join(self.directory, 'empty.conf')
        with open(path, 'w') as config:
            config.write(f'[api_database]\nconnection = sqlite:///{self.directory}/empty\n')
        code, _printed, errors = imported.run(
            'nova_lite.cmd.manage', f'--config-file={path}', 'db', 'archive_deleted_rows'
        )
        self.assertEqual(255, code, errors)
        self.assertIn('no such table', errors)

    def test_a_server_that_went_on_in_another_cell_keeps_its_mapping(self):
        uuid = self.add_deleted(cell='cell0')
        self.archive()
        self.assertIsNotNone(self.api_db.read(instance_mappings.find, uuid))

    def test_killed_anywhere(self):
        """The next run finds and ends what one that was killed at a statement has begun."""
        for at in range(1, 500):
            uuid = self.add_deleted()
            group = self.api_db.write(
                server_groups.create,
                {'uuid': runtime.new_uuid(), 'name': 'g', 'policy': 'affinity', 'project_id': 'p'},
            )
            self.api_db.write(server_groups.add_members, group, [uuid])
            with killed_at(at) as kill:
                code = self.archive('--purge', code=None)
            if not kill.done:
                self.assertEqual(1, code)
                self.assertGreater(at, 20)
                return
            self.archive('--purge', code=None)
            self.assertIsNone(self.api_db.read(instance_mappings.find, uuid))
            self.assertEqual({}, self.api_db.read(server_groups.groups_of, [uuid]))
            self.assertIsNone(self.local.read(instances.find, uuid))
        self.fail('the archive has no end')

    def test_server_of_a_saga(self):
        """A saga that has not ended needs the records of its server, also of a deleted one."""
        uuid, saga = self.add_deleted(), runtime.new_uuid()
        self.api_db.write(
            sagas.create,
            context.admin(),
            uuid=saga,
            kind='confirm-resize',
            instance_uuid=uuid,
            arguments={},
        )
        printed = self.archive('--until-complete', '--verbose', code=0)
        self.assertIn('1 deleted servers stay until their sagas have ended.', printed)
        self.assertIsNotNone(self.local.read(instances.find, uuid))
        self.assertIsNotNone(self.api_db.read(instance_mappings.find, uuid))
        self.assertTrue(self.api_db.write(sagas.withdraw, saga))
        self.archive()
        self.assertIsNone(self.local.read(instances.find, uuid))

    def test_until_complete_and_purge(self):
        for _number in range(3):
            self.add_deleted()
        self.archive('--max_rows', '1')
        self.archive('--max_rows', '1', '--until-complete', '--purge')
        self.archive(code=0)
        count = sa.select(sa.func.count()).select_from(archive.ARCHIVE)
        self.assertEqual(0, self.local.read(lambda connection: connection.scalar(count)))

    def test_before_and_all_cells(self):
        self.add_deleted()
        self.archive('--before', '2020-01-01', code=0)
        self.archive('--all-cells', '--before', '2120-01-01 12:00')

    def test_refused(self):
        self.archive('--max_rows', '0', code=2)
        for wrong in ('yesterday', '9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00'):
            self.archive('--before', wrong, code=4)
        self.options['api_database']['connection'] = 'mysql+pymysql://n:x@127.0.0.1:1/api'
        self.archive(code=3)

    def test_purge(self):
        self.add_deleted()
        self.archive()
        self.run_verb('db', 'purge', code=1)
        self.run_verb('db', 'purge', '--before', 'yesterday', code=2)
        self.run_verb('db', 'purge', '--before', '2020-01-01', code=3)
        self.assertIn('Purged 1 ', self.run_verb('db', 'purge', '--all', '--verbose'))
        self.run_verb('db', 'purge', '--all', '--all-cells', code=3)
        self.assertEqual(2, len(self.api_db.read(cell_mappings.every)))
