"""Root disks that a host has attached again, and was killed before it recorded that.

The reboot is not repeated: an administrator has reset the state of the server. Whatever the server
does then, it has one attachment of each volume at the end.
"""

import testscenarios

from nova_lite import saga
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.moves import evacuate
from nova_lite.moves import rebuild
from nova_lite.states import transitions
from tests.unit.moves import moves_base
from tests.unit.moves import test_lost_attachments

EVACUATION = {'forced': False, 'leave_stopped': False, 'host': moves_base.DEST}
REBUILD = {'image': None, 'former': {}, 'reimage': None}


class Killed(BaseException):
    """The compute ends here."""


class ForgottenTest(testscenarios.WithScenarios, test_lost_attachments.RootCase):
    """name: of the method that begins the operation"""

    scenarios = [
        (name, {'name': name}) for name in ('resize', 'evacuation', 'rebuild', 'hard_reboot')
    ]

    def setUp(self):
        super().setUp()
        self.take()
        self.kill_in('create_attachment')
        self.cell.db.write(instances.force, self.server, {'task_state': None})

    def kill_in(self, method):
        """Reboot the server; the host is killed when Cinder has answered a request."""
        effect = getattr(self.cell.volume, method)

        def kill(*args, **kwargs):
            effect(*args, **kwargs)
            raise Killed()

        setattr(self.cell.volume, method, kill)
        self.assertRaises(Killed, self.reboot)
        setattr(self.cell.volume, method, effect)
        self.cell.kill()

    def reboot(self):
        ctxt = self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        instance = self.cell.instance(self.server)
        self.cell.compute.reboot_instance(ctxt, moves_base.SOURCE, instance, 'HARD')

    def evacuation(self):
        made = self.make(evacuate.Evacuation, transitions.EVACUATE, 'evacuate', **EVACUATION)
        values = {'migration_type': 'evacuation', 'status': 'accepted', 'uuid': made.uuid}
        values |= {'source_compute': moves_base.SOURCE, 'source_node': moves_base.SOURCE}
        self.cell.db.write(migrations.create, {**values, 'instance_uuid': self.server})
        return made

    def rebuild(self):
        return self.make(rebuild.Rebuild, transitions.REBUILD, 'rebuild', **REBUILD)

    def play(self, made):
        for step in made.steps():
            while isinstance(result := step.do(), saga.Pending):
                pass
            if result is not None and not isinstance(result, saga.Skipped):
                made.results.keep(step.id, result)

    def test_one_attachment_of_each_volume(self):
        if self.name == 'hard_reboot':
            self.reboot()
        else:
            self.play(getattr(self, self.name)())
        named = {each.attachment_id for each in self.cell.devices(self.server)}
        listed = self.cell.volume.list_attachments(None, self.server)
        self.assertEqual(2, len(named))
        self.assertEqual(named, {each['id'] for each in listed})
