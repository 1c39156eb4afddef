"""Servers move while the computes are still of the release before."""

import testtools

from nova_lite import versions
from nova_lite.objects import block_device
from nova_lite.objects import instance
from nova_lite.rpc.methods import compute
from tests.fixtures import cloud as cloud_fixture
from tests.fixtures import live_moving
from tests.fixtures import releases
from tests.fixtures import scenarios
from tests.sim.cases import loading

load_tests = loading.load_tests

# In this order each begins where the one before has ended.
MOVES = (
    'migrate',
    'revert-resize',
    'resize',
    'confirm-resize',
    'live-migration',
    'shelve',
    'shelve-offload',
    'unshelve',
    'evacuation',
)
CLASSES = (instance.Instance, block_device.BlockDevice)


class UpgradeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.arrived = set()
        self.useFixture(releases.Releases(*(each.__name__ for each in CLASSES)))
        for each in CLASSES:
            self.patch(each, 'VERSION', '1.1')
            self.patch(each, '_obj_from_primitive', self.noting(each._obj_from_primitive))
        self.patch(versions, 'STOPPED_EVACUATION_SINCE', 2)
        self.cloud = self.useFixture(
            cloud_fixture.Cloud(cells=1, hosts=3, options={'DEFAULT': {'shelved_offload_time': -1}})
        )
        self.stage = live_moving.LiveMoving(self.cloud)

    def noting(self, read):
        """`read`, which makes an object of what has come; its version is noted."""

        def note(ctxt, version, primitive):
            self.arrived.add(version)
            return read(ctxt, version, primitive)

        return note

    def test_every_move(self):
        server = self.stage.boot_full()
        for name in MOVES:
            scenario = scenarios.SCENARIOS[name]
            scenario.prepare(self.stage, server)
            self.stage.wait_idle(server)
            if name == 'evacuation':
                answer = self.stage.act(server, 'evacuate', {}, status=400, version='2.95')
                self.assertIn('a compute service is older than version 2', answer.text)
            scenario.ask(self.stage, server)
            self.stage.wait_idle(server)
            self.cloud.wait(server, scenario.done)
            self.assertEqual('done', self.stage.saga(server).state, name)
            scenario.recover(self.stage)
        self.assertEqual({'1.0'}, self.arrived)
        self.check_newer_method(server)
        self.assertEqual([], self.cloud.findings())

    def check_newer_method(self, server):
        """An operation that needs a method of newer computes only is refused at once."""
        before = self.stage.saga(server).uuid
        self.patch(compute.ComputeAPI.methods['prep_resize'], 'rpc_since', '1.1')
        answer = self.stage.act(server, 'migrate', status=409)
        self.assertIn('does not support RPC version 1.1, which prep_resize requires', answer.text)
        self.assertEqual(before, self.stage.saga(server).uuid)
        self.assertEqual('ACTIVE', self.cloud.admin.compute.get_server(server.id).status)
