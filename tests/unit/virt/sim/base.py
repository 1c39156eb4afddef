"""Base classes of the tests of simulated hosts: a clock, files of hosts, guest specs."""

import os

import fixtures
import testtools

from nova_lite.virt import model
from nova_lite.virt.sim import driver
from nova_lite.virt.sim import profile
from tests.fixtures import clock
from tests.fixtures import running_guests

GUEST = '6d7a2c1e-0000-4000-8000-000000000001'
MOVE = '6d7a2c1e-0000-4000-8000-00000000000a'
PORT = model.Device(model.DeviceKind.INTERFACE, 'port-1', {'mac_address': 'fa:16:3e:00:00:01'})
VOLUME = model.Device(
    model.DeviceKind.VOLUME, 'volume-1', {'connection_info': {'driver_volume_type': 'iscsi'}}
)


def guest_spec(uuid=GUEST, **values):
    return model.GuestSpec(
        **{
            'uuid': uuid,
            'name': 'instance-00000001',
            'title': 'web-1',
            'flavor': 'm1.small',
            'vcpus': 1,
            'memory_mb': 2048,
            'disk_gb': 20,
            'image_id': 'image-1',
            'devices': (PORT,),
            **values,
        }
    )


class SimTestCase(testtools.TestCase):
    """Hosts in files of their own, under a clock that the test advances."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.paths = []

    def path(self, name):
        return os.path.join(self.folder, f'{name}.sqlite')

    def hosts(self, text='extends: instant', *, name='a', nodes=('n1', 'n2'), speed=1.0):
        """A driver over the file `name`; the same name opens the same hosts again."""
        path = self.path(name)
        if path not in self.paths:
            self.paths.append(path)
        made = driver.SimDriver(path, nodes, profile.parse(text), speed=speed)
        self.addCleanup(made.close)
        return made

    def running(self):
        """{guest: nodes where it runs}, after checking that none runs twice."""
        found = running_guests.nodes(self.paths)
        for uuid, nodes in found.items():
            self.assertEqual(1, len(nodes), f'{uuid} runs on {nodes}')
        return {uuid: nodes[0] for uuid, nodes in found.items()}

    def assertDone(self, job):
        self.assertEqual((model.JobState.DONE, None), (job.state, job.error))
        self.assertEqual(0, job.ready_in)
        return job.result

    def assertFailed(self, error_class, job):
        self.assertEqual(model.JobState.FAILED, job.state)
        self.assertEqual(error_class, job.error.error_class)
        return job.result
