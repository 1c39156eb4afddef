"""Notifications of the two actions that have the event of a power update."""

from tests.unit.notify import test_watch


class PowerUpdateTest(test_watch.WatchTestCase):
    """One event is that of two actions, whose notifications differ."""

    def test_types_follow_the_action(self):
        uuid = self.cell.boot()
        for action, task, target, told in (
            ('stop', 'powering-off', 'POWER_OFF', 'power_off'),
            ('start', 'powering-on', 'POWER_ON', 'power_on'),
        ):
            self.forget()
            ctxt = self.cell.ask(uuid, action, task)
            instance = self.cell.instance(uuid)
            self.cell.compute.power_update(ctxt, 'host-1', instance, target)
            self.assertEqual(
                [f'instance.{told}.start', f'instance.{told}.end'], self.notifier.types()
            )
