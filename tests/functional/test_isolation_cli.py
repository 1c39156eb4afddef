"""The commands an operator types for licensed hosts, run as processes."""

import json
import os
import pathlib

import testtools

from tests.fixtures import cli as cli_fixture
from tests.fixtures import cloud as cloud_fixture

TRAIT = 'CUSTOM_WINDOWS_LICENSED'
HOST = 'cell1-host1'


class CommandsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(
            cloud_fixture.Cloud(
                cells=1,
                hosts=2,
                options={'scheduler': {'enable_isolated_aggregate_filtering': True}},
            )
        )
        self.cli = self.useFixture(cli_fixture.Cli(self.cloud))

    def run_command(self, *args, show=True):
        """`openstack ARGS`, which must succeed; what it shows, as JSON, if it shows something."""
        shown = self.cli.openstack(*args, *(('-f', 'json') if show else ()))
        return json.loads(shown) if show else None

    def place(self, *args, show=True):
        """A command of osc-placement."""
        return self.run_command('--os-placement-api-version', '1.39', *args, show=show)

    def create(self, name, image, *args):
        """`server create` at 2.74; the server, built or not."""
        image_id = self.cloud.admin.image.find_image(image).id
        made = self.run_command(
            '--os-compute-api-version',
            '2.74',
            'server',
            'create',
            '--flavor',
            'm1.tiny',
            '--image',
            image_id,
            '--no-network',
            *args,
            name,
        )
        return self.cloud.wait_for(lambda: self.built(made['id']), f'{name} to be built')

    def built(self, uuid):
        found = self.cloud.admin.compute.get_server(uuid)
        return found if found.status in ('ACTIVE', 'ERROR') else None

    def providers(self, *conditions):
        """Names of the providers that `allocation candidate list` gives."""
        found = self.place('allocation', 'candidate', 'list', '--resource', 'VCPU=1', *conditions)
        names = {each['uuid']: each['name'] for each in self.place('resource', 'provider', 'list')}
        return {names[each['resource provider']] for each in found}

    def test_licensed_hosts(self):
        self.place('trait', 'create', TRAIT, show=False)
        (provider,) = self.place('resource', 'provider', 'list', '--name', HOST)
        kept = self.place('resource', 'provider', 'trait', 'list', provider['uuid'])
        traits = [each['name'] for each in kept] + [TRAIT]
        self.place(
            'resource', 'provider', 'trait', 'set', provider['uuid'],
            *(word for trait in traits for word in ('--trait', trait)),
        )  # fmt: skip
        self.assertEqual({HOST}, self.providers('--required', TRAIT))

        aggregate = self.run_command('aggregate', 'create', 'windows')
        self.run_command('aggregate', 'add', 'host', 'windows', HOST)
        self.run_command(
            'aggregate', 'set', '--property', f'trait:{TRAIT}=required', 'windows', show=False
        )
        self.assertEqual({HOST}, self.providers('--member-of', aggregate['uuid']))

        path = os.path.join(self.cloud.state_dir, 'image')
        pathlib.Path(path).write_bytes(b'image')
        self.run_command('image', 'create', '--disk-format', 'raw', '--file', path, 'windows')
        self.run_command(
            'image', 'set', '--property', f'trait:{TRAIT}=required', 'windows', show=False
        )

        server = self.create('linux', 'cirros', '--host', HOST)
        self.assertEqual('ERROR', server.status)
        for name, args in (
            ('windows-1', ()),
            ('windows-2', ('--host', HOST)),
            ('windows-3', ('--hypervisor-hostname', HOST)),
            ('windows-4', ('--host', HOST, '--hypervisor-hostname', HOST)),
        ):
            server = self.create(name, 'windows', *args)
            self.assertEqual(('ACTIVE', HOST), (server.status, server.compute_host), name)
        self.assertEqual([], self.cloud.findings())
