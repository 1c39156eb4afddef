"""A port that is attached late, when its server has been deleted."""

import testscenarios

from nova_lite import exception
from nova_lite.db.cell import instances
from nova_lite.moves import attach_interface
from tests.unit.moves import test_device_sagas


class LatePortTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    """The server is deleted, and its ports with it, before a port is attached to it."""

    scenarios = (('made', {'given': False}), ('given', {'given': True}))

    def test_is_released_again(self):
        self.check()

    def test_is_released_again_if_the_reply_is_lost(self):
        lost = exception.Unavailable(service='Neutron', reason='no reply')
        self.world.network.fail('attach', lost, times=1, after=True)
        self.check()

    def check(self):
        made = self.attach_port() if self.given else self.attach_interface()
        attach, kept = self.world.network.attach, {self.port: None}

        def late(ctxt, row, request, **options):
            self.world.network.deallocate(ctxt, row.uuid, row.network_info)
            self.cell.db.write(instances.mark_deleted, self.server)
            return attach(ctxt, row, request, **options)

        steps = made.steps()
        at = [step.id for step in steps].index(attach_interface.BIND)
        self.do(made, steps[:at])
        self.world.network.attach = late
        self.assertRaises(exception.InstanceNotFound, steps[at].do)
        found = {port: each['server'] for port, each in self.world.network.ports.items()}
        self.assertEqual(kept, found)
