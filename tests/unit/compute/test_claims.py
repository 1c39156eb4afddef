"""Claims: what a node has promised follows from its guests and from builds under way."""

import dataclasses
import functools

import fixtures
import testtools

from nova_lite import exception
from nova_lite.compute import claims
from nova_lite.lifecycle import fitting
from nova_lite.lifecycle.guests import constraints
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.lifecycle.guests import port_requests
from nova_lite.objects import guest_numa
from nova_lite.virt import model
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import driver as sim_driver
from nova_lite.virt.sim import profile

LIMITS = {'VCPU': 4, 'MEMORY_MB': 4096, 'DISK_GB': 10}
SMALL = {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 0}
NOTHING = {'VCPU': 0, 'MEMORY_MB': 0, 'DISK_GB': 0}
TWO_DEVICES = """
hosts: [{pci: [{vendor_id: '10de', product_id: '2330'}, {vendor_id: '8086', product_id: '1111'}]}]
"""
TWO_PORTS = """
extends: instant
hosts: [{pci: [{vendor_id: '15b3', product_id: '1017', count: 2, physical_network: l}]}]
"""
SLOW_PORTS = TWO_PORTS.replace('[{pci', '[{delays: {attach_interface: 60}, pci')
BIG = {'VCPU': 4, 'MEMORY_MB': 512, 'DISK_GB': 0}


def _driver(test, behaviour):
    """Return the driver of a node without guests, which is closed when the test ends."""
    path = f'{test.useFixture(fixtures.TempDir()).path}/guests.sqlite'
    driver = sim_driver.SimDriver(path, ['node'], behaviour)
    test.addCleanup(driver.close)
    return driver


class TestClaims(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.driver = _driver(self, 'instant')
        self.claims = claims.Claims(self.driver)

    def spawn(self, uuid):
        spec = model.GuestSpec(uuid, uuid, 'small', vcpus=1, memory_mb=512, disk_gb=0)
        self.driver.spawn('node', spec, key='key')

    def test_reads_guests(self):
        self.spawn('one')
        self.assertEqual(SMALL, self.claims.used('node'))

    def test_adds_up_to_the_limit(self):
        for name in 'abcd':
            self.claims.claim('node', name, SMALL, LIMITS)
        error = self.assertRaises(
            exception.NoCapacity, self.claims.claim, 'node', 'e', SMALL, LIMITS
        )
        self.assertIn('VCPU', error.message)
        self.assertTrue(error.reschedule)
        self.claims.release('node', 'a')
        self.claims.claim('node', 'e', SMALL, LIMITS)

    def test_repeated_claim_counts_once(self):
        self.claims.claim('node', 'a', BIG, LIMITS)
        self.claims.claim('node', 'a', BIG, LIMITS)
        self.assertEqual(BIG, self.claims.used('node'))

    def test_nothing_is_always_to_be_had(self):
        full = {**LIMITS, 'DISK_GB': -1}
        self.claims.claim('node', 'a', SMALL, full)

    def test_refresh_forgets_what_is_gone(self):
        self.spawn('there')
        self.claims.claim('node', 'building', SMALL, LIMITS)
        self.claims.claim('node', 'gone', SMALL, LIMITS)
        before = self.claims.held('node')
        self.claims.refresh('node', self.driver.list_guests('node'), {'building'}, before)
        self.assertEqual(2, self.claims.used('node')['VCPU'])

    def test_refresh_keeps_what_was_promised_since(self):
        self.claims.claim('node', 'arriving', SMALL, LIMITS)
        before = self.claims.held('node')
        guests = self.driver.list_guests('node')
        self.claims.claim('node', 'new', SMALL, LIMITS)
        self.claims.claim('node', 'arriving', dict(SMALL), LIMITS)
        self.claims.refresh('node', guests, set(), before)
        self.assertEqual({'new', 'arriving'}, set(self.claims.held('node')))

    def test_only_an_old_promise_is_released(self):
        self.claims.claim('node', 'old', SMALL, LIMITS)
        self.claims.claim('node', 'anew', SMALL, LIMITS)
        before = self.claims.held('node')
        self.claims.claim('node', 'anew', dict(SMALL), LIMITS)
        for guest in ('old', 'anew', 'nobody'):
            self.claims.release_old('node', guest, before)
        self.assertEqual({'anew'}, set(self.claims.held('node')))

    def test_release_of_the_unknown(self):
        self.claims.release('node', 'nobody')
        self.assertEqual(0, self.claims.used('node')['VCPU'])


class NumaClaimsTest(testtools.TestCase):
    """Claims of CPUs and pages on a host of the profile "nfv"."""

    def setUp(self):
        super().setUp()
        self.driver = _driver(self, profile.parse('extends: nfv'))
        self.noted = []
        self.claims = claims.Claims(self.driver, self.noted.append)
        self.limits = {'VCPU': 100, 'MEMORY_MB': 10**6, 'DISK_GB': 100}

    def ask(self, cpus, **more):
        guest = constraints.Constraints(
            nodes=(guest_numa.Node(tuple(range(cpus)), 1024),),
            dedicated=frozenset(range(cpus)),
            **more,
        )
        return claims.Ask(guest, self.driver.get_topology('node'), fitting.Ratios())

    def claim(self, name, cpus, **more):
        ask = self.ask(cpus, **more)
        self.claims.claim('node', name, NOTHING, self.limits, ask=ask)
        return ask

    def spawn(self, name, ask):
        spec = model.GuestSpec(
            name, name, 'f', vcpus=len(ask.guest.dedicated), memory_mb=1, disk_gb=0
        )
        spec = self.claims.with_nodes('node', spec, ask.guest)
        self.driver.spawn('node', spec, key='key')
        return spec

    def cpus(self, name):
        cells = [
            cell for held in self.claims.numa('node', occupied=True)[name] for cell in held['cells']
        ]
        return sorted(on_host for cell in cells for _guest, on_host in cell['pins'])

    def test_the_last_cpus_have_one_owner(self):
        """Of two guests that ask for the rest of a host, one is refused."""
        for name in 'ab':
            self.claim(name, 28)
        error = self.assertRaises(exception.NoCapacity, self.claim, 'c', 1)
        self.assertTrue(error.reschedule)
        self.assertIn('0 dedicated CPUs are free', error.message)
        self.claims.release('node', 'a')
        self.claim('c', 1)
        self.assertFalse(set(self.cpus('b')) & set(self.cpus('c')))

    def test_a_repeated_claim_keeps_its_cpus(self):
        self.claim('a', 4)
        before, noted = self.cpus('a'), list(self.noted)
        self.claim('a', 4)
        self.assertEqual(before, self.cpus('a'))
        self.assertEqual(noted, self.noted)

    def test_a_resize_on_the_host_holds_both_until_it_is_settled(self):
        spec = self.spawn('a', self.claim('a', 2))
        before = self.cpus('a')
        self.claim('a', 4)
        self.assertEqual(6, len(set(self.cpus('a'))))
        # A reboot of the guest that is there does not give it the CPUs of the other one.
        without = dataclasses.replace(spec, numa=None)
        self.assertEqual(spec, self.claims.keep_nodes('node', without))
        self.claims.settle('node', 'a')
        self.assertEqual(before, self.cpus('a'))

    def test_they_are_read_from_the_driver(self):
        spec = self.spawn('a', self.claim('a', 4, page_size=2048))
        again = claims.Claims(self.driver)
        self.assertEqual({}, again.numa('node', occupied=False))
        self.assertEqual(self.claims.numa('node', occupied=True), again.numa('node', occupied=True))
        self.assertEqual(0, again.used('node')['VCPU'])
        self.assertEqual(spec, again.keep_nodes('node', dataclasses.replace(spec, numa=None)))

    def test_a_restart_while_a_live_migration_is_prepared(self):
        """The destination shows the guest as soon as its preparation has begun."""
        slow = 'extends: nfv\nhosts: [{delays: {pre_live_migration: 60}}]'
        self.driver = _driver(self, profile.parse(slow))
        self.claims = claims.Claims(self.driver)
        ask = self.claim('a', 4)
        spec = model.GuestSpec('a', 'a', 'f', vcpus=4, memory_mb=1, disk_gb=0)
        spec = self.claims.with_nodes('node', spec, ask.guest)
        self.driver.pre_live_migration('node', spec, 'move', key='key')
        cpus = self.cpus('a')
        self.claims = claims.Claims(self.driver)
        self.claim('b', 4)
        self.assertFalse(set(cpus) & set(self.cpus('b')))
        self.claim('a', 4)
        self.assertEqual(cpus, self.cpus('a'))

    def test_changes_are_noted(self):
        self.spawn('a', self.claim('a', 4))
        self.assertEqual(['node'], self.noted)
        self.claims.settle('node', 'a')
        self.claims.refresh('node', self.driver.list_guests('node'), (), self.claims.held('node'))
        self.assertEqual(['node'], self.noted)
        self.claims.claim('node', 'b', SMALL, self.limits)
        self.claims.release('node', 'b')
        self.assertEqual(['node'], self.noted)
        self.claims.refresh('node', [], (), self.claims.held('node'))
        self.assertEqual(['node'] * 2, self.noted)


class DeviceClaimsTest(testtools.TestCase):
    def test_another_definition_of_an_alias(self):
        """A resize in place gets other devices, though its alias has the same name."""
        driver = _driver(self, profile.parse(TWO_DEVICES))
        made = claims.Claims(driver)
        host = topology.Host((), driver.get_devices('node'))
        spec = _spec('a')
        found = []
        for vendor_id, product_id in (('10de', '2330'), ('8086', '1111')):
            specs = (guest_pci.Spec(vendor_id, product_id),)
            wanted = constraints.Constraints(devices=(guest_pci.Request('gpu', 1, specs),))
            ask = claims.Ask(wanted, host, fitting.Ratios())
            made.claim('node', 'a', NOTHING, LIMITS, ask=ask)
            found.append(made.with_nodes('node', spec, wanted).numa.devices)
        first, second = (device.address for device in host.devices)
        self.assertEqual([(('gpu', first),), (('gpu', second),)], found)

    def test_custom_classes(self):
        """A custom class of a flavor need not be that of virtual GPUs."""
        driver = _driver(self, 'instant')
        made = claims.Claims(driver)
        plain = {'kind': pci.MDEV, 'resource_class': 'CUSTOM_A'}
        request = guest_pci.Request('CUSTOM_A', 1, (guest_pci.Spec.of(plain),))
        guest = constraints.Constraints(devices=(request,))
        device = pci.Device(
            '0000:20:00.0/a/0', '10de', '25b6', pci.MDEV, parent='0000:20:00.0',
            resource_class='CUSTOM_A',
        )  # fmt: skip
        other = dataclasses.replace(device, resource_class='VGPU')
        for owner, devices, expected in (
            ('a', (), None), ('b', (other,), None), ('c', (device,), device.address)
        ):  # fmt: skip
            ask = claims.Ask(guest, topology.Host((), devices), fitting.Ratios())
            made.claim('node', owner, NOTHING, LIMITS, ask=ask)
            numa = made.with_nodes('node', _spec(owner), guest).numa
            held = numa and numa.devices[0][1]
            self.assertEqual(expected, held)
        for classes in ((device,), ()):
            ask = claims.Ask(
                constraints.Constraints(devices=(dataclasses.replace(request, name='VGPU'),)),
                topology.Host((), classes),
                fitting.Ratios(),
            )
            self.assertRaises(
                exception.NoCapacity, made.claim, 'node', 'd', NOTHING, LIMITS, ask=ask
            )

    def test_ports(self):
        """Each port is a device, which it keeps until it is unplugged."""
        driver = _driver(self, profile.parse(TWO_PORTS))
        noted = []
        made = claims.Claims(driver, noted.append)
        host = topology.Host((), driver.get_devices('node'))
        first, second = (device.address for device in host.devices)

        ask = functools.partial(_ask_for, host)
        for _again in range(2):
            made.claim('node', 'a', NOTHING, LIMITS, ask=ask('p'))
            self.assertEqual({'p': first}, made.port_devices('node', 'a'))
        for _again in range(2):
            self.assertEqual(second, made.claim_port('node', 'a', ask('q')))
        self.assertRaises(exception.NoCapacity, made.claim_port, 'node', 'a', ask('r'))
        self.assertRaises(exception.GuestNotFound, made.claim_port, 'node', 'b', ask('r'))
        both = {'p': first, 'q': second}
        ports = [model.Device(model.DeviceKind.INTERFACE, port) for port in ('p', 'q', 'r')]
        spec = made.with_ports('node', _spec('a', devices=tuple(ports)))
        self.assertEqual(both, dict(spec.port_devices))
        driver.spawn('node', dataclasses.replace(spec, devices=spec.devices[:1]), key='key')
        # The guest does not have the port yet that is being plugged into it.
        made.refresh('node', driver.list_guests('node'), (), made.held('node'))
        self.assertEqual(both, made.port_devices('node', 'a'))
        made.settle_port('node', 'a', 'q')
        self.assertEqual({'p': first}, made.port_devices('node', 'a'))
        self.assertEqual(['node'] * 3, noted)

    def test_port_that_was_plugged_after_the_guests_were_listed(self):
        """The list does not have its device, which no other guest may get."""
        driver = _driver(self, profile.parse(TWO_PORTS))
        made = claims.Claims(driver)
        host = topology.Host((), driver.get_devices('node'))
        driver.spawn('node', _spec('a'), key='key')
        address = made.claim_port('node', 'a', _ask_for(host, 'p'))
        before, listed = made.held('node'), driver.list_guests('node')
        port = model.Device(model.DeviceKind.INTERFACE, 'p', {model.PCI_ADDRESS: address})
        driver.attach('node', 'a', port, key='plug')
        made.settle_port('node', 'a', 'p')
        made.refresh('node', listed, (), before)
        self.assertEqual({'p': address}, made.port_devices('node', 'a'))

    def test_port_that_is_being_plugged_at_a_restart(self):
        """No other guest gets its device, and the repeated call finds it."""
        driver = _driver(self, profile.parse(SLOW_PORTS))
        host = topology.Host((), driver.get_devices('node'))
        for guest in ('a', 'b'):
            driver.spawn('node', _spec(guest), key=guest)
        address = claims.Claims(driver).claim_port('node', 'a', _ask_for(host, 'p'))
        port = model.Device(model.DeviceKind.INTERFACE, 'p', {model.PCI_ADDRESS: address})
        job = driver.attach('node', 'a', port, key='plug')
        self.assertEqual(model.JobState.RUNNING, job.state)
        made = claims.Claims(driver)
        self.assertNotEqual(address, made.claim_port('node', 'b', _ask_for(host, 'q')))
        self.assertEqual(address, made.claim_port('node', 'a', _ask_for(host, 'p')))


def _spec(name, **more):
    return model.GuestSpec(name, name, 'f', vcpus=1, memory_mb=1, disk_gb=0, **more)


def _ask_for(host, port):
    device = {'physical_network': 'l', 'trusted': False, 'numa_policy': None}
    wanted = {'id': port, 'vnic_type': 'direct', 'device': device}
    guest = constraints.Constraints(ports=port_requests.requests([wanted]))
    return claims.Ask(guest, host, fitting.Ratios())
