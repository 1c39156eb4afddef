"""Members of server groups that are built and moved at the same time stay apart."""

import contextlib
import functools

from nova_lite import cells
from nova_lite import runtime
from nova_lite.db.cell import group_places
from nova_lite.db.cell import instances
from tests.fixtures import crossing
from tests.fixtures import live_moving
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

REFUSES_ONCE = """
extends: instant
failures: [{verb: spawn, first: 1, reschedule: true, message: no room, match: {server: early}}]
"""
SLOW = "extends: instant\nhosts: [{match: '*', delays: {destroy: 2}}]\n"
HOSTS = ('cell1-host1', 'cell1-host2', 'cell1-host3')
OTHER = 'cell2-host1'


@sample.in_turns(4)
class GroupsMovingTest(moves_base.MovesTest):
    settings = moves_base.THREE_HOSTS_EACH

    def setUp(self):
        super().setUp()
        self.moving = live_moving.LiveMoving(self.cloud)
        self.crossing = crossing.Crossing(self.cloud)
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        self.open = contextlib.ExitStack()
        self.addCleanup(self.open.close)
        self.only(*HOSTS)
        self.group = self.make_group('anti-affinity')

    def make_group(self, policy):
        body = {'server_group': {'name': policy, 'policy': policy}}
        uuid = self.api('POST', '/os-server-groups', body)['server_group']['id']
        self.addCleanup(self.api, 'DELETE', f'/os-server-groups/{uuid}', status=204)
        return uuid

    def only(self, *hosts):
        """Restrict servers to these hosts from now on."""
        self.open.close()
        for cell in ('cell1', 'cell2'):
            for number in (1, 2, 3):
                if f'{cell}-host{number}' not in hosts:
                    self.open.enter_context(self.stage.disabled(f'{cell}-host{number}'))

    def member(self, name, host=None, **options):
        """A new member of the group, on `host` if one is named."""
        if host is not None:
            self.only(host)
        return self.boot(name, scheduler_hints={'group': self.group}, **options)

    def build_of(self, server):
        """Return what the cell's record says of the build of a server."""
        cell = next(each for each in self.stage.world.cells.every() if each.name == 'cell1')
        return cell.db.read(instances.find, server.id)

    def stays(self, server):
        """Wait until what the server was asked to do was refused; it is where it was."""
        self.crossing.idle(server)
        self.assertEqual(server.compute_host, self.cloud.wait(server).compute_host)

    def one_arrives(self, members, action, content):
        """Ask for a move of both members at the same time to the one host that is free.

        Returns (the one that is there, the one that is where it was), as they are then.
        """
        self.only(HOSTS[2])
        self.stage.together(
            *(functools.partial(self.stage.send, each, action, content) for each in members)
        )
        for each in members:
            self.crossing.idle(each)
        moved = [self.cloud.admin.compute.get_server(each.id) for each in members]
        (there,) = [each for each in moved if each.compute_host == HOSTS[2]]
        (other,) = [each for each in moved if each.compute_host != HOSTS[2]]
        self.assertIn(other.compute_host, HOSTS[:2])
        return there, other

    def test_rescheduled_after_a_later_member_was_placed(self):
        """The alternate was chosen before the other member was accepted."""
        rescheduler = self.cloud.cloud.daemons['conductor-cell1'].manager._rescheduler
        failed, go_on = runtime.Event(), runtime.Event()
        self.addCleanup(go_on.set)
        leave = rescheduler.leave

        def wait(*args):
            failed.set()
            go_on.wait(60)
            leave(*args)

        self.patch(rescheduler, 'leave', wait)
        self.cloud.behave(REFUSES_ONCE)
        early = self.member('early', wait=False)
        self.assertTrue(failed.wait(60))
        alternate = self.build_of(early).build['alternates'][0]['service_host']
        late = self.member('late', alternate)
        go_on.set()
        early = self.cloud.wait(early)
        self.assertEqual(alternate, late.compute_host)
        self.assertNotEqual(alternate, early.compute_host)

    def test_a_member_that_is_being_deleted_leaves_room(self):
        """It is no member any more once its deletion was accepted."""
        for policy, host in (('anti-affinity', HOSTS[0]), ('affinity', HOSTS[1])):
            with self.subTest(policy):
                self.group = self.make_group(policy)
                early = self.member('early', HOSTS[0])
                self.cloud.behave(SLOW)
                self.cloud.admin.compute.delete_server(early)
                late = self.member('late', host)
                self.assertEqual(host, late.compute_host)
                self.assertEqual('deleting', self.build_of(early).task_state)
                self.cloud.admin.compute.wait_for_delete(early)

    def test_both_move_to_one_host(self):
        """The first is still being copied when the second asks for the same host."""
        first, second = (self.member(host, host) for host in HOSTS[:2])
        self.only(*HOSTS)
        self.cloud.behave(live_moving.ENDLESS)
        self.moving.go(first, HOSTS[2])
        migration = self.moving.watched(first, 'running')
        self.stage.act(second, 'migrate', {'host': HOSTS[2]})
        self.stays(second)
        self.moving.go(second, HOSTS[2])
        self.stays(second)
        late = self.member('late', HOSTS[2], status='ERROR')
        self.assertIn('No valid host', late.fault['message'])
        self.moving.force_complete(first, migration)
        self.moving.ended(first)
        self.assertEqual(HOSTS[2], self.cloud.wait(first).compute_host)

    def test_both_evacuate_to_one_host(self):
        members = [self.member(host, host) for host in HOSTS[:2]]
        for host in HOSTS[:2]:
            self.moving.fail(host)
        there, other = self.one_arrives(members, 'evacuate', {})
        # As the newest microversions leave it.
        self.assertEqual('SHUTOFF', there.status)
        for host in HOSTS[:2]:
            self.moving.come_back(host)
        self.delete(other)

    def test_evacuated_to_a_host_without_members(self):
        """The requested destination is no place of the server that is evacuated."""
        first, _second = (self.member(host, host) for host in HOSTS[:2])
        self.only(*HOSTS)
        self.moving.fail(HOSTS[0])
        self.stage.act(first, 'evacuate', {'host': HOSTS[2]}, status=200)
        self.crossing.idle(first)
        self.assertEqual(HOSTS[2], self.cloud.wait(first, 'SHUTOFF').compute_host)
        self.moving.come_back(HOSTS[0])

    def test_evacuated_apart(self):
        """A refused destination does not count for the next decision."""
        self.group = self.make_group('affinity')
        first, second = (self.member(name, HOSTS[0]) for name in ('first', 'second'))
        self.only(*HOSTS)
        self.moving.fail(HOSTS[0])
        for server, content in ((first, {'host': HOSTS[2]}), (second, {})):
            self.stage.act(server, 'evacuate', content, status=200)
            self.crossing.idle(server)
            server = self.cloud.wait(server, 'ERROR')
            self.assertEqual(HOSTS[0], server.compute_host)
            self.assertIn('No valid host', server.fault['message'])
            self.assertIn('ServerGroupAffinityFilter', server.fault['message'])
            (migration,) = self.cloud.admin.compute.migrations(instance_uuid=server.id)
            self.assertEqual('error', migration.status)
        self.moving.come_back(HOSTS[0])

    def test_both_resize_to_one_host(self):
        members = [self.member(host, host) for host in HOSTS[:2]]
        flavor = {'flavorRef': self.stage.flavor('group.large', vcpus=2).id}
        there, other = self.one_arrives(members, 'resize', flavor)
        self.assertEqual(('VERIFY_RESIZE', 'ACTIVE'), (there.status, other.status))
        self.stage.act(there, 'confirmResize', status=204)
        self.cloud.wait(there)

    def test_between_cells(self):
        """A host that a member may be reverted to, or is about to reach, gets no other member."""
        first, second = (self.member(host, host) for host in HOSTS[:2])
        self.only(*HOSTS, OTHER)
        self.stage.act(first, 'migrate', {'host': OTHER})
        self.cloud.wait(first, 'VERIFY_RESIZE')
        self.crossing.idle(first)
        for host in (HOSTS[0], OTHER):
            self.stage.act(second, 'migrate', {'host': host})
            self.stays(second)
        self.stage.act(first, 'revertResize')
        self.assertEqual(HOSTS[0], self.cloud.wait(first).compute_host)
        self.crossing.idle(first)
        self.stage.act(second, 'migrate', {'host': OTHER})
        self.assertEqual(OTHER, self.cloud.wait(second, 'VERIFY_RESIZE').compute_host)
        self.crossing.idle(second)

    def test_apart_by_a_scheduler_that_a_cell_does_not_answer(self):
        """It takes the members in that cell for nowhere. The move reads that cell again."""
        self.group = self.make_group('affinity')
        first, second = (self.member(name, HOSTS[0]) for name in ('first', 'second'))
        self.only(HOSTS[0], OTHER)
        scheduler_cells = self.cloud.cloud.daemons['scheduler'].manager.world.cells
        scatter, refused = scheduler_cells.scatter, runtime.Event()

        def lose(function, *args, **options):
            found = scatter(function, *args, **options)
            if function is not group_places.of_servers:
                return found
            refused.set()
            return {cell: cells.Unreachable('test') for cell in found}

        self.patch(scheduler_cells, 'scatter', lose)
        self.stage.act(first, 'migrate', {'host': OTHER})
        self.stays(first)
        self.assertTrue(refused.is_set())
        self.assertEqual(second.compute_host, first.compute_host)
