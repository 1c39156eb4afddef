"""Rebuild in a whole cloud: a server gets a new guest where it is."""

from nova_lite.moves import rebuild
from tests.fixtures import saga_faults
from tests.functional import moves_base
from tests.functional import own_cloud
from tests.sim.cases import loading

load_tests = loading.load_tests

PROMPT = 'extends: instant\n'
EVENTS = [('rebuild_server', 'Success'), ('compute_rebuild_instance', 'Success')]


def failing(*rules):
    """A profile in which hosts fail at verbs: (verb, host pattern) each."""
    lines = [
        f'  - {{verb: {verb}, match: {{host: "{hosts}"}}, message: it broke}}'
        for verb, hosts in rules
    ]
    return '\n'.join(['extends: instant', 'failures:', *lines, ''])


class RebuildTestCase(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def rebuild(self, server, image_id, *, status='ACTIVE', version='2.96', by='', **content):
        """Rebuild and wait; (answer's server, the server as it is then)."""
        body = {'imageRef': image_id, **content}
        options = {'version': version, 'cloud': f'nova-lite{by}'}
        answer = self.moving.act(server, 'rebuild', body, **options)
        self.moving.wait_idle(server)
        return answer.json()['server'], self.cloud.wait(server, status)

    def guest(self, server):
        """The server's guest, as its host has it."""
        found = self.cloud.admin.compute.get_server(server.id)
        driver = self.moving.manager.site.driver
        return driver.get_guest(found.hypervisor_hostname, server.id)


class RebuildTest(RebuildTestCase):
    def test_from_another_image(self):
        server = self.moving.boot_full()
        before, image_id = self.moving.picture(server), self.moving.image()
        answer, found = self.rebuild(server, image_id)
        self.assertEqual([image_id] * 2, [answer['image']['id'], found.image.id])
        self.assertEqual(image_id, self.guest(server).spec.image_id)
        self.assertEqual(before, self.moving.picture(server))
        self.assertEqual(EVENTS, self.moving.events(server, 'rebuild'))

    def test_what_a_user_changes(self):
        """By openstacksdk, as the user of another project."""
        compute = self.cloud.demo.compute
        server = self.moving.boot_as_member()
        key = compute.create_keypair(name='key')
        compute.rebuild_server(
            server,
            self.moving.image('cirros'),
            name='other',
            admin_password='secret',
            metadata={'a': 'b'},
            access_ipv4='192.0.2.1',
            access_ipv6='2001:db8::1',
        )
        self.moving.wait_idle(server)
        found = self.cloud.wait(server)
        self.assertEqual(('other', {'a': 'b'}), (found.name, found.metadata))
        self.assertEqual(('192.0.2.1', '2001:db8::1'), (found.access_ipv4, found.access_ipv6))
        answer, found = self.rebuild(
            server,
            found.image.id,
            version='2.94',
            by='-demo',
            description='mine',
            hostname='a.example.org',
            key_name='key',
            user_data='eA==',
            adminPass='secret',
            trusted_image_certificates=['one'],
        )
        wanted = {
            'description': 'mine',
            'OS-EXT-SRV-ATTR:hostname': 'a.example.org',
            'key_name': key.name,
            'user_data': 'eA==',
            'adminPass': 'secret',
            'trusted_image_certificates': ['one'],
        }
        self.assertEqual(wanted, {name: answer[name] for name in wanted})
        self.assertEqual('key', found.key_name)
        values = {'key_name': None, 'user_data': None, 'trusted_image_certificates': None}
        answer, found = self.rebuild(server, found.image.id, version='2.94', by='-demo', **values)
        self.assertEqual(values, {name: answer[name] for name in values})
        self.assertIsNone(found.key_name)

    def test_a_server_that_is_off(self):
        server = self.cloud.boot()
        self.moving.act(server, 'os-stop')
        self.cloud.wait(server, 'SHUTOFF')
        self.rebuild(server, self.moving.image(), status='SHUTOFF')
        self.assertEqual(
            [*EVENTS, ('compute_stop_instance', 'Success')], self.moving.events(server, 'rebuild')
        )

    def test_a_server_in_error(self):
        server = self.cloud.boot()
        self.moving.act(server, 'os-resetState', {'state': 'error'})
        self.rebuild(server, self.moving.image('cirros'))

    def test_an_image_that_the_host_cannot_run(self):
        """The server is in error, with its own image and guest, and can be rebuilt."""
        server = self.cloud.boot()
        image_id = self.moving.image('odd', hw_architecture='s390x')
        answer, found = self.rebuild(server, image_id, status='ERROR')
        self.assertEqual(image_id, answer['image']['id'])
        self.assertEqual(self.moving.image('cirros'), found.image.id)
        self.assertIn('No valid host', found.fault['message'])
        self.assertEqual([('rebuild_server', 'Error')], self.moving.events(server, 'rebuild'))
        self.assertEqual('Error', self.moving.action(server, 'rebuild').message)
        self.rebuild(server, self.moving.image())

    def test_a_host_that_is_down(self):
        server = self.cloud.boot()
        with self.moving.forced_down(server.compute_host):
            _answer, found = self.rebuild(server, self.moving.image())
        self.assertEqual(self.moving.image('cirros'), found.image.id)
        self.assertEqual('Error', self.moving.action(server, 'rebuild').message)

    def test_a_guest_that_cannot_be_made(self):
        server = self.moving.boot_full()
        for verb in ('spawn', 'destroy'):
            self.cloud.behave(failing((verb, '*')))
            self.addCleanup(self.cloud.behave, PROMPT)
            _answer, found = self.rebuild(server, self.moving.other_image(server), status='ERROR')
            self.assertIn('it broke', found.fault['message'])
            self.assertEqual(
                [EVENTS[0], ('compute_rebuild_instance', 'Error')],
                self.moving.events(server, 'rebuild'),
            )
            self.assertEqual([], self.cloud.findings())
            self.cloud.behave(PROMPT)
            self.rebuild(server, self.moving.image())

    def test_in_a_move_or_rescued(self):
        server = self.cloud.boot()
        self.moving.act(server, 'rescue', status=200)
        self.cloud.wait(server, 'RESCUE')
        body = {'imageRef': self.moving.image()}
        answer = self.moving.act(server, 'rebuild', body, status=409)
        self.assertIn("Cannot 'rebuild' instance", answer.text)


class FromVolumeTest(RebuildTestCase):
    def setUp(self):
        super().setUp()
        self.server = self.moving.boot_from_volume()
        self.own = self.moving.image('cirros')

    def volume(self):
        (volume,) = self.cloud.admin.block_storage.volumes(details=True)
        return volume

    def test_another_image_is_refused_before_2_93(self):
        body = {'imageRef': self.moving.image()}
        answer = self.moving.act(self.server, 'rebuild', body, status=400, version='2.92')
        self.assertIn(
            'Unable to rebuild with a different image for a volume-backed server', answer.text
        )
        before = self.moving.picture(self.server)
        answer, _found = self.rebuild(self.server, self.own, version='2.92')
        self.assertEqual(self.own, answer['image']['id'])
        self.assertEqual(before, self.moving.picture(self.server))

    def test_the_volume_gets_the_image(self):
        before, image_id = self.volume(), self.moving.image()
        _answer, found = self.rebuild(self.server, image_id, version='2.93')
        after = self.volume()
        self.assertEqual(image_id, after.volume_image_metadata['image_id'])
        self.assertEqual((before.id, 'in-use'), (after.id, after.status))
        self.assertNotEqual(
            before.attachments[0]['attachment_id'], after.attachments[0]['attachment_id']
        )
        self.assertEqual([before.id], [each['id'] for each in found.attached_volumes])
        # Its own image is written as well: what users have changed is gone.
        self.rebuild(self.server, image_id)
        self.assertNotEqual(after.attachments, self.volume().attachments)

    def test_a_volume_that_cannot_be_written(self):
        """The volume service does not find the image any more."""
        faults = self.useFixture(saga_faults.SagaFaults(self.cloud))
        image_id = self.moving.image()
        faults.fault = saga_faults.Fault(
            'rebuild',
            rebuild.REIMAGE,
            saga_faults.Mode.DURING_BEFORE,
            meanwhile=lambda: self.cloud.admin.image.delete_image(image_id),
        )
        _answer, found = self.rebuild(self.server, image_id, status='ERROR')
        self.assertIn(self.volume().id, found.fault['message'])
        self.assertEqual('reserved', self.volume().status)
        self.assertEqual([], self.cloud.findings())
        self.rebuild(self.server, self.own)
        self.assertEqual('in-use', self.volume().status)

    def test_certificates_are_of_no_use(self):
        body = {'imageRef': self.own, 'trusted_image_certificates': ['one']}
        answer = self.moving.act(self.server, 'rebuild', body, status=400)
        self.assertIn('booting from volume', answer.text)


class CrossCellTest(RebuildTestCase):
    settings = moves_base.ONE_HOST_EACH

    def test_a_server_that_a_move_has_broken(self):
        """It is in error at its source, and mended there."""
        server = self.cloud.boot(host='cell1-host1')
        self.cloud.behave(failing(('spawn', 'cell2-*'), ('revert_migration', 'cell1-*')))
        self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
        self.moving.wait_idle(server)
        found = self.cloud.wait(server, 'ERROR')
        self.assertEqual('cell1-host1', found.compute_host)
        self.cloud.behave(PROMPT)
        _answer, found = self.rebuild(server, self.moving.image())
        self.assertEqual(('cell1-host1', None), (found.compute_host, found.task_state))
        self.assertEqual(['cell1-host1'], self.cloud.guests()[server.id])
        self.assertEqual([], self.cloud.findings())
        # It can move again, and be rebuilt where it is then.
        self.moving.act(server, 'migrate', {'host': 'cell2-host1'})
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.moving.act(server, 'confirmResize', status=204)
        self.moving.wait_idle(server)
        self.cloud.wait(server)
        self.rebuild(server, self.moving.image('cirros'))
