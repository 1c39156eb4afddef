"""Masakari's engine: recovery of the servers of a failed host, and of one server.

The engine's driver runs its flows, as when a monitor has reported the failure.
"""

import functools
import unittest
import uuid

# isort: off
import masakari.cmd  # noqa: F401  first it prepares the interpreter, as for the engine
# isort: on

import cloud
from masakari import config
from masakari import context
from masakari import exception
from masakari import objects
from masakari.compute import nova
from masakari.engine.drivers.taskflow import driver
from masakari.objects import fields
from novaclient import exceptions

METHODS = fields.FailoverSegmentRecoveryMethod
HOSTS = cloud.SETTINGS['hosts']
FAILED, RESERVED = HOSTS[0], HOSTS[-1]
STATUS, TASK, HOST = (
    'OS-EXT-STS:vm_state',
    'OS-EXT-STS:task_state',
    'OS-EXT-SRV-ATTR:hypervisor_hostname',
)


class Recovery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.parse_args(['masakari-engine', '--config-file', cloud.SETTINGS['configuration']])
        objects.register_all()
        cls.ctxt = context.get_admin_context()
        cls.driver = driver.TaskFlowDriver()
        cls.nova = nova.novaclient(cls.ctxt)
        cls.nova.api_version = nova.api_versions.APIVersion('2.74')  # hosts are named
        cls.flavor = cls.nova.flavors.find(name=cloud.SETTINGS['flavor'])
        cls.networks = [{'net-id': cloud.SETTINGS['network_id']}]

    def setUp(self):
        self.servers = {}
        self.addCleanup(self.clean)

    def clean(self):
        """Bring the hosts back, and delete the servers."""
        cloud.command('host', 'on', FAILED)
        for service in self.nova.services.list(binary='nova-compute'):
            cloud.wait('the host is back', functools.partial(self.bring_up, service))
            # Of a host that is down its provider in placement would stay disabled for a while.
            self.nova.services.enable(service.id)
        cloud.wait(
            'services are up',
            lambda: all(each.state == 'up' for each in self.nova.services.list()),
        )
        # Of a host that is down guests would stay for a while.
        for server in self.servers.values():
            self.nova.servers.force_delete(server)
        cloud.wait('no servers', lambda: not self.nova.servers.list(search_opts={'all_tenants': 1}))

    def bring_up(self, service):
        """Return whether a host is up again: it is refused before it has removed its old guests."""
        try:
            self.nova.services.force_down(service.id, False)
        except exceptions.BadRequest:
            return False
        return True

    def boot(self, name, host=FAILED, **values):
        """A server that runs on a host."""
        server = self.nova.servers.create(
            name,
            cloud.SETTINGS['image_id'],
            self.flavor,
            nics=self.networks,
            host=host,
            **values,
        )
        self.servers[name] = server
        return self.become(name, 'active')

    def become(self, name, state, host=None):
        """The server, when it has a state and no task. host: where it must be, too"""

        def done():
            found = self.nova.servers.get(self.servers[name].id)
            self.assertNotEqual('error' if state != 'error' else '', getattr(found, STATUS))
            settled = (getattr(found, STATUS), getattr(found, TASK)) == (state, None)
            return found if settled and host in (None, getattr(found, HOST)) else None

        return cloud.wait(f'{name} is {state}', done)

    def in_state(self, name, act, state, **values):
        """A server on the host that will fail, in another state than active."""
        server = self.boot(name, **values)
        act(server)
        if state != 'error':
            self.become(name, state)
        return server

    def group(self, policy):
        """A server group."""
        group = self.nova.server_groups.create(name=policy, policy=policy)
        self.addCleanup(group.delete)
        return group.id

    def fail(self):
        """Power off the host; Nova knows that it is down."""
        cloud.command('host', 'off', FAILED)
        (service,) = self.nova.services.list(host=FAILED, binary='nova-compute')
        self.nova.services.force_down(service.id, True)

    def recover(self, method):
        """Run the flow of a host failure; return {name of a server: its move}."""
        notification = str(uuid.uuid4())
        self.driver.execute_host_failure(
            self.ctxt,
            FAILED,
            method,
            notification,
            update_host_method=lambda *_words, **_options: None,
            reserved_host_list=[RESERVED],
        )
        moves = objects.VMoveList.get_all_vmoves(self.ctxt, notification)
        return {move.instance_name: move for move in moves}

    def check(self, moves, states, host=None):
        """All servers have moved to another host, one of their states each."""
        self.assertEqual(
            dict.fromkeys(states, fields.VMoveStatus.SUCCEEDED),
            {name: move.status for name, move in moves.items()},
        )
        for name, state in states.items():
            found = self.become(name, state)
            self.assertNotEqual(FAILED, getattr(found, HOST))
            if host:
                self.assertEqual(host, getattr(found, HOST))
            self.assertFalse(found.locked)

    def test_auto(self):
        self.boot('active')
        self.in_state('stopped', self.nova.servers.stop, 'stopped')
        self.in_state('paused', self.nova.servers.pause, 'paused')
        self.in_state('suspended', self.nova.servers.suspend, 'suspended')
        self.in_state('rescued', self.nova.servers.rescue, 'rescued')
        self.in_state('error', self.nova.servers.reset_state, 'error')
        self.fail()
        stopped = ('stopped', 'paused', 'suspended', 'rescued')
        expected = {'active': 'active', **dict.fromkeys(stopped, 'stopped'), 'error': 'error'}
        self.check(self.recover(METHODS.AUTO), expected)

    def test_auto_of_group_members(self):
        hints = {'group': self.group('anti-affinity')}
        self.boot('first', scheduler_hints=hints)
        self.boot('second', HOSTS[1], scheduler_hints=hints)
        self.fail()
        self.check(self.recover(METHODS.AUTO), {'first': 'active'})
        hosts = {getattr(self.become(name, 'active'), HOST) for name in ('first', 'second')}
        self.assertEqual(2, len(hosts))

    def test_reserved_host(self):
        self.disable_reserved()
        self.boot('active')
        self.in_state('stopped', self.nova.servers.stop, 'stopped')
        self.fail()
        expected = {'active': 'active', 'stopped': 'stopped'}
        self.check(self.recover(METHODS.RESERVED_HOST), expected, RESERVED)

    def test_reserved_host_of_group_members(self):
        self.disable_reserved()
        hints = {'group': self.group('anti-affinity')}
        self.boot('first', scheduler_hints=hints)
        self.boot('second', HOSTS[1], scheduler_hints=hints)
        self.fail()
        self.check(self.recover(METHODS.RESERVED_HOST), {'first': 'active'}, RESERVED)

    def test_priorities(self):
        for method in (METHODS.AUTO_PRIORITY, METHODS.RH_PRIORITY):
            with self.subTest(method=method):
                self.disable_reserved()
                self.boot('active')
                self.fail()
                self.check(self.recover(method), {'active': 'active'})
                self.clean()
                self.servers = {}

    def disable_reserved(self):
        """Disable the host that no server is to use before another one fails."""
        (service,) = self.nova.services.list(host=RESERVED, binary='nova-compute')
        self.nova.services.disable(service.id)

    def test_a_host_without_servers_is_skipped(self):
        self.fail()
        with self.assertRaises(exception.SkipHostRecoveryException):
            self.recover(METHODS.AUTO)

    def test_instance_failure(self):
        server = self.boot('active', meta={'HA_Enabled': 'True'})
        self.driver.execute_instance_failure(self.ctxt, server.id, str(uuid.uuid4()))
        found = self.become('active', 'active')
        actions = [each.action for each in self.nova.instance_action.list(found)]
        self.assertEqual({'create', 'stop', 'start'}, set(actions))

    def test_process_failure(self):
        self.driver.execute_process_failure(self.ctxt, 'nova-compute', HOSTS[1], str(uuid.uuid4()))
        (service,) = self.nova.services.list(host=HOSTS[1], binary='nova-compute')
        self.assertEqual('disabled', service.status)


if __name__ == '__main__':
    cloud.main()
