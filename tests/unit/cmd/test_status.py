"""nova-lite-status upgrade check."""

import contextlib
import datetime
import io
import json
import os

from nova_lite import runtime
from nova_lite import versions
from nova_lite.cmd import status
from nova_lite.db.api import sagas
from nova_lite.db.cell import services
from tests.fixtures import http
from tests.fixtures import placement as placement_fixture
from tests.fixtures import saga_rows
from tests.unit.manage import base

SUCCESS, WARNING, FAILURE = 0, 1, 2


class StatusTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        url = self.useFixture(placement_fixture.Placement()).url
        self.options['placement'] = {'auth_type': 'none', 'endpoint_override': url}
        self.options['service_user'] = {'auth_type': 'none'}
        self.volume_versions('3.71')
        self.network_extensions('binding-extended')

    def network_extensions(self, *aliases):
        """Make a network service with these extensions."""
        body = json.dumps({'extensions': [{'alias': alias} for alias in aliases]}).encode()
        url = self.useFixture(http.Direct({'/network': self.answering('200 OK', body)})).url
        self.options['neutron'] = {'endpoint_override': f'{url}/network'}

    @staticmethod
    def answering(status, body):
        """Return a WSGI application with one answer, in JSON."""

        def app(_environ, start_response):
            start_response(status, [('Content-Type', 'application/json')])
            return [body]

        return app

    def volume_versions(self, newest):
        """Make a volume service whose newest microversion is this one."""
        body = json.dumps({'versions': [{'id': 'v3.0', 'version': newest}]}).encode()
        app = self.answering('300 Multiple Choices', body)
        url = self.useFixture(http.Direct({'/volume': app})).url
        self.options['cinder'] = {'endpoint_override': f'{url}/volume/v3'}

    def check(self, code=SUCCESS):
        """{check: (result, details)}"""
        self.run_verb('db', 'online_data_migrations')  # writes the configuration
        path = os.path.join(self.directory, 'manage.conf')
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            found = status.main([f'--config-file={path}', 'upgrade', 'check', '--json'])
        self.assertEqual(code, found, out.getvalue())
        checks = json.loads(out.getvalue())['checks']
        return {each['check']: (each['result'], each['details']) for each in checks}

    def test_ready(self):
        self.set_up_cells()
        self.assertIn('No host mappings', self.check()['Cells v2'][1])
        self.add_host('h1')
        self.run_verb('cell_v2', 'discover_hosts')
        self.assertEqual({(SUCCESS, None)}, set(self.check().values()))

    def test_cells(self):
        self.run_verb('api_db', 'sync')
        self.assertIn('cell0', self.check(FAILURE)['Cells v2'][1])
        self.run_verb('cell_v2', 'map_cell0')
        self.run_verb('db', 'sync')
        self.assertIn('create_cell', self.check(FAILURE)['Cells v2'][1])
        self.run_verb('cell_v2', 'create_cell', '--name', 'cell1')
        self.add_host('h1')
        self.assertIn('discover_hosts', self.check(FAILURE)['Cells v2'][1])

    def test_placement_is_away(self):
        self.set_up_cells()
        self.options['placement'].update(endpoint_override='http://127.0.0.1:1', connect_retries=0)
        self.assertEqual(FAILURE, self.check(FAILURE)['Placement API'][0])

    def test_volume_service(self):
        self.set_up_cells()
        self.volume_versions('3.53')
        self.assertIn('3.54', self.check(FAILURE)['Cinder API'][1])
        self.volume_versions('')
        self.assertEqual(FAILURE, self.check(FAILURE)['Cinder API'][0])
        self.options['cinder'] = {'endpoint_override': 'http://127.0.0.1:1', 'connect_retries': 0}
        self.assertEqual(WARNING, self.check(WARNING)['Cinder API'][0])

    def test_network_service(self):
        self.set_up_cells()
        self.network_extensions('router')
        result, details = self.check(WARNING)['Neutron API']
        self.assertEqual(WARNING, result)
        self.assertIn('binding-extended', details)
        self.options['neutron'] = {'endpoint_override': 'http://127.0.0.1:1', 'connect_retries': 0}
        self.assertIn('Cannot reach', self.check(WARNING)['Neutron API'][1])

    def test_service_user(self):
        self.set_up_cells()
        name = 'Service User Token Configuration'
        self.options['service_user']['send_service_user_token'] = False
        self.assertIn('send_service_user_token', self.check(FAILURE)[name][1])
        del self.options['service_user'], self.options['cinder']
        found = self.check(FAILURE)
        self.assertEqual(FAILURE, found[name][0])
        self.assertEqual((SUCCESS, 'No volume service is configured.'), found['Cinder API'])
        self.assertEqual((SUCCESS, 'No network service is configured.'), found['Neutron API'])

    def test_policy_file(self):
        self.set_up_cells()
        path = os.path.join(self.directory, 'policy.json')
        with open(path, 'w') as policy:
            policy.write('{"a": "b"}')
        self.options['oslo_policy'] = {'policy_file': path}
        self.assertEqual(FAILURE, self.check(FAILURE)['Policy File JSON to YAML Migration'][0])

    def test_old_computes(self):
        self.set_up_cells()
        self.add_host('h1')
        self.run_verb('cell_v2', 'discover_hosts')
        row = self.local.read(services.find, 'h1')
        oldest = min(release['service'] for release in versions.RELEASES.values())
        self.local.write(services.update, row.uuid, {'version': oldest})
        self.check()
        versions.RELEASES['0.0'] = {'service': oldest + 1}
        self.addCleanup(versions.RELEASES.pop, '0.0')
        newest = dict(versions.RELEASES['1.0'])
        versions.RELEASES['1.0'] = {**newest, 'service': oldest + 1}
        self.addCleanup(versions.RELEASES.update, {'1.0': newest})
        self.assertIn('h1', self.check(FAILURE)['Older than N-1 computes'][1])

    def test_stuck_sagas(self):
        self.set_up_cells()
        uuid = saga_rows.create(self.api_db)
        self.check()
        before = runtime.naive_now() - datetime.timedelta(hours=1)
        self.api_db.write(
            lambda connection: connection.execute(sagas.TABLE.update().values(wake_at=before))
        )
        self.assertIn(uuid, self.check(WARNING)['Stuck sagas'][1])

    def test_without_configuration(self):
        del self.options['api_database']
        del self.options['placement']
        found = self.check(FAILURE)
        self.assertEqual(FAILURE, found['Cells v2'][0])
        self.assertEqual(FAILURE, found['Stuck sagas'][0])
