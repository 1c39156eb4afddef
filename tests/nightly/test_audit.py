"""The audit of a real nova from PyPI: each damage is found, and nothing on an undamaged nova."""

import json
import os
import shlex
import subprocess

import sqlalchemy as sa
import testtools

from nova_lite.lab.audit import catalogue
from nova_lite.lab.audit import command
from nova_lite.lab.audit import settings
from nova_lite.lab.launcher import client_connections
from nova_lite.verify import age_limits
from tests.fixtures import commands
from tests.fixtures import postgresql
from tests.nightly import nova_changes
from tests.nightly import nova_damages
from tests.unit.lab.audit import base as small
from tools import private_cloud
from tools.comparison import nova_cloud

# The directory of programs of an environment that has nova.
PLACE = 'NOVA_LITE_TEST_NOVA'
AGES = age_limits.AgeLimits(work=3600.0)
ANSWER_S = 120
# Other invariants that a damage breaks.
BESIDES = {'V1': {'V2'}}
# Damages that the printed commands of nova-manage mend by themselves.
MENDED = ('R4', 'H1', 'H2', 'H3', 'H11', 'P1', 'P2', 'P5', 'P6')


class AuditCase(testtools.TestCase):
    """A nova with two cells. server_class: fixture of its database server

    archived: exit codes of the archiving of deleted servers; 1: rows were archived
    """

    archived = 0, 1

    def setUp(self):
        super().setUp()
        programs = os.environ.get(PLACE)
        if not programs:
            self.skipTest(f'{PLACE} names no environment with nova')
        self.programs = programs
        environment = os.path.dirname(os.path.abspath(programs))
        cloud = nova_cloud.NovaCloud(
            environment,
            ['cell1', 'cell2'],
            2,
            notifications=False,
            database=self.server_class,
        )
        self.look_at(self.useFixture(cloud).state_dir)

    def look_at(self, directory):
        """Prepare to audit the cloud of a directory."""
        self.conf = os.path.join(directory, 'etc', 'api', 'nova.conf')
        connection = client_connections.connect(os.path.join(directory, 'clouds.yaml'))
        self.connection = connection
        found = settings.read(self.conf)
        urls = {'api': found.api_url, 'cell0': found.main_url}
        engines = {'api': nova_changes.engine_of(urls['api'])}
        with engines['api'].connect() as opened:
            rows = opened.execute(sa.text('SELECT name, database_connection FROM cell_mappings'))
            urls |= {row.name: row.database_connection for row in rows}
        cells = ('cell0', 'cell1', 'cell2')
        engines |= {name: nova_changes.engine_of(urls[name]) for name in cells}
        for engine in engines.values():
            self.addCleanup(engine.dispose)
        self.databases = nova_changes.Databases(engines)
        self.services = nova_changes.Services(connection, found.services['placement'].endpoint())

    def boot(self, name, **options):
        """Boot a server. Return it."""
        compute = self.connection.compute
        server = compute.create_server(
            name=name,
            image_id=self.connection.image.find_image('cirros').id,
            flavor_id=compute.find_flavor('m1.tiny').id,
            networks=[{'uuid': self.connection.network.find_network('public').id}],
            **options,
        )
        return compute.wait_for_server(server, wait=ANSWER_S)

    def prepare(self):
        """Make servers in several states, a volume and an aggregate. Return the Damages."""
        compute, storage = self.connection.compute, self.connection.block_storage
        server = self.boot('with a volume')
        volume = storage.create_volume(size=1)
        storage.wait_for_status(volume, 'available')
        compute.create_volume_attachment(server, volume_id=volume.id)
        storage.wait_for_status(volume, 'in-use')
        resized = self.boot('resized')
        compute.resize_server(resized, compute.find_flavor('m1.small').id)
        compute.wait_for_server(resized, status='VERIFY_RESIZE', wait=ANSWER_S)
        offloaded = self.boot('offloaded')
        compute.shelve_server(offloaded)
        compute.wait_for_server(offloaded, status='SHELVED_OFFLOADED', wait=ANSWER_S)
        for archived in (True, False):
            deleted = self.boot('deleted')
            compute.delete_server(deleted)
            compute.wait_for_delete(deleted, wait=ANSWER_S)
            if archived:
                self.archive()
        aggregate = compute.create_aggregate(name='fast')
        compute.add_host_to_aggregate(aggregate, 'cell1-host1')
        return nova_damages.Damages(self.databases, self.services, server.id, offloaded.id)

    def archive(self):
        """Archive deleted servers."""
        self.manage('nova-manage db archive_deleted_rows --all-cells', self.archived)

    def manage(self, line, codes=(0, 4)):
        """Run a command of nova-manage. 4: `placement audit` has deleted something."""
        program, *words = shlex.split(line)
        argv = [os.path.join(self.programs, program), '--config-file', self.conf, *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)

    def found(self):
        """Return ({id of an invariant, ...}, the findings). Keep the remedies."""
        verdict, checker = command.audit(
            settings.read(self.conf), settle_s=0, ages=AGES, say=lambda text: None
        )
        self.remedies = checker.remedies
        return {each.invariant for each in verdict.findings}, verdict.findings

    def mended(self):
        """Run the commands of all findings. Return the findings that are left."""
        for line in sorted(set(self.remedies.values())):
            for each in line.split(' && '):
                self.manage(each)
        return self.found()[1]

    def check_damages(self):
        """Check what the audit finds with each damage and without."""
        damages = self.prepare()
        self.assertEqual((set(), []), self.found())
        wrong = {}
        for invariant in catalogue.every():
            with getattr(damages, invariant.id)():
                found, findings = self.found()
                left = self.mended() if invariant.id in MENDED else []
            if left or found != {invariant.id} | BESIDES.get(invariant.id, set()):
                wrong[invariant.id] = findings, left
        self.assertEqual({}, wrong)
        self.assertEqual((set(), []), self.found())
        self.check_command(damages)
        self.check_schema()

    def check_command(self, damages):
        """Check the exit codes and the output of the command."""
        argv = ('verify', '--nova', self.conf, '--settle', '0', '--json')
        code, out, _errors = commands.run(*argv)
        self.assertEqual((0, 'consistent', {}), (code, *self.parts(out)))
        with damages.N1():
            code, out, _errors = commands.run(*argv)
            self.assertEqual((1, 'inconsistent', {}), (code, *self.parts(out)))
            (finding,) = json.loads(out)['findings']
            self.assertIn('openstack port unset', finding['remedy'])
            code, out, errors = commands.run(*argv, '--skip', 'neutron')
            self.assertEqual((0, 'consistent'), (code, json.loads(out)['result']))
            self.assertIn('Neutron was not checked: skipped by --skip', errors)

    def parts(self, out):
        """Return (result, what was not checked) of a JSON output."""
        found = json.loads(out)
        return found['result'], found['not_checked']

    def check_schema(self):
        """Check that nova-manage creates the schema of the unit tests at the last revision."""
        for kind, name in (('api', 'api'), ('cell', 'cell1')):
            known = small.SCHEMA[kind]
            (version,) = self.databases.rows(name, 'alembic_version')
            self.assertEqual(known['revision'], version['version_num'])
            inspector = sa.inspect(self.databases.engines[name])
            for table, columns in known['tables'].items():
                there = {column['name'] for column in inspector.get_columns(table)}
                self.assertEqual(set(columns), there, table)


class MariaDBTest(AuditCase):
    server_class = private_cloud.Durable

    def test_damages(self):
        self.check_damages()


class PostgreSQLTest(AuditCase):
    server_class = postgresql.PostgreSQL
    # nova 34 cannot copy locked_by: in its shadow table the column is of another enumerated type.
    archived = (255,)

    def test_damages(self):
        self.check_damages()
