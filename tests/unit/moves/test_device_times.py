"""Changes of ports and volumes do not change when a server was updated, as in nova."""

import datetime

import testscenarios

from nova_lite import runtime
from nova_lite.db.cell import instances
from nova_lite.moves import duties
from tests.unit.moves import test_device_sagas


class TimesTest(testscenarios.WithScenarios, test_device_sagas.DeviceSagasCase):
    scenarios = [
        (name.replace('_', ' '), {'name': name})
        for name in (
            'attach_interface',
            'attach_port',
            'detach_interface',
            'attach_volume',
            'detach_volume',
            'swap_volume',
        )
    ]

    def age(self):
        before = runtime.naive_now().replace(microsecond=0) - datetime.timedelta(hours=1)
        self.cell.db.write(instances.force, self.server, {'updated_at': before})
        return before

    def test_done(self):
        start, before, made = self.picture(), self.age(), getattr(self, self.name)()
        self.do(made, made.steps())
        self.assertNotEqual(start, self.picture())
        self.assertEqual(before, self.cell.row(self.server).updated_at)

    def test_undone(self):
        start, before, made = self.picture(), self.age(), getattr(self, self.name)()
        steps = made.steps()[: self.pivot(made)]
        self.do(made, steps)
        self.undo(made, steps)
        self.assertEqual(start, self.picture())
        self.assertEqual(before, self.cell.row(self.server).updated_at)


class Activating:
    """A network service whose ports are active as soon as their bindings are."""

    def __init__(self, vif):
        self.bindings, self.vif = self, vif

    def are_supported(self, ctxt):
        return True

    def activate(self, ctxt, server_uuid, network_info, host):
        self.vif['active'] = True

    def info(self, ctxt, server_uuid, known):
        return [self.vif]


class ActivatedTest(test_device_sagas.DeviceSagasCase):
    def test_by_a_duty(self):
        before = runtime.naive_now().replace(microsecond=0) - datetime.timedelta(hours=1)
        values = {'network_info': [{**self.vif, 'active': False}], 'updated_at': before}
        self.cell.db.write(instances.force, self.server, values)
        made = self.attach_interface()
        self.world.network = Activating(self.vif)
        duties.activation(made.scope).do()
        row = self.cell.row(self.server)
        self.assertEqual(
            ([{**self.vif, 'active': True}], before), (row.network_info, row.updated_at)
        )
