"""nova-lite-manage limits."""

import json

import requests

from nova_lite.db.api import flavors
from nova_lite.db.api import quotas
from tests.fixtures import flavor_records
from tests.fixtures import simcloud
from tests.unit.manage import base

MIGRATE = ('limits', 'migrate_to_unified_limits')


class LimitCopiesTest(base.ManageTest):
    def setUp(self):
        super().setUp()
        self.set_up_cells()
        self.cloud = self.useFixture(simcloud.SimCloud(auth='noauth'))
        self.options['oslo_limit'] = {
            'auth_type': 'none',
            'endpoint_override': f'{self.cloud.url}/identity',
        }
        self.project_id = self.get('projects?name=demo')['projects'][0]['id']

    def get(self, path):
        headers = {'X-Project-Id': 'p', 'X-User-Id': 'u', 'X-Roles': 'admin'}
        return requests.get(
            f'{self.cloud.url}/identity/v3/{path}', headers=headers, timeout=60
        ).json()

    def limits(self, kind, number):
        return {each['resource_name']: each[number] for each in self.get(kind)[kind]}

    def registered(self):
        return self.limits('registered_limits', 'default_limit')

    def of_projects(self):
        return self.limits('limits', 'resource_limit')

    def set_quota(self, **limits):
        self.api_db.write(quotas.set_limits, self.project_id, limits)

    def test_all_limits(self):
        self.api_db.write(quotas.set_class, 'default', {'cores': 40})
        self.set_quota(instances=3, ram=-1, key_pairs=7)
        printed = self.run_verb(*MIGRATE)
        self.assertIn('Creating registered limit: class:VCPU = 40', printed)
        self.assertIn(f'Creating limit of project {self.project_id}: servers = 3', printed)
        found = self.registered()
        self.assertEqual(
            (10, 40, 51200, 128),
            tuple(
                found[name]
                for name in ('servers', 'class:VCPU', 'class:MEMORY_MB', 'server_metadata_items')
            ),
        )
        self.assertEqual({'servers': 3, 'class:MEMORY_MB': -1}, self.of_projects())
        self.assertEqual('', self.run_verb(*MIGRATE))
        kept = 'Keeping the existing registered limit: servers'
        self.assertIn(kept, self.run_verb(*MIGRATE, '--verbose'))

    def test_project_that_keystone_does_not_have(self):
        self.api_db.write(quotas.set_limits, '0' * 32, {'instances': 5})
        self.set_quota(instances=3)
        printed = self.run_verb(*MIGRATE, code=4)
        self.assertIn(f'Cannot create the limits of project {"0" * 32}: ', printed)
        self.assertEqual({'servers': 3}, self.of_projects())
        found = json.loads(self.run_verb(*MIGRATE, '--json', code=4))
        self.assertEqual((0, ['0' * 32]), (found['created'], found['refused']))

    def test_dry_run(self):
        self.set_quota(instances=3)
        printed = self.run_verb(*MIGRATE, '--dry-run')
        self.assertIn(f'Would create limit of project {self.project_id}: servers = 3', printed)
        self.assertEqual({}, self.registered())
        self.assertEqual(0, json.loads(self.run_verb(*MIGRATE, '--dry-run', '--json'))['created'])

    def test_one_project_in_a_region(self):
        self.set_quota(instances=3)
        self.run_verb(*MIGRATE, '--project-id', 'another', '--region-id', 'RegionOne')
        self.assertEqual({}, self.of_projects())
        self.run_verb(*MIGRATE, '--project-id', self.project_id, '--region-id', 'RegionOne')
        (found,) = self.get('limits')['limits']
        self.assertEqual(('RegionOne', 3), (found['region_id'], found['resource_limit']))

    def test_resources_without_a_registered_limit(self):
        specs = {'hw:cpu_policy': 'dedicated', 'resources:VGPU': '1', 'resources:VCPU': '2'}
        flavor = flavor_records.of(name='g', flavorid='g', root_gb=5, extra_specs=specs)
        del flavor['id']
        self.api_db.write(flavors.create, flavor)
        printed = self.run_verb(*MIGRATE, code=3)
        self.assertIn('without a registered limit: class:DISK_GB, class:PCPU, class:VGPU', printed)
