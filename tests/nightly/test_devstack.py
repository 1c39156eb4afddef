"""The devstack plugin with other settings than those of tests/functional: half a minute each."""

from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from tests.functional import test_devstack


class SettingsTest(test_devstack.PluginCase):
    def test_beside_nova(self):
        found = self.stacked('post-config', 'test-config', NOVA_LITE_MODE='beside')
        found.conf('common', 'control', 'api')
        self.assertIn('n-api', (found.root / 'enabled').read_text())
        self.assertEqual(
            ['compute-lite RegionOne http://127.0.0.1:18774/v2.1'],
            found.calls('get_or_create_endpoint'),
        )
        self.assertFalse((found.root / 'tempest.conf').exists())

    def test_behind_the_tls_proxy(self):
        settings = {
            'SERVICE_PROTOCOL': 'https',
            'SSL_BUNDLE_FILE': '/opt/stack/data/ca-bundle.pem',
            'NOVA_LITE_CELLS': '1',
            'ENABLED_SERVICES': f'key,rabbit,tls-proxy,{test_devstack.NOVA}',
        }
        found = self.stacked('post-config', 'extra', **settings)
        self.starts_daemons_that_take_their_files(found)
        conf = found.conf('common', 'control', 'api')
        self.assertEqual(
            [f'nova-lite * 8774 127.0.0.1 {conf.api.port}'], found.calls('start_tls_proxy')
        )
        self.assertNotEqual(8774, conf.api.port)
        self.assertEqual('https://127.0.0.1:8774', conf.api.compute_link_prefix)
        self.assertEqual(settings['SSL_BUNDLE_FILE'], conf.neutron.cafile)
        self.assertEqual(['2 https://127.0.0.1:8774'], found.calls('wait_for_service'))

    def test_stacking_again_ends_where_the_first_time_did(self):
        asked = {'NOVA_LITE_CELLS': '1', 'NOVA_LITE_HOSTS_PER_CELL': '15'}
        found = self.stacked(*test_devstack.STACK, **asked)
        files, flavors = found.files(), (found.root / 'flavors').read_text()
        neutron = found.ml2.read_text()
        self.stacked(*test_devstack.STACK, devstack=found, **asked)
        self.assertEqual(files, found.files())
        self.assertEqual(flavors, (found.root / 'flavors').read_text())
        self.assertEqual(neutron, found.ml2.read_text())
        self.assertEqual(2, len(found.read(cell_mappings.every)))
        self.assertEqual(15, len(found.read(host_mappings.every)))

    def test_neutron_that_stays_as_it_is(self):
        found = self.stacked('install', 'post-config', NOVA_LITE_ML2='False')
        self.assertEqual([], found.calls('pip_install'))
        self.assertNotIn('nova_lite', found.ml2.read_text())
        self.assertEqual(0, found.conf('common').vif_plugging_timeout)

    def test_hosts_that_stay_away(self):
        done = self.devstack().run(
            'post-config',
            'extra',
            NOVA_LITE_CELLS='1',
            NOVA_LITE_HOSTS_PER_CELL='2',
            NOVA_LITE_SILENT='1',
        )
        self.assertEqual(1, done.returncode)
        self.assertIn('only 0 of 2 hosts', done.stderr)

    def test_nothing_of_it_where_it_is_disabled(self):
        found = self.stacked(*test_devstack.STACK, 'unstack', 'clean', NOVA_LITE_SERVICES='')
        self.assertFalse(found.etc.exists())
