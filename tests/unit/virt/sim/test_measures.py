"""CPU time of nodes and counters of volumes: they agree with diagnostics of the guests."""

import os

from nova_lite.virt import model
from nova_lite.virt.sim import hostpower
from tests.unit.virt.sim import base

# A node has two CPUs. Guests use half of their CPUs for a minute, and then all of them.
PROFILE = """
extends: instant
hosts: [{capacity: {vcpus: 2, memory_mb: 8192, disk_gb: 100}}]
guests: [{match: {}, usage: {cpu: {steps: [[0, 0.5], [60, 1.0]]}, write_bytes_s: 4096}}]
"""
OTHER = '6d7a2c1e-0000-4000-8000-000000000002'
NS = 10**9


class CpuTimeTests(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.made = self.hosts(PROFILE)

    def spawn(self, uuid=base.GUEST, **values):
        self.assertDone(self.made.spawn('n1', base.guest_spec(uuid, **values), key=f'k/{uuid}'))

    def seconds(self, node='n1'):
        found = self.made.get_host_cpu_stats(node)
        self.assertEqual((0, 0), (found.kernel_ns, found.iowait_ns))
        return round(found.user_ns / NS, 3), round(found.idle_ns / NS, 3)

    def test_it_is_that_of_the_guests(self):
        self.clock.advance(10)
        self.spawn()
        self.clock.advance(40)
        self.assertEqual((20.0, 80.0), self.seconds())
        self.assertEqual((0.0, 100.0), self.seconds('n2'))
        self.clock.advance(40)
        (cpu,) = self.made.get_diagnostics('n1', base.GUEST)['cpu_details']
        self.assertEqual((cpu['time'] / NS, 180.0 - cpu['time'] / NS), self.seconds())

    def test_it_never_decreases(self):
        self.spawn()
        self.clock.advance(20)
        self.assertEqual((10.0, 30.0), self.seconds())
        self.assertDone(self.made.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o'))
        self.clock.advance(20)
        self.assertEqual((10.0, 70.0), self.seconds())
        self.made.destroy('n1', base.GUEST, key='d')
        again = self.hosts(PROFILE)
        self.assertEqual(70.0, again.get_host_cpu_stats('n1').idle_ns / NS)

    def test_guests_share_the_cpus_of_the_node(self):
        for uuid in (base.GUEST, OTHER):
            self.spawn(uuid, vcpus=4)
        self.clock.advance(30)
        self.assertEqual((60.0, 0.0), self.seconds())

    def test_a_boot_of_the_node_begins_at_zero(self):
        self.spawn()
        self.clock.advance(30)
        self.assertEqual((15.0, 45.0), self.seconds())
        path = os.path.join(self.folder, 'a.sqlite')
        hostpower.power_off(path, 'n1')
        hostpower.power_on(path, 'n1')
        self.clock.advance(5)
        self.assertEqual((0.0, 10.0), self.seconds())


class VolumeTests(base.SimTestCase):
    def test_counters_are_those_of_diagnostics(self):
        made = self.hosts(PROFILE)
        made.spawn('n1', base.guest_spec(), key='k')
        made.spawn('n1', base.guest_spec(OTHER, devices=(base.VOLUME,)), key='k')
        self.clock.advance(100)
        made.attach('n1', base.GUEST, base.VOLUME, key='a')
        self.clock.advance(7)
        found = {each.guest: each for each in made.list_volume_usage('n1')}
        self.assertEqual({base.GUEST, OTHER}, {*found})
        for uuid, seconds in ((base.GUEST, 7), (OTHER, 107)):
            usage, disk = found[uuid], made.get_diagnostics('n1', uuid)['disk_details'][-1]
            self.assertEqual('volume-1', usage.volume_id)
            self.assertAlmostEqual(seconds, usage.at - usage.since)
            self.assertEqual(
                (disk['read_requests'], disk['read_bytes']), (usage.reads, usage.read_bytes)
            )
            self.assertEqual((seconds, seconds * 4096), (usage.writes, usage.write_bytes))
        self.assertEqual([found[OTHER]], made.list_volume_usage('n1', OTHER))
        self.assertEqual([], made.list_volume_usage('n2'))

    def test_a_guest_that_is_off_has_none(self):
        made = self.hosts(PROFILE)
        made.spawn('n1', base.guest_spec(devices=(base.VOLUME,)), key='k')
        made.change_power('n1', base.GUEST, model.PowerAction.OFF, key='o')
        self.assertEqual([], made.list_volume_usage('n1', base.GUEST))
