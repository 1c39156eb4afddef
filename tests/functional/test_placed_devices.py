"""PCI devices in placement: of servers that were there before, and through resizes."""

import json
import typing

from nova_lite import context
from tests.functional import test_pci
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests


class OneHostCase(test_pci.PlacementCase):
    """A host with three GPUs, whose servers may be resized on it."""

    DEFAULT: typing.ClassVar = {'allow_resize_to_same_host': True}

    def flavor(self, name, text, **specs):
        """Create a flavor that also asks for a virtual GPU, which placement always chooses."""
        made = super().flavor(name, text, **specs)
        found = self.cloud.flavor_id(made)
        self.cloud.admin.compute.create_flavor_extra_specs(found, {'resources:VGPU': '1'})
        return made

    def shown(self, parts):
        """The addresses of the devices except virtual GPUs, of which each part has one."""
        found = super().shown(parts)
        virtual = {address for address in found if '/' in address}
        self.assertEqual(len(parts), len(virtual))
        return [address for address in found if address not in virtual]

    def resizes(self):
        """A server holds the devices of both flavors until its resize ends, as in nova."""
        self.flavor('same', 'gpu:1', cpu_policy='shared')
        server = self.cloud.boot(flavor='gpu')
        host, before = self.has(server, 1)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.resize(server, 'same')
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual(2, len(self.held(host)[server.id]))
            migration = self.moving.migration(server)['uuid']
            for consumer in (server.id, migration):
                self.assertEqual({host: 1}, self.allocated(consumer))
            self.assertEqual([], self.cloud.findings())
            self.end_resize(server, action, status)
            kept = self.has(server, 1) == (host, before)
            self.assertEqual(status == 202, kept)
        for name in ('a', 'b'):
            self.has(self.cloud.boot(name, flavor='gpu'), 1)


@sample.in_turns(2)
class SameHostTest(OneHostCase):
    settings = {
        **test_pci.PlacementCase.settings,
        'hosts': 1,
        'options': {**test_pci.PlacementCase.settings['options'], 'DEFAULT': OneHostCase.DEFAULT},
    }

    def test_resizes(self):
        self.resizes()


@sample.in_turns(2, first=1)
class HealedSameHostTest(OneHostCase):
    settings = {
        **SameHostTest.settings,
        'options': {**test_pci.HealingTest.settings['options'], 'DEFAULT': OneHostCase.DEFAULT},
    }

    def test_resizes(self):
        self.resizes()


@sample.in_turns(2)
class SwitchedOnTest(test_pci.PlacementCase):
    """Placement learns of the devices when servers hold some already."""

    settings = {
        **test_pci.PlacementCase.settings,
        'hosts': 1,
        'options': {
            'pci': {
                'alias': json.dumps({'name': 'gpu', 'vendor_id': '10de', 'product_id': '2330'}),
                'device_spec': json.dumps({'vendor_id': '10de', 'resource_class': 'gpu'}),
            },
            'filter_scheduler': test_pci.FILTERS,
        },
    }

    def test_servers_get_their_allocations(self):
        server = self.cloud.boot(flavor='gpu')
        self.assertEqual({}, self.allocated(server.id))
        self.cloud.restart(pci={'report_in_placement': True})
        self.has(server, 1)
        self.has(self.cloud.boot('two', flavor='two'), 2)


@sample.in_turns(2, first=1)
class CrossCellTest(test_pci.PlacementCase):
    settings = {**test_pci.PlacementCase.settings, 'cells': 2, 'hosts': 1}

    def test_resizes(self):
        server = self.cloud.boot(flavor='gpu', availability_zone='nova:cell1-host1')
        self.has(server, 1)
        for action, status in (('revertResize', 202), ('confirmResize', 204)):
            self.moving.resize(server, 'two')
            self.cloud.wait(server, 'VERIFY_RESIZE')
            self.assertEqual({'cell2-host1': 2}, self.allocated(server.id))
            migration = self.moving.migration(server)['uuid']
            self.assertEqual({'cell1-host1': 1}, self.allocated(migration))
            self.end_resize(server, action, status)
            self.has(server, 1 if status == 202 else 2)


@sample.in_turns(2)
class OneTimeUseTest(test_pci.PlacementCase):
    """No other server gets a device that a server has had, until an operator releases it."""

    settings = {
        **test_pci.PlacementCase.settings,
        'hosts': 1,
        'options': {
            'pci': {
                **test_pci.PLACED,
                'alias': json.dumps({'name': 'gpu', 'resource_class': 'GPU'}),
                'device_spec': json.dumps(
                    {'vendor_id': '10de', 'resource_class': 'gpu', 'one_time_use': 'yes'}
                ),
            },
            'filter_scheduler': {**test_pci.FILTERS, 'pci_in_placement': True},
            'DEFAULT': OneHostCase.DEFAULT,
        },
    }

    def test_devices_stay_reserved(self):
        server = self.cloud.boot(flavor='gpu')
        self.has(server, 1)
        # The move of its allocation and the restart keep the device.
        self.flavor('same', 'gpu:1', cpu_policy='shared')
        self.moving.resize(server, 'same')
        self.cloud.wait(server, 'VERIFY_RESIZE')
        self.end_resize(server, 'revertResize', 202)
        self.has(server, 1)
        self.cloud.admin.compute.delete_server(server)
        self.cloud.wait_gone(server)
        self.cloud.restart()
        self.cloud.boot('two', flavor='two', status='ERROR')
        self.has(self.cloud.boot('one', flavor='gpu'), 1)
        self.cloud.boot('more', flavor='gpu', status='ERROR')
        self.release()
        self.has(self.cloud.boot('again', flavor='gpu'), 1)

    def release(self):
        """Release the devices that no server has, as an operator."""
        providers = self.moving.world.placement.providers
        for each in providers.list(context.admin()):
            inventories, _generation = providers.inventories(context.admin(), each.uuid)
            found = inventories.get('CUSTOM_GPU')
            if found is not None:
                self.assertEqual(1, found['reserved'])
                inventories = {'CUSTOM_GPU': {**found, 'reserved': 0}}
                providers.set_inventories(context.admin(), each.uuid, inventories)
