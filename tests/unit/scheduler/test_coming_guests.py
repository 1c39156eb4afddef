"""Guests with several devices that hosts do not report yet: as many get a host as have room."""

import functools
import itertools

import yaml

from nova_lite import runtime
from nova_lite.lifecycle.guests import pci as guest_pci
from nova_lite.scheduler import candidates
from nova_lite.scheduler import hosts
from nova_lite.scheduler import manager
from nova_lite.scheduler import select
from nova_lite.virt import pci
from nova_lite.virt import topology
from nova_lite.virt.sim import profile
from tests.unit.scheduler import base

CASES = 40
CLASS = 'CUSTOM_PCI_10DE_2330'
ALIASES = guest_pci.aliases(['{"name": "gpu", "vendor_id": "10de", "product_id": "2330"}'])


def host_of(cpus, devices):
    """Return a host. cpus, devices: numbers of dedicated CPUs and of devices of each node"""
    firsts = [0, *itertools.accumulate(cpus)]
    masks = [f'{first}-{first + count - 1}' for first, count in zip(firsts, cpus, strict=False)]
    listed = [{'cpus': mask, 'memory_mb': 65536} for mask in masks]
    rule = {'numa': {'dedicated': ','.join(masks), 'nodes': listed}}
    numbers = itertools.count(16)
    found = [
        pci.Device(
            f'0000:{next(numbers):02x}:00.0', '10de', '2330', node=node, resource_class=CLASS
        )
        for node, count in enumerate(devices)
        for _device in range(count)
    ]
    nodes = profile.parse(yaml.safe_dump({'hosts': [rule]})).behaviour('a').numa.nodes
    described = topology.Host(nodes, tuple(found))
    return base.make_host(numa={'host': described.to_dict(), 'guests': {}}), found


def most(cpus, devices, each, *, count, policy):
    """Return the largest number of guests, by trying each node for each guest.

    each, count: numbers of CPUs and devices of a guest
    """

    @functools.cache
    def tried(cpus, devices):
        found = 0
        for node in range(len(cpus)):
            near = devices[node] if policy == guest_pci.REQUIRED else sum(devices)
            if cpus[node] < each or near < count:
                continue
            left, after = count, list(devices)
            order = [node] if policy == guest_pci.REQUIRED else range(len(devices))
            for place in order:
                taken = min(left, after[place])
                after[place] -= taken
                left -= taken
            rest = (*cpus[:node], cpus[node] - each, *cpus[node + 1 :])
            found = max(found, 1 + tried(rest, tuple(after)))
        return found

    return tried(cpus, devices)


class ComingGuestsTest(base.SchedulerTestCase):
    def setUp(self):
        super().setUp()
        filters = ['PciPassthroughFilter', 'NUMATopologyFilter']
        self.set('filter_scheduler', enabled_filters=filters)

    def request(self, each, count, policy):
        specs = {
            'hw:cpu_policy': 'dedicated',
            'hw:pci_numa_affinity_policy': policy,
            guest_pci.ALIAS: f'gpu:{count}',
        }
        sizes = {'vcpus': each, 'devices': guest_pci.resolve(specs, ALIASES)}
        return base.make_request(base.make_spec(specs, sizes=sizes), placed_devices=True)

    def offers(self, host, free, request, rng):
        """Return what placement offers: each set of free devices, in any order."""
        own = {'PCPU': request.size.vcpus, 'MEMORY_MB': request.size.memory_mb}
        uuids = [runtime.uuid_of(host.uuid, device.provider) for device in free]
        wanted = [
            {
                'allocations': {
                    host.uuid: {'resources': own},
                    **{uuid: {'resources': {CLASS: 1}} for uuid in chosen},
                },
                'mappings': {},
            }
            for chosen in itertools.combinations(uuids, request.guest.devices[0].count)
        ]
        rng.shuffle(wanted)
        summaries = {
            uuid: {
                'resources': {},
                'traits': [],
                'parent_provider_uuid': None if uuid == host.uuid else host.uuid,
                'root_provider_uuid': host.uuid,
            }
            for uuid in (host.uuid, *uuids)
        }
        return candidates.Candidates(
            {'allocation_requests': wanted, 'provider_summaries': summaries}
        )

    def counted(self, host, devices, request, rng, *, reported):
        """Return the number of guests that get the host, one after the other.

        reported: whether the host reports each guest before the next one is placed
        """
        free, rules = list(devices), manager.rules(self.conf)
        for number in itertools.count():
            outcome = select.select(
                request,
                [host],
                self.offers(host, free, request, rng),
                rules,
                claim=lambda *_: True,
                rng=rng,
            )
            if not outcome.chosen:
                return number
            (choice,) = outcome.chosen.values()
            given = request.given(host.uuid, choice.request)
            taken = choice.request['allocations']
            free = [each for each in free if runtime.uuid_of(host.uuid, each.provider) not in taken]
            if reported:
                held = hosts.Coming(request.guest, given).fit(host.rooms(), host.ratios)
                guests = {**host.numa['guests'], str(number): [held.to_dict()]}
                host = base.make_host(numa={**host.numa, 'guests': guests})
            else:
                host = host.with_server(request.size, {}, request.guest, given=given)

    def test_as_many_as_have_room(self):
        """It does not matter whether the host has reported the guests before."""
        rng = runtime.seeded_random(1)
        for _case in range(CASES):
            nodes = rng.randint(1, 3)
            cpus = tuple(rng.randint(1, 6) for _node in range(nodes))
            devices = tuple(rng.randint(0, 3) for _node in range(nodes))
            each, count = rng.randint(1, 3), rng.randint(1, 3)
            for policy in (guest_pci.REQUIRED, guest_pci.PREFERRED):
                host, found = host_of(cpus, devices)
                request = self.request(each, count, policy)
                wanted = most(cpus, devices, each, count=count, policy=policy)
                for reported in (False, True):
                    number = self.counted(host, found, request, rng, reported=reported)
                    shown = cpus, devices, each, count, policy, reported
                    self.assertEqual(wanted, number, shown)

    def test_a_guest_that_leaves(self):
        """The devices of the others stay as they were allocated."""
        host, found = host_of((4, 4), (2, 2))
        request = self.request(1, 1, guest_pci.REQUIRED)
        last, first = (
            request.given(
                host.uuid,
                {
                    'allocations': {
                        runtime.uuid_of(host.uuid, each.provider): {'resources': {CLASS: 1}}
                    }
                },
            )
            for each in (found[-1], found[0])
        )
        for given in (last, first):
            host = host.with_server(request.size, {}, request.guest, given=given)
        host = host.with_server(request.size, {}, request.guest, given=first, count=-1)
        self.assertEqual(found[:3], list(host.rooms().devices))
        self.assertEqual(3, host.free_devices)
