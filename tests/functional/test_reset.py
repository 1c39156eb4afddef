"""Saved states of a cloud: nothing of what came later is left when one is restored."""

import collections
import contextlib
import dataclasses
import gc
import json
import os
import sqlite3

import openstack
import requests

from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import running
from nova_lite.lab.launcher import snapshot_file
from tests.fixtures import commands
from tests.functional import base
from tools import sample

SLOW = "extends: instant\nhosts: [{match: '*', delays: {spawn: 2}}]\n"
PATHS = (
    '/compute/v2.1/servers/detail?all_tenants=1',
    '/compute/v2.1/flavors',
    '/compute/v2.1/os-keypairs',
    '/compute/v2.1/os-server-groups?all_projects=1',
    '/compute/v2.1/os-aggregates',
    '/compute/v2.1/limits',
    '/identity/v3/projects',
    '/identity/v3/users',
    '/image/v2/images',
    '/network/v2.0/ports',
    '/network/v2.0/networks',
    '/network/v2.0/floatingips',
    '/volume/v3/volumes',
)
CLIENTS, RESETS, LEAKS = 3, 6, 4


@sample.in_turns(4)
class ResetTest(base.CloudTest):
    """Each test leaves the cloud as it was started, but for servers and saved states."""

    settings = {'cells': 2, 'hosts': 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.save(cloud_snapshots.FRESH)

    def tearDown(self):
        self.cloud.connections.clear()
        super().tearDown()
        for name in set(self.cloud.cloud.snapshots.names()) - {cloud_snapshots.FRESH}:
            os.unlink(self.saved(name))

    @classmethod
    def save(cls, name):
        return cls.cloud.save(name)

    @classmethod
    def saved(cls, name):
        """The path of a saved state."""
        return cls.cloud.cloud.snapshots.path(name)

    def reset(self, name=cloud_snapshots.FRESH):
        self.cloud.cloud.reset(name)
        # Their tokens are not valid any more.
        self.cloud.connections.clear()

    def command(self, *args, code=0):
        """The output of `nova-lite reset`, of its errors if it fails."""
        found, out, err = commands.run('reset', '--state-dir', self.cloud.state_dir, *args)
        self.assertEqual(code, found, err)
        return err if code else out

    def everything(self):
        """Return what all services list, and what placement has allocated."""
        token = {'X-Auth-Token': self.cloud.admin.auth_token}
        found = {}
        for path in PATHS:
            answer = requests.get(f'{self.cloud.cloud.url}{path}', headers=token, timeout=60)
            self.assertEqual(200, answer.status_code, f'{path}: {answer.text}')
            found[path] = answer.json()
        providers = self.cloud.admin.placement.get('/resource_providers').json()
        for each in providers['resource_providers']:
            url = f'/resource_providers/{each["uuid"]}'
            found[each['name']] = [
                self.cloud.admin.placement.get(f'{url}/{kind}', microversion='1.39').json()
                for kind in ('inventories', 'usages', 'allocations', 'traits')
            ]
        return found

    def assert_same(self, before):
        now = self.everything()
        for path, found in before.items():
            self.assertEqual(found, now[path], path)

    def test_nothing_is_left(self):
        # Other tests have left generations in placement.
        self.reset()
        before = self.everything()
        admin = self.cloud.admin
        server = self.cloud.boot(networks=[{'uuid': self.cloud.network_id()}])
        volume = admin.block_storage.create_volume(size=1)
        admin.block_storage.wait_for_status(volume, 'available')
        admin.compute.create_volume_attachment(server, volume_id=volume.id)
        admin.compute.create_keypair(name='key')
        admin.compute.create_aggregate(name='aggregate')
        admin.compute.create_flavor(name='flavor', ram=1, vcpus=1, disk=1)
        admin.compute.update_quota_set(admin.current_project_id, instances=1)
        admin.identity.create_project(name='project')
        admin.image.delete_image(self.cloud.image_id('cirros'))
        self.assertNotEqual(before, self.everything())

        self.reset()
        self.assert_same(before)
        self.assertEqual({}, self.cloud.guests())
        self.cloud.boot('next')

    def test_the_same_generations_of_other_allocations(self):
        """A host has the generation that it had before the reset, but a server now."""
        self.reset()
        # That placement lost the allocation does not change the generation.
        self.delete(self.cloud.boot(host='cell1-host1'))
        self.assertEqual([], self.cloud.findings())
        self.reset()
        self.cloud.boot(host='cell1-host1')

    def test_a_token_of_before(self):
        token = self.cloud.admin.auth_token
        self.cloud.admin.compute.get('/servers')
        self.cloud.cloud.reset()
        for path in ('/compute/v2.1/servers', '/placement/resource_providers', '/image/v2/images'):
            answer = requests.get(
                f'{self.cloud.cloud.url}{path}', headers={'X-Auth-Token': token}, timeout=60
            )
            self.assertEqual(401, answer.status_code, path)
        # openstacksdk logs in again.
        self.assertEqual([], list(self.cloud.admin.compute.servers()))

    def test_under_load(self):
        # Other tests have left generations in placement.
        self.reset()
        self.cloud.behave(SLOW.replace('2', '0.05'))
        before, ended, counts = self.everything(), runtime.Event(), collections.Counter()
        clients = [
            runtime.spawn(self.boot_and_delete, number, ended, counts) for number in range(CLIENTS)
        ]
        for _each in range(RESETS):
            reached = counts['accepted'] + CLIENTS
            self.cloud.wait_for(lambda least=reached: counts['accepted'] >= least, 'requests')
            self.cloud.cloud.reset()
        ended.set()
        for client in clients:
            client.join()
        self.reset()
        self.cloud.cloud.ended.wait()
        self.assert_same(before)
        self.assertEqual({}, self.cloud.guests())
        # Of requests in progress: the API allows no other 5xx.
        refused = {each.detail for each in self.cloud.server_errors.take()}
        self.assertLessEqual(refused, {'was answered with 503'})
        self.cloud.boot('next', networks=[{'uuid': self.cloud.network_id()}])

    def boot_and_delete(self, number, ended, counts):
        """Boot servers with ports until `ended` is set."""
        cloud = self.cloud.connect('nova-lite', app_name=f'client-{number}')
        network, image = self.cloud.network_id(), self.cloud.image_id('cirros')
        flavor = self.cloud.flavor_id('m1.tiny')
        while not ended.is_set():
            try:
                server = cloud.compute.create_server(
                    name='loaded', flavor_id=flavor, image_id=image, networks=[{'uuid': network}]
                )
                counts['accepted'] += 1
                runtime.sleep(0.01 * number)
                cloud.compute.delete_server(server)
            except openstack.exceptions.SDKException:
                counts['failed'] += 1

    def test_a_state_by_name(self):
        kept = self.cloud.boot('kept')
        self.cloud.behave(SLOW)
        building = self.cloud.boot('building', wait=False)
        self.cloud.wait(building, 'BUILD', task='spawning')
        self.command('--save', 'two')
        self.cloud.wait(building)
        self.cloud.admin.compute.delete_server(kept)
        self.cloud.wait_gone(kept)

        self.assertEqual(['fresh', 'two'], json.loads(self.command('--list', '--json'))['states'])
        found = json.loads(self.command('two', '--json'))
        self.assertEqual('two', found['state'])
        self.cloud.connections.clear()
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(kept.id).status)
        self.cloud.wait(building)
        self.cloud.admin.compute.reboot_server(kept, 'HARD')
        self.cloud.wait(kept)
        self.assertIn('Reset to state fresh in', self.command())
        self.cloud.connections.clear()
        self.assertEqual([], list(self.cloud.admin.compute.servers(all_projects=True)))

    def test_what_is_refused(self):
        server = self.cloud.boot()
        for args, text in (
            (['other'], 'There is no saved state other. Known states: fresh.'),
            (['../x'], 'is not a name of up to 64 letters'),
            (['--save', 'fresh'], 'use another'),
            (['--save', ''], 'is not a name of up to 64 letters'),
            (['--save', 'x\n'], 'is not a name of up to 64 letters'),
        ):
            self.assertIn(text, self.command(*args, code=2))
        # As on a full disk: that the reset began cannot be recorded.
        draft = self.cloud.cloud.places.path('run', 'restoring.new')
        os.mkdir(draft)
        self.assertIn('run/restoring is not available', self.command(code=2))
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)
        self.assertIsNone(self.cloud.cloud.problem)
        os.rmdir(draft)
        self.reset()

    def test_a_save_that_fails(self):
        """A file lies where the state is to be; a full disk is alike."""
        server = self.cloud.boot()
        path = self.cloud.cloud.places.path(cloud_snapshots.DRAFT)
        with open(path, 'w'):
            pass
        self.addCleanup(os.unlink, path)
        error = self.command('--save', 'full', code=2)
        self.assertIn('full.snapshot could not be written', error)
        self.assertEqual([cloud_snapshots.FRESH], self.cloud.cloud.snapshots.names())
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)
        self.cloud.boot('next')

    def status(self):
        """The exit code of `nova-lite status`, and the problem that it shows."""
        running.write(self.cloud.state_dir, running.of(self.cloud.cloud.places))
        code, out, _err = commands.run('status', '--json', '--state-dir', self.cloud.state_dir)
        return code, json.loads(out)['problem']

    def damage(self, file):
        """Save the state `damaged`, and replace one of its files by an empty database."""
        self.command('--save', 'damaged')
        path = self.saved('damaged')
        snapshot = cloud_snapshots.read(path)
        with self.cloud.cloud.snapshots.unpacked(snapshot) as draft:
            os.unlink(os.path.join(draft, file))
            with contextlib.closing(sqlite3.connect(os.path.join(draft, file))) as connection:
                connection.execute('VACUUM')
            files = {name: os.path.join(draft, name) for name in snapshot.manifest.files}
            snapshot_file.write(path, snapshot.manifest, files)

    def test_a_damaged_state(self):
        """The cloud is not ended for one that cannot be unpacked."""
        server = self.cloud.boot()
        self.damage('api.sqlite')
        self.assertIn('is damaged: no such table', self.command('damaged', code=2))
        with open(self.saved('damaged'), 'r+b') as file:
            file.truncate(1000)
        self.assertIn('or not whole', self.command('damaged', code=2))
        self.assertEqual((0, None), self.status())
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)
        self.reset()

    def test_a_reset_that_fails(self):
        """While files are restored, and while the cloud is started on them."""
        for file, reason in (
            ('cell1.sqlite', 'The saved state damaged could not be restored: no such table'),
            ('simcloud.sqlite', 'no such table'),
        ):
            server = self.cloud.boot()
            self.damage(file)
            self.command('damaged', code=2)
            answer = requests.get(f'{self.cloud.cloud.url}/compute/v2.1/servers', timeout=60)
            self.assertEqual(503, answer.status_code)
            problem = answer.json()['error']['message']
            self.assertIn('its reset to state damaged failed', problem)
            self.assertEqual(1, problem.count(reason), problem)
            self.assertEqual(problem, self.cloud.cloud.problem)
            self.assertEqual((1, problem), self.status())

            self.reset()
            self.assertEqual((0, None), self.status())
            self.assertIsNone(self.cloud.admin.compute.find_server(server.id))
            self.cloud.boot('next')

    def test_a_state_of_a_larger_cloud(self):
        self.command('--save', 'larger')
        path = self.saved('larger')
        manifest = cloud_snapshots.read(path).manifest
        larger = dataclasses.replace(manifest, settings={**manifest.settings, 'hosts': 9})
        snapshot_file.write(path, larger, {})
        self.assertIn('other hosts: 9, not 2', self.command('larger', code=2))

    def test_killed_while_it_is_restored(self):
        """Its first databases have been restored, and the others have not."""
        self.cloud.boot()
        places = self.cloud.cloud.places
        self.cloud.cloud.stop()
        with open(places.path(cloud_snapshots.RESTORING), 'w') as file:
            file.write(cloud_snapshots.FRESH)
        self.cloud.restart()
        self.cloud.connections.clear()
        self.assertEqual([], list(self.cloud.admin.compute.servers(all_projects=True)))
        self.assertEqual({}, self.cloud.guests())
        self.assertFalse(os.path.exists(places.path(cloud_snapshots.RESTORING)))

    def test_a_first_start_that_was_interrupted(self):
        """The next one, which completes it, saves the state of the new cloud."""
        places, states = self.cloud.cloud.places, self.cloud.cloud.snapshots
        self.cloud.stop()
        os.unlink(self.saved(cloud_snapshots.FRESH))
        self.cloud.cloud.keep = True
        self.cloud.cloud.start()
        self.assertEqual([], states.names())
        self.cloud.cloud.stop()
        os.unlink(places.clouds_path)
        self.cloud.cloud.start()
        self.assertEqual([cloud_snapshots.FRESH], states.names())

    def databases(self):
        """Return how many databases are in memory: every daemon that is kept would keep some."""
        gc.collect()
        return sum(isinstance(each, transactions.Database) for each in gc.get_objects())

    def test_nothing_leaks(self):
        figures, databases = [], []
        for _round in range(2):
            for _each in range(LEAKS):
                self.cloud.cloud.reset()
            self.cloud.cloud.ended.wait()
            databases.append(self.databases())
            figures.append((runtime.active_threads(), len(os.listdir('/proc/self/fd'))))
        (threads, files), (more_threads, more_files) = figures
        self.assertEqual(*databases)
        # That is less than one for each reset.
        self.assertLess(more_threads, threads + LEAKS)
        self.assertLess(more_files, files + LEAKS)
