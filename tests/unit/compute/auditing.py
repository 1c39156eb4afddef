"""A process with two hosts that audits its guests."""

import testtools

from nova_lite import runtime
from nova_lite.virt import model
from tests.fixtures import cell
from tests.fixtures import clock


class AuditTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(cell.Cell(hosts=('host-1', 'host-2')))

    def change_power(self, uuid, action):
        self.cell.driver.change_power('host-1', uuid, action, key=runtime.new_uuid())

    def stranger(self, node='host-2', uuid=None):
        uuid = uuid or runtime.new_uuid()
        spec = model.GuestSpec(uuid, 'stranger', 'm1.tiny', vcpus=1, memory_mb=1, disk_gb=1)
        self.cell.driver.spawn(node, spec, key=runtime.new_uuid())
        return uuid

    def power(self, uuid, action, task):
        """Run the whole request of a user, from the API to the end."""
        ctxt = self.cell.ask(uuid, action, task)
        getattr(self.cell.casts, f'{action}_instance')(
            ctxt, 'host-1', instance=self.cell.instance(uuid)
        )

    def start(self, uuid):
        self.power(uuid, 'start', 'powering-on')

    def stop(self, uuid):
        self.power(uuid, 'stop', 'powering-off')
