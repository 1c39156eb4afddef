"""Hosts whose servers a study counts: servers that come, and servers that leave."""

from nova_lite import cells
from nova_lite.lab.replay import tracked_hosts
from nova_lite.lifecycle import fitting
from nova_lite.scheduler import hosts
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.scheduler import base

PINNED = {'hw:cpu_policy': 'dedicated'}
OFFER = {'allocations': {}, 'mappings': {}}


class TrackedHostsTest(base.SchedulerTestCase):
    def request(self):
        return base.make_request(base.make_spec(PINNED, sizes={'vcpus': 4}))

    def test_a_guest_that_moves_away(self):
        """Its CPUs are free. An equal guest that comes keeps its own."""
        described = profile.load('nfv').behaviour('a').numa
        leaving, coming = self.request(), self.request()
        held = fitting.fit(fitting.rooms(described), leaving.guest, fitting.Ratios())
        (uuid,) = leaving.instance_uuids
        host = base.make_host(
            numa={'host': described.to_dict(), 'guests': {uuid: [held.to_dict()]}},
            vcpus_used=4,
            num_instances=1,
        )
        found = tracked_hosts.TrackedHosts(
            self.conf, cells.Cells(self.conf, None), [host], hosts.Aggregates()
        )

        def free():
            state = found.snapshot.hosts[host.uuid]
            return state.num_instances, sum(len(room.free) for room in state.rooms().nodes)

        every = sum(
            len(node.dedicated) for node in topology.Host.from_dict(host.numa['host']).nodes
        )
        self.assertEqual((1, every - 4), free())
        found.place(coming.instance_uuids[0], host, coming, OFFER)
        self.assertEqual((2, every - 8), free())
        found.take(found.snapshot.hosts[host.uuid], leaving)
        self.assertEqual((1, every - 4), free())
        found.withdraw(coming.instance_uuids[0])
        self.assertEqual((0, every), free())
