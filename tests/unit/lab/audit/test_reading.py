"""Databases of a nova and their revisions, services that are not asked, amounts of flavors."""

import json
import pathlib

import fixtures
from keystoneauth1 import access
from keystoneauth1 import adapter
from keystoneauth1 import fixture
from keystoneauth1 import identity
from keystoneauth1 import session
import sqlalchemy as sa
import testtools

from nova_lite import exception
from nova_lite.lab.audit import amounts
from nova_lite.lab.audit import command
from nova_lite.lab.audit import databases
from nova_lite.lab.audit import schema
from nova_lite.lab.audit import services
from nova_lite.lab.audit import settings
from nova_lite.verify import age_limits
from tests.fixtures import commands
from tests.fixtures import simcloud
from tests.unit.lab.audit import base

BASE = 'mysql+pymysql://bob:s3kret@myhost:123/nova?sync=true#extra'


class TemplateTest(testtools.TestCase):
    def resolved(self, template, main=BASE):
        return databases.resolve(template, main, 'the database of cell1')

    def test_variables(self):
        self.assertEqual('mysql://x/y', self.resolved('mysql://x/y', main=''))
        self.assertEqual(
            'mysql+pymysql://bob:s3kret@other:123/nova?sync=true#extra',
            self.resolved(
                '{scheme}://{username}:{password}@other:{port}/{path}?{query}#{fragment}'
            ),
        )
        self.assertEqual('sqlite:////a/b', self.resolved('{scheme}:///{path}', 'sqlite:////a/b'))

    def test_errors_have_no_secret(self):
        for template, main in (
            ('{nosuch}', BASE),
            ('{scheme', BASE),
            ('{scheme}://', ''),
            ('mysql://u:a{s3kret}@h/n', BASE),
            ('{hostname.s3kret}', BASE),
            ('{hostname[s3kret]}', BASE),
            ('{scheme}://', 'mysql://u:s3kret/1@h/n'),
            ('{scheme}://', 'mysql://u:s3kret[@h/n'),
        ):
            error = self.assertRaises(databases.BadUrl, self.resolved, template, main)
            self.assertIn('the database of cell1', str(error))
            self.assertNotIn('s3kret', str(error))


class User(identity.BaseIdentityPlugin):
    """A user of the project `own`."""

    def __init__(self, roles):
        super().__init__()
        token = fixture.V3Token(project_id='own')
        for role in roles:
            token.add_role(name=role)
        self._access = access.create(body=token, auth_token='token')

    def get_auth_ref(self, _session, **_options):
        return self._access

    def get_cache_id_elements(self):
        return {}


class DatabaseTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.nova = self.useFixture(base.Nova())

    def audit(self, *args, **options):
        return command.audit(
            settings.read(self.nova.conf, *args, **options),
            settle_s=0,
            ages=age_limits.AgeLimits(),
            say=lambda text: None,
        )

    def test_a_file_is_not_changed(self):
        database = databases.Database(self.nova.of('api'), 'the API database')
        self.addCleanup(database.close)
        error = self.assertRaises(
            exception.Unavailable,
            database.read,
            lambda connection: connection.execute(sa.text('DELETE FROM request_specs')),
        )
        self.assertIn('readonly', str(error))

    def test_unusable_urls(self):
        for url in ('mysql://u:s3kret@h:x/n', 'oracle://u:s3kret@h/n', 'sqlite:////nowhere', 'x'):
            error = self.assertRaises(databases.BadUrl, databases.Database, url, 'it')
            self.assertNotIn('s3kret', str(error))

    def test_parameters_of_urls(self):
        url = 'mysql+pymysql://u:s3kret@127.0.0.1:1/n?'
        for name, value in (('nosuch', 1), ('charset', 'none'), ('ssl_ca', '/nowhere')):
            database = databases.Database(f'{url}{name}={value}', 'it')
            error = self.assertRaises(databases.BadUrl, database.read, lambda connection: None)
            self.assertIn(f'Check the parameters of the URL: {name}', str(error))
            self.assertNotIn('s3kret', str(error))
        # DevStack counts queries by a plugin that is installed only there.
        database = databases.Database(f'{url}charset=utf8&plugin=dbcounter', 'it')
        self.assertRaises(exception.Unavailable, database.read, lambda connection: None)

    def test_cells_without_name_or_url(self):
        self.nova.run('api', "UPDATE cell_mappings SET name = NULL WHERE name = 'cell1'")
        self.nova.add('cell2', 'instances', uuid=base.SERVER, vm_state='active', hidden=False)
        [finding] = self.audit()[0].findings
        self.assertIn('in each of cell1-uuid, cell2', finding.detail)
        self.nova.run('api', 'UPDATE cell_mappings SET database_connection = NULL')
        error = self.assertRaises(databases.BadUrl, self.audit)
        self.assertIn('the database of cell cell0: its URL is malformed', str(error))

    def test_unknown_revisions_are_refused(self):
        for name in ('api', 'cell1'):
            self.nova.run(name, "UPDATE alembic_version SET version_num = 'ffffffffffff'")
            error = self.assertRaises(schema.Unknown, self.audit)
            self.assertIn('ffffffffffff', str(error))
            self.assertNotIn('  ', str(error))
            self.assertIn(
                schema.REVISIONS[schema.API if name == 'api' else schema.CELL][-1], str(error)
            )
            self.nova.run(name, 'DROP TABLE alembic_version')
            error = self.assertRaises(schema.Unknown, self.audit)
            self.assertIn('no table alembic_version', str(error))
            self.nova = self.useFixture(base.Nova())

    def test_columns_exist(self):
        for kind, tables in (('api', schema.API_TABLES), ('cell', schema.CELL_TABLES)):
            known = base.SCHEMA[kind]
            self.assertEqual(schema.REVISIONS[{'api': schema.API, 'cell': schema.CELL}[kind]][-1],
                             known['revision'])  # fmt: skip
            for name, columns in tables.items():
                self.assertEqual(set(), columns.keys() - known['tables'][name].keys(), name)

    def test_services_that_are_not_asked_are_named(self):
        self.nova.write(['placement'])
        self.nova.services.asked.clear()
        found = settings.read(self.nova.conf, skipped=['placement'])
        self.assertEqual({'placement', 'neutron', 'cinder'}, found.not_checked.keys())
        self.assertEqual('skipped by --skip', found.not_checked['placement'])
        self.assertIn('[keystone_authtoken] has an auth_type', found.not_checked['cinder'])
        self.assertEqual('consistent', self.audit(skipped=['placement'])[0].result)
        self.assertEqual([], self.nova.services.asked)

    def test_services_with_one_user_share_a_token(self):
        cloud = self.useFixture(simcloud.SimCloud())
        lines = [f'{name} = {value}' for name, value in cloud.login('nova', 'service').items()]
        self.nova.write([])
        with open(self.nova.conf, 'a', encoding='utf-8') as file:
            file.write('\n'.join(['[service_user]', *lines, '']))
        found = settings.read(self.nova.conf)
        self.assertLessEqual({'neutron', 'cinder'}, found.services.keys())
        tokens = [path for _method, path in cloud.requests if path.endswith('/auth/tokens')]
        self.assertEqual(1, len(tokens), cloud.requests)

    def test_refusals_name_the_service(self):
        for path, status, service, text in (
            ('/resource_providers', '404 Not Found', 'Placement', 'with 404'),
            ('/v2.0/ports', '403 Forbidden', 'Neutron', 'must be an administrator'),
            ('/v3/volumes/detail', '500 Error', 'Cinder', 'with 500'),
        ):
            self.nova.services.statuses = {path: status}
            error = self.assertRaises(exception.Unavailable, self.audit)
            self.assertIn(service, str(error))
            self.assertIn(text, str(error))

    def test_answers_of_something_else(self):
        for answer in ({}, [], {'versions': []}):
            self.nova.services.answer = lambda _path, _query, answer=answer: answer
            error = self.assertRaises(exception.Unavailable, self.audit)
            self.assertIn('Check its endpoint', str(error))

    def test_users_of_one_project_are_refused(self):
        volume, port = self.nova.services.volumes[0], self.nova.services.ports[0]
        for function, name in ((services.ports, 'neutron'), (services.volumes, 'cinder')):
            for roles, owner, seen in (
                (['service'], None, False),
                (['service'], 'own', False),
                (['service'], 'other', True),
                (['admin'], 'own', True),
            ):
                volume['os-vol-tenant-attr:tenant_id'] = port['project_id'] = owner
                user = session.Session(User(roles))
                service = services.Service(
                    name, adapter.Adapter(user, endpoint_override=self.nova.url)
                )
                if seen:
                    self.assertTrue(function(service))
                else:
                    error = self.assertRaises(exception.Unavailable, function, service)
                    self.assertIn('must be an administrator', str(error))

    def test_a_provider_may_be_deleted_in_between(self):
        for kind in ('allocations', 'aggregates'):
            path = f'/resource_providers/{base.OTHER_NODE}/{kind}'
            self.nova.services.statuses = {path: '404 Not Found'}
            self.assertEqual([], self.audit()[0].findings)

    def test_services_of_a_cloud_of_clients(self):
        self.nova.write([])
        kinds = ('placement', 'network', 'block_storage')
        overrides = {f'{kind}_endpoint_override': self.nova.url for kind in kinds}
        clouds = {'clouds': {'one': {'auth_type': 'none', **overrides}}}
        path = self.nova.path('clouds.yaml')
        pathlib.Path(path).write_text(json.dumps(clouds))
        self.useFixture(fixtures.EnvironmentVariable('OS_CLIENT_CONFIG_FILE', path))
        del self.nova.services.ports[:]
        self.nova.services.allocations[base.NODE].clear()
        argv = ('verify', '--nova', self.nova.conf, '--settle', '0', '--os-cloud', 'one')
        code, out, errors = commands.run(*argv)
        self.assertEqual(1, code, errors)
        self.assertNotIn('not checked', errors)
        self.assertIn('P1  server a-server', out)
        command = 'nova-manage placement heal_allocations --instance a-server'
        self.assertIn(f'    {command}', out)
        _code, out, _errors = commands.run(*argv, '--json')
        self.assertIn(command, [each['remedy'] for each in json.loads(out)['findings']])

    def test_a_later_reading_asks_for_changed_providers(self):
        service = settings.read(self.nova.conf).services['placement']
        reader = services.PlacementReader(service)
        nodes = {base.NODE, base.OTHER_NODE}
        found = reader.read(nodes, with_aggregates=True)
        self.assertEqual({base.SERVER: {base.NODE: base.HELD}}, found.allocations)
        del self.nova.services.asked[:]
        self.assertEqual(found, reader.read(nodes, with_aggregates=True))
        self.assertIn(f'/resource_providers/{base.NODE}/allocations', self.nova.services.asked)
        self.assertNotIn(
            f'/resource_providers/{base.OTHER_NODE}/allocations', self.nova.services.asked
        )


class NovaConfTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.nova = self.useFixture(base.Nova())
        self.sound = pathlib.Path(self.nova.conf).read_text()

    def refused(self, text):
        """Return why a nova.conf is refused."""
        pathlib.Path(self.nova.conf).write_text(text)
        code, out, errors = commands.run('verify', '--nova', self.nova.conf, '--settle', '0')
        self.assertEqual((2, ''), (code, out))
        self.assertNotIn('s3kret', errors)
        return errors.splitlines()[-1]

    def test_lines(self):
        for text in ('  mysql://u:s3kret@h/n', 'a = s3kret', '[api', '[a]\ns3kret'):
            self.assertIn('neither a [section] nor an option', self.refused(text))
        self.assertIn('line 2 is', self.refused('[a]\ns3kret'))

    def test_values(self):
        text = self.refused('[api_database]\nconnection = mysql://u:s3kret$x@h/n')
        self.assertIn('a $ in a value is written $$', text)
        text = self.refused(f'{self.sound}timeout = soon')
        self.assertIn('option timeout is not valid', text)
        for template in ('http://h/%(nosuch)s', 'http://h/%'):
            text = self.refused(f'{self.sound}endpoint_template = {template}')
            self.assertIn('[cinder]endpoint_template is malformed', text)
        text = self.refused(f'{self.sound}endpoint_override = https://127.0.0.1:1\ncafile = /none')
        self.assertIn('Cinder is not available', text)

    def test_an_auth_url_of_another_service(self):
        self.nova.services.statuses = {'/resource_providers': '401 Unauthorized'}
        user = 'auth_type = password\nusername = u\npassword = s3kret\nproject_name = p\n'
        url = f'auth_url = {self.nova.url}/resource_providers'
        text = self.refused(f'{self.sound}[service_user]\n{user}{url}\n[cinder]\nauth_type=')
        self.assertIn('/resource_providers is not of Keystone', text)

    def test_no_file(self):
        names = {'': "''", self.nova.directory: self.nova.directory, '/nowhere': '/nowhere'}
        for path, name in names.items():
            code, _out, errors = commands.run('verify', '--nova', path)
            self.assertEqual(2, code)
            self.assertIn(f'{name} cannot be read. Name a nova.conf', errors)
            self.assertNotIn('Cloud in', errors)


class AmountsTest(testtools.TestCase):
    def wanted(self, from_volume=False, specs=None, **values):
        flavor = {**base.FLAVOR, 'root_gb': 4, 'extra_specs': specs or {}, **values}
        stored = json.dumps({'cur': {'nova_object.data': flavor}})
        return amounts.of_flavor(stored, from_volume=from_volume)

    def test_plain(self):
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 4}, self.wanted())
        self.assertEqual(
            {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 3},
            self.wanted(from_volume=True, ephemeral_gb=1, swap=1025),
        )
        self.assertEqual({'VCPU': 1, 'MEMORY_MB': 512}, self.wanted(from_volume=True))

    def test_extra_specs(self):
        bare = {'resources:VCPU': '0', 'resources:MEMORY_MB': '0', 'resources:DISK_GB': '0'}
        self.assertEqual({}, self.wanted(specs={**bare, 'resources:CUSTOM_METAL': '1'}))
        self.assertEqual(3, self.wanted(specs={'resources1:PCPU': '2'})['VCPU'])
        pinned = {'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}
        self.assertEqual(2, self.wanted(specs=pinned)['VCPU'])

    def test_unreadable(self):
        for stored in ('', '{}', '[]', None, '{"cur": null}'):
            self.assertIsNone(amounts.of_flavor(stored, from_volume=False))
