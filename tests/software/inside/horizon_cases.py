"""Horizon: its pages and actions of servers, asked by Django's client after a login.

Each request runs Horizon's views, and these its clients of the cloud's services.
"""

import json
import os
import pathlib
import re
import sys
import unittest

import cloud

SETTINGS = cloud.SETTINGS
MODULE = """
from openstack_dashboard.settings import *
from openstack_dashboard.settings import INSTALLED_APPS

DEBUG = False
ALLOWED_HOSTS = ['*']
SECRET_KEY = 'tests'
OPENSTACK_KEYSTONE_URL = {auth_url!r}
OPENSTACK_KEYSTONE_DEFAULT_DOMAIN = 'Default'
SESSION_ENGINE = 'django.contrib.sessions.backends.cache'
CACHES = {{'default': {{'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}}}
OPENSTACK_CINDER_FEATURES = {{'enable_backup': True}}
COMPRESS_ENABLED = False
COMPRESS_PRECOMPILERS = ()
STATIC_ROOT = {directory!r} + '/static'
LOGGING = {{'version': 1, 'disable_existing_loggers': False}}
"""
directory = pathlib.Path(SETTINGS['directory'])
(directory / 'horizon_settings.py').write_text(
    MODULE.format(auth_url=SETTINGS['demo']['auth_url'], directory=str(directory))
)
sys.path.insert(0, str(directory))
os.environ['DJANGO_SETTINGS_MODULE'] = 'horizon_settings'

import django  # noqa: E402

django.setup()

from django import test  # noqa: E402

# An alert of a page, with its text.
ALERT = re.compile(r'class="alert[^"]*alert-(?:danger|error)[^"]*".*?</div>', re.DOTALL)
# Of an alert that each page has.
WITHOUT_SCRIPTS = 'javascript'
TAG = re.compile(r'<[^>]+>|\s+')

PAGES = {
    'demo': (
        'project/',
        'project/api_access/',
        'project/instances/',
        'project/instances/{server}/',
        'project/instances/{server}/?tab=instance_details__log',
        'project/instances/{server}/?tab=instance_details__interfaces',
        'project/instances/{server}/?tab=instance_details__audit',
        'project/instances/{server}/update',
        'project/instances/{server}/rebuild',
        'project/instances/{server}/resize',
        'project/instances/{server}/rescue',
        'project/instances/{server}/attach_interface',
        'project/instances/{server}/attach_volume/',
        'project/images/',
        'project/key_pairs/',
        'project/server_groups/',
        'project/volumes/',
        'project/snapshots/',
        'project/backups/',
        'project/vg_snapshots/',
        'project/volume_groups/',
        'project/networks/',
        'project/network_topology/',
        'project/network_topology/json',
        'project/routers/',
        'project/security_groups/',
        'project/floating_ips/',
        'project/trunks/',
    ),
    'admin': (
        'admin/',
        'admin/hypervisors/',
        'admin/aggregates/',
        'admin/instances/',
        'admin/instances/{server}/detail',
        'admin/instances/{server}/live_migrate',
        'admin/flavors/',
        'admin/images/',
        'admin/volumes/',
        'admin/snapshots/',
        'admin/backups/',
        'admin/volume_groups/',
        'admin/volume_types/',
        'admin/networks/',
        'admin/routers/',
        'admin/defaults/',
        'admin/metadata_defs/',
        'admin/info/',
        'identity/',
        'identity/users/',
        'identity/domains/',
    ),
}
# What the form of a new server asks for.
KINDS = ('Nova::Flavor', 'Glance::Image', 'Cinder::Volume', 'Nova::Server')
ASKED = (
    'api/nova/servers/',
    'api/nova/flavors/?is_public=true',
    'api/nova/keypairs/',
    'api/nova/availzones/',
    'api/nova/limits/',
    'api/nova/servergroups/',
    'api/neutron/networks/',
    'api/neutron/ports/',
    'api/network/securitygroups/',
    'api/glance/images/',
    'api/cinder/volumes/',
    'api/cinder/volumesnapshots/',
    *(f'api/glance/metadefs/namespaces/?resource_type=OS::{kind}' for kind in KINDS),
)


class Browser(test.Client):
    """Keeps cookies. Unlike its base it sets no `json`, which Horizon's answers have already."""

    def request(self, **request):
        answer = self.handler(self._base_environ(**request))
        self.cookies.update(answer.cookies)
        return answer


class HorizonCase(unittest.TestCase):
    user = 'demo'
    ajax = {'HTTP_X_REQUESTED_WITH': 'XMLHttpRequest'}

    @classmethod
    def setUpClass(cls):
        cls.client = Browser()
        auth = SETTINGS[cls.user]
        answer = cls.client.post(
            '/auth/login/',
            {
                'username': auth['username'],
                'password': auth['password'],
                'region': 'default',
                'auth_type': 'credentials',
            },
        )
        assert answer.status_code == 302, answer.content.decode()[-2000:]
        cls.server = cls.boot()

    @classmethod
    def boot(cls):
        """Launch a server as the form does; return its id."""
        wanted = {
            'name': f'horizon-{cls.user}',
            'source_id': SETTINGS['image_id'],
            'flavor_id': cls.flavor(),
            'key_name': None,
            'user_data': '',
            'security_groups': [],
            'block_device_mapping_v2': None,
            'nics': [{'net-id': SETTINGS['network_id']}],
            'instance_count': 1,
            'meta': {'a': 'b'},
        }
        answer = cls.client.post(
            '/api/nova/servers/', json.dumps(wanted), 'application/json', **cls.ajax
        )
        assert answer.status_code == 201, answer.content
        return json.loads(answer.content)['id']

    @classmethod
    def ask(cls, path):
        answer = cls.client.get(f'/{path}', **cls.ajax)
        assert answer.status_code == 200, (path, answer.status_code, answer.content)
        return json.loads(answer.content)

    @classmethod
    def flavor(cls):
        (found,) = [
            one
            for one in cls.ask('api/nova/flavors/')['items']
            if one['name'] == SETTINGS['flavor']
        ]
        return found['id']

    def become(self, status):
        def done():
            found = self.ask(f'api/nova/servers/{self.server}')
            self.assertNotEqual('ERROR', found['status'])
            task = found.get('OS-EXT-STS:task_state')
            return found if (found['status'], task) == (status, None) else None

        return cloud.wait(status, done)

    def open(self, path):
        """Show a page that must have no error."""
        answer = self.client.get(f'/{path.format(server=self.server)}')
        self.assertEqual(200, answer.status_code)
        alerts = [TAG.sub(' ', each).strip() for each in ALERT.findall(answer.content.decode())]
        self.assertEqual([], [each for each in alerts if WITHOUT_SCRIPTS not in each.lower()])

    def act(self, page, name):
        """Press the button of a table's row; the page must report no error."""
        body = {'action': f'instances__{name}__{self.server}'}
        self.assertEqual(302, self.client.post(f'/{page}', body).status_code)
        self.open(page)


class Project(HorizonCase):
    def test_actions_of_a_server(self):
        self.become('ACTIVE')
        for name, status in (
            ('stop', 'SHUTOFF'),
            ('start', 'ACTIVE'),
            ('pause', 'PAUSED'),
            ('pause', 'ACTIVE'),
            ('suspend', 'SUSPENDED'),
            ('suspend', 'ACTIVE'),
            ('soft_reboot', 'ACTIVE'),
            ('shelve', 'SHELVED_OFFLOADED'),
            ('shelve', 'ACTIVE'),
            ('lock', 'ACTIVE'),
            ('unlock', 'ACTIVE'),
        ):
            self.act('project/instances/', name)
            self.become(status)


class Admin(HorizonCase):
    user = 'admin'

    def test_live_migration(self):
        before = self.become('ACTIVE')['OS-EXT-SRV-ATTR:host']
        path = f'/admin/instances/{self.server}/live_migrate'
        body = {
            'instance_id': self.server,
            'current_host': before,
            'host': 'AUTO_SCHEDULE',
            'disk_over_commit': '',
            'block_migration': '',
        }
        self.assertEqual(302, self.client.post(path, body).status_code)
        after = self.become('ACTIVE')['OS-EXT-SRV-ATTR:host']
        self.assertNotEqual(before, after)


def _name(path):
    return 'test_page_' + re.sub(r'\W+', '_', path.replace('{server}', 'server')).strip('_')


def _page(path):
    return lambda case: case.open(path)


def _asked(path):
    return lambda case: case.ask(path) and None


def _add_cases():
    for kind in (Project, Admin):
        for path in PAGES[kind.user]:
            setattr(kind, _name(path), _page(path))
    for path in ASKED:
        setattr(Project, _name(path), _asked(path))


_add_cases()


if __name__ == '__main__':
    cloud.main()
