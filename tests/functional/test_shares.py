"""Shares of servers in a whole cloud: attached, mounted, unmounted, detached."""

from openstack import exceptions

from tests.fixtures import cli as cli_fixture
from tests.fixtures import moving
from tests.fixtures import sharing
from tests.functional import base

SUCCESS = 'Success'
INSTANT = 'extends: instant\n'
BROKEN = INSTANT + 'failures: [{verb: mount_share}]\n'


class SharesTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 1}

    def setUp(self):
        super().setUp()
        self.hands = sharing.Sharing(self.cloud)
        self.stage = moving.Moving(self.cloud)
        self.server = self.hands.stopped(self.cloud.boot())
        self.share = self.hands.share()

    def status(self):
        return self.hands.statuses(self.server).get(self.share)

    def test_attach_mount_unmount_detach(self):
        answer = self.hands.attach(self.server, self.share)
        self.assertEqual(('attaching', self.share), (answer.status, answer.tag))
        self.assertEqual(f'10.254.0.5:/shares/{self.share}', answer.export_location)
        self.assertEqual('inactive', self.status())
        (rule,) = self.hands.rules(self.share)
        self.assertEqual('ip', rule[0])
        self.assertEqual(['access_rule', 'share'], self.hands.locks())
        self.assertEqual([], self.hands.mounted(self.server))
        self.hands.started(self.server)
        self.assertEqual('active', self.status())
        self.assertEqual([self.share], self.hands.mounted(self.server))
        self.hands.stopped(self.server)
        self.assertEqual('inactive', self.status())
        self.assertEqual([], self.hands.mounted(self.server))
        self.hands.detach(self.server, self.share)
        self.assertEqual({}, self.hands.statuses(self.server))
        self.assertEqual([], self.hands.rules(self.share))
        self.assertEqual([], self.hands.locks())
        for action, event in (
            ('attach_share', 'compute_allow_share'),
            ('detach_share', 'compute_deny_share'),
        ):
            self.assertEqual([(event, SUCCESS)], self.stage.events(self.server, action))

    def test_a_share_in_use_is_locked(self):
        self.hands.attach(self.server, self.share)
        self.assertRaises(exceptions.ConflictException, self.hands.manila.delete_share, self.share)
        self.hands.detach(self.server, self.share)
        self.hands.manila.delete_share(self.share)

    def test_servers_of_a_host_use_one_rule(self):
        other = self.hands.stopped(self.cloud.boot('other'))
        for server in (self.server, other):
            self.hands.attach(server, self.share)
        self.assertEqual(1, len(self.hands.rules(self.share)))
        self.hands.detach(self.server, self.share)
        self.assertEqual(1, len(self.hands.rules(self.share)))
        self.hands.detach(other, self.share)
        self.assertEqual([], self.hands.rules(self.share))

    def test_a_share_of_ceph(self):
        share = self.hands.share('CEPHFS')
        self.hands.attach(self.server, share, tag='data')
        self.assertEqual([('cephx', 'nova')], self.hands.rules(share))
        self.hands.detach(self.server, share)

    def test_the_end_of_a_server_ends_its_attachments(self):
        self.hands.attach(self.server, self.share)
        self.hands.started(self.server)
        self.delete(self.server)
        self.assertEqual([], self.hands.rules(self.share))
        self.assertEqual([], self.hands.locks())

    def test_reboots_and_rescue_keep_shares(self):
        self.hands.attach(self.server, self.share)
        for kind in ('HARD', 'SOFT', 'HARD'):
            self.stage.act(self.server, 'reboot', {'type': kind})
            self.cloud.wait(self.server, 'ACTIVE')
            self.assertEqual('active', self.status())
            self.assertEqual([self.share], self.hands.mounted(self.server))
        for action, code, status in (('rescue', 200, 'RESCUE'), ('unrescue', 202, 'ACTIVE')):
            self.stage.act(self.server, action, status=code)
            self.cloud.wait(self.server, status)
            self.assertEqual('active', self.status())

    def test_actions_that_do_not_support_shares(self):
        self.hands.attach(self.server, self.share)
        image = self.cloud.image_id('cirros')
        flavor = self.cloud.flavor_id('m1.small')
        refused = [
            ('resize', {'flavorRef': flavor}),
            ('migrate', None),
            ('rebuild', {'imageRef': image}),
            ('shelve', None),
        ]
        for action, content in refused:
            self.stage.act(self.server, action, content, status=409)
        self.hands.started(self.server)
        live = {'host': None, 'block_migration': 'auto'}
        for action, content in (*refused, ('suspend', None), ('os-migrateLive', live)):
            self.stage.act(self.server, action, content, status=409)
        self.assertEqual('ACTIVE', base.CloudTest.status(self, self.server))

    def test_a_share_that_cannot_be_mounted(self):
        self.hands.attach(self.server, self.share)
        self.cloud.behave(BROKEN)
        self.hands.started(self.server, 'ERROR')
        self.assertEqual('error', self.status())
        self.cloud.behave(INSTANT)
        self.stage.act(self.server, 'reboot', {'type': 'HARD'})
        self.cloud.wait(self.server, 'ACTIVE')
        self.assertEqual('active', self.status())


class ShareClientTest(base.CloudTest):
    """The unmodified command line client."""

    settings = {'cells': 1, 'hosts': 1}
    newest = ('--os-compute-api-version', '2.97')

    def test_openstack(self):
        hands = sharing.Sharing(self.cloud)
        hands.stopped(self.cloud.boot('mine'))
        cli = self.useFixture(cli_fixture.Cli(self.cloud))
        made = cli.show('share', 'create', 'NFS', '1', '--name', 'data')
        self.assertEqual('available', made['status'])
        (listed,) = cli.show('share', 'list')
        self.assertEqual('data', listed['Name'])
        added = cli.show(*self.newest, 'server', 'add', 'share', '--tag', 'x', 'mine', 'data')
        self.assertEqual(('attaching', 'x'), (added['Status'], added['Tag']))
        server = self.cloud.admin.compute.find_server('mine')
        hands.hands.wait_idle(server)
        (listed,) = cli.show(*self.newest, 'server', 'share', 'list', 'mine')
        self.assertEqual(('inactive', 'x'), (listed['Status'], listed['Tag']))
        shown = cli.show(*self.newest, 'server', 'share', 'show', 'mine', 'data')
        self.assertEqual(made['id'], shown['Share ID'])
        cli.openstack('share', 'delete', 'data', status=1)
        cli.openstack(*self.newest, 'server', 'remove', 'share', 'mine', 'data')
        hands.hands.wait_idle(server)
        self.assertEqual([], cli.show(*self.newest, 'server', 'share', 'list', 'mine'))
        cli.openstack('share', 'delete', 'data')
        self.assertEqual([], cli.show('share', 'list'))
