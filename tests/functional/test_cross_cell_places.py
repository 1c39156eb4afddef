"""The choice of the cell and host of a server that moves, and retries when a host refuses."""

import contextlib

from nova_lite import context
from nova_lite.api.servers import cross_cell
from nova_lite.db.cell import services
from tests.fixtures import crossing
from tests.functional import moves_base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

CELL1 = ('cell1-host1', 'cell1-host2')
CELL2 = ('cell2-host1', 'cell2-host2', 'cell2-host3')
MEMORY = {'VCPU': 0, 'DISK_GB': 0}
PREP = 'compute_prep_snapshot_based_resize_at_dest'
AT_SOURCE = 'compute_prep_snapshot_based_resize_at_source'


class PlacesBase(moves_base.MovesTest):
    def setUp(self):
        super().setUp()
        self.crossing = crossing.Crossing(self.cloud)

    def boot_at(self, host, **options):
        return self.cloud.boot(availability_zone=f'nova:{host}', **options)

    def moved(self, server):
        """The server once it waits for its user, and its saga is over."""
        found = self.cloud.wait(server, 'VERIFY_RESIZE')
        self.crossing.idle(server)
        return found

    def refused_move(self, server):
        """The server once a move was refused; it is as it was."""
        self.crossing.idle(server)
        found = self.cloud.wait(server)
        self.assertEqual(server.compute_host, found.compute_host)
        self.assertEqual('error', self.stage.migration(server)['status'])
        self.assertEqual(
            {server.compute_host}, self.stage.hosts_held(server, self.stage.migration(server))
        )
        self.assertEqual([], self.crossing.images(server))
        self.assertEqual([False], list(self.crossing.records(server).values()))
        return found

    def site(self, cell):
        return self.cloud.cloud.daemons[f'compute-{cell}'].manager.site

    @contextlib.contextmanager
    def full(self, *hosts):
        """The hosts have no memory left, which neither scheduler nor placement know."""
        for host in hosts:
            limits = self.site(host[:5]).inventory.limits(host)
            wanted = {**MEMORY, 'MEMORY_MB': int(limits['MEMORY_MB'])}
            self.site(host[:5]).claims.claim(host, 'somebody', wanted, limits)
        try:
            yield
        finally:
            for host in hosts:
                self.site(host[:5]).claims.release(host, 'somebody')


@sample.in_turns(3)
class PlacesTest(PlacesBase):
    settings = moves_base.THREE_HOSTS_EACH

    def only(self, stack, *hosts):
        """Restrict servers to these hosts of the second cell, and to none of the first."""
        for host in (*CELL1, 'cell1-host3', *CELL2):
            if host not in hosts:
                stack.enter_context(self.stage.disabled(host))

    def test_stays_while_there_is_room(self):
        server = self.boot_at(CELL1[0])
        self.stage.act(server, 'migrate')
        self.assertEqual('cell1', self.moved(server).compute_host[:5])
        self.assertEqual(1, len(self.crossing.records(server)))

    def test_host_in_the_other_cell(self):
        """Though its own cell has free hosts."""
        server = self.boot_at(CELL1[0])
        self.stage.act(server, 'migrate', {'host': CELL2[1]})
        self.assertEqual(CELL2[1], self.moved(server).compute_host)

    def test_the_next_host_of_the_cell_takes_it(self):
        server = self.boot_at(CELL1[0])
        # Another host has more room, so that this one is the second choice.
        first, second = CELL2[:2]
        self.boot_at(second, name='in-the-way', flavor='m1.small')
        with contextlib.ExitStack() as stack:
            self.only(stack, first, second)
            stack.enter_context(self.full(first))
            self.stage.resize(server, 'm1.small')
            self.assertEqual(second, self.moved(server).compute_host)
        found = self.stage.events(server, 'resize')
        self.assertEqual([(PREP, 'Error'), (PREP, 'Success')], [e for e in found if e[0] == PREP])
        migration = self.stage.migration(server)
        self.assertEqual({CELL1[0], second}, self.stage.hosts_held(server, migration))

    def test_no_host_of_the_cell_takes_it(self):
        server = self.boot_at(CELL1[0])
        with contextlib.ExitStack() as stack:
            self.only(stack, *CELL2[:2])
            stack.enter_context(self.full(*CELL2[:2]))
            self.stage.resize(server, 'm1.small')
            self.refused_move(server)
            found = self.stage.events(server, 'resize')
            self.assertNotIn(AT_SOURCE, dict(found))
            self.assertEqual(2, found.count((PREP, 'Error')))
        # And once there is room the same is done.
        self.stage.act(server, 'migrate', {'host': CELL2[0]})
        self.moved(server)

    def test_named_host_without_room(self):
        """No other host is tried."""
        server = self.boot_at(CELL1[0])
        with self.full(CELL2[0]):
            self.stage.act(server, 'migrate', {'host': CELL2[0]})
            self.refused_move(server)

    def test_no_path_to_the_volume(self):
        """can_connect_volume says so before the guest is stopped."""
        server = self.stage.boot_full(availability_zone=f'nova:{CELL1[0]}')
        self.cloud.behave(
            'extends: instant\nhosts: [{match: "cell2-*", volume_types: [nothing-of-the-kind]}]\n'
        )
        self.addCleanup(self.cloud.behave, 'extends: instant\n')
        self.stage.act(server, 'migrate', {'host': CELL2[0]})
        self.refused_move(server)
        self.assertNotIn(AT_SOURCE, dict(self.stage.events(server, 'migrate')))
        self.assertEqual([CELL1[0]], self.cloud.guests()[server.id])
        self.assertEqual(1, len(self.crossing.attachments(server)))

    def test_flavor_that_only_the_other_cell_offers(self):
        """The weigher has no say: no host of its own cell comes into question."""
        providers = self.stage.world.placement.providers
        provider = providers.find_by_name(context.admin(), CELL2[2])
        providers.change_traits(context.admin(), provider.uuid, add=['CUSTOM_GENERATION_2'])
        flavor = self.stage.flavor('generation-2')
        self.cloud.admin.compute.create_flavor_extra_specs(
            flavor, {'trait:CUSTOM_GENERATION_2': 'required'}
        )
        server = self.boot_at(CELL1[0])
        self.stage.resize(server, 'generation-2')
        self.assertEqual(CELL2[2], self.moved(server).compute_host)

    # ---- may it leave? ----

    def test_port_that_requests_resources(self):
        """It stays in its cell, where that means nothing: same as without the policy."""
        network = self.cloud.admin.network
        policy = network.create_qos_policy(name='guaranteed')
        network.create_qos_minimum_bandwidth_rule(policy, min_kbps=1000, direction='egress')
        server = self.stage.boot_full(availability_zone=f'nova:{CELL1[0]}')
        (port,) = network.ports(device_id=server.id)
        network.update_port(port, qos_policy_id=policy.id)
        self.addCleanup(network.delete_qos_policy, policy)
        self.assertTrue(network.get_port(port).resource_request)
        self.stage.act(server, 'migrate', {'host': CELL2[0]}, status=400)
        with contextlib.ExitStack() as stack:
            for host in (*CELL1[1:], 'cell1-host3'):
                stack.enter_context(self.stage.disabled(host))
            self.stage.act(server, 'migrate')
            self.refused_move(server)
        network.update_port(port, qos_policy_id=None)
        self.stage.act(server, 'migrate', {'host': CELL2[0]})
        self.moved(server)
        self.delete(server)

    def test_old_compute(self):
        """One that is too old, in whichever cell, keeps all servers in theirs."""
        server = self.boot_at(CELL1[0])
        cell = next(each for each in self.stage.world.cells.every() if each.name == 'cell2')
        self.patch(cross_cell.versions, 'CROSS_CELL_RESIZE', 2)
        self.assertEqual(1, cell.db.read(services.minimum_version))
        self.stage.act(server, 'migrate', {'host': CELL2[0]}, status=400)
        self.stage.act(server, 'migrate')
        self.assertEqual('cell1', self.moved(server).compute_host[:5])

    def test_unknown_host(self):
        server = self.boot_at(CELL1[0])
        self.stage.act(server, 'migrate', {'host': 'cell3-host1'}, status=400)
        self.stage.act(server, 'migrate', {'host': CELL1[0]}, status=400)

    # ---- hosts asked for once ----

    def test_host_requested_at_create(self):
        """2.74: it ties the server to nothing afterwards."""
        body = {
            'name': 'placed',
            'flavorRef': self.cloud.flavor_id('m1.tiny'),
            'imageRef': self.cloud.admin.image.find_image('cirros').id,
            'networks': 'none',
            'host': CELL1[0],
            'hypervisor_hostname': CELL1[0],
        }
        answer = self.api('POST', '/servers', {'server': body}, status=202, version='2.74')
        server = self.cloud.wait(self.cloud.admin.compute.get_server(answer['server']['id']))
        self.assertEqual(CELL1[0], server.compute_host)
        with contextlib.ExitStack() as stack:
            self.only(stack, CELL2[0])
            self.stage.resize(server, 'm1.small')
            self.assertEqual(CELL2[0], self.moved(server).compute_host)
            self.stage.act(server, 'confirmResize', status=204)
            self.cloud.wait(server)
            self.crossing.idle(server)
        # Nor does the host of the move tie it.
        self.stage.act(server, 'migrate', {'host': CELL1[1]})
        self.moved(server)
        self.stage.act(server, 'confirmResize', status=204)
        self.cloud.wait(server)
        self.crossing.idle(server)
        self.stage.act(server, 'migrate')
        self.moved(server)

    def test_zone_and_host_of_create(self):
        server = self.boot_at(CELL1[0])
        with contextlib.ExitStack() as stack:
            self.only(stack, CELL2[0])
            self.stage.act(server, 'migrate')
            self.assertEqual(CELL2[0], self.moved(server).compute_host)


class GroupsTest(PlacesBase):
    settings = moves_base.ONE_HOST_EACH

    def group(self, policy):
        body = {'name': policy, 'policy': policy}
        created = self.api('POST', '/os-server-groups', {'server_group': body})['server_group']
        self.addCleanup(self.api, 'DELETE', f'/os-server-groups/{created["id"]}', status=204)
        return {'scheduler_hints': {'group': created['id']}}

    def test_anti_affinity(self):
        """The other cell's only host has a member: there is nowhere to go."""
        group = self.group('anti-affinity')
        server = self.cloud.boot('first', **group)
        second = self.cloud.boot('second', **group)
        self.assertNotEqual(server.compute_host, second.compute_host)
        self.stage.resize(server, 'm1.small')
        self.refused_move(server)
        self.delete(second)
        self.stage.act(server, 'migrate')
        self.assertEqual(second.compute_host, self.moved(server).compute_host)

    def test_affinity(self):
        """Members stay together: none leaves the host, as within a cell."""
        group = self.group('affinity')
        server, second = (self.cloud.boot(name, **group) for name in ('first', 'second'))
        self.assertEqual(server.compute_host, second.compute_host)
        self.stage.act(server, 'migrate')
        self.refused_move(server)
        self.stage.resize(second, 'm1.small')
        self.refused_move(second)


class FullTest(PlacesBase):
    """Hosts with room for one such server each."""

    settings = moves_base.ONE_HOST_EACH

    def test_room_is_kept_for_the_revert(self):
        most = self.stage.flavor('most', ram=int(self.stage.host_memory() * 0.8))
        server = self.boot_at(CELL1[0], flavor=most.name)
        self.stage.act(server, 'migrate', {'host': CELL2[0]})
        self.moved(server)
        for number, host in enumerate((CELL1[0], CELL2[0])):
            late = self.boot_at(host, name=f'late-{number}', flavor=most.name, status='ERROR')
            self.assertIn('No valid host', late.fault['message'])
        self.stage.act(server, 'revertResize')
        self.assertEqual(CELL1[0], self.cloud.wait(server).compute_host)
        self.crossing.idle(server)
        # What it had there is free again, at last.
        self.boot_at(CELL2[0], name='in-time', flavor=most.name)


class WeighedTest(PlacesBase):
    """An operator who wants servers to leave."""

    settings = {
        'cells': 2,
        'hosts': 2,
        'options': {'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0}},
    }

    def test_leaves_though_there_is_room(self):
        server = self.boot_at(CELL1[0])
        self.stage.act(server, 'migrate')
        self.assertEqual('cell2', self.moved(server).compute_host[:5])
