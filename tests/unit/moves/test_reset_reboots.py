"""Hard reboots that attach a root disk again after an administrator has reset a server's state.

The reboot and the step of a move that reserves the volumes run at the same time. At the end the
server has one attachment of each volume, which its record names.
"""

import testtools

from nova_lite import exception
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.moves import rebuild
from nova_lite.moves import steps
from nova_lite.states import transitions
from tests.unit.moves import moves_base
from tests.unit.moves import test_lost_attachments

REBUILD = {'image': None, 'former': {}, 'reimage': None}


class ResetCase(test_lost_attachments.RootCase):
    def setUp(self):
        super().setUp()
        self.take()

    def reset(self):
        self.cell.db.write(instances.force, self.server, {'task_state': None})

    def reboot(self):
        ctxt = self.cell.ask(self.server, 'reboot', 'rebooting_hard')
        instance = self.cell.instance(self.server)
        self.cell.compute.reboot_instance(ctxt, moves_base.SOURCE, instance, 'HARD')

    def meanwhile(self, method, act, *, after):
        """Do something once, before or after the next request of a kind to Cinder."""
        effect = getattr(self.cell.volume, method)

        def call(*args, **kwargs):
            setattr(self.cell.volume, method, effect)
            if not after:
                act()
            found = effect(*args, **kwargs)
            if after:
                act()
            return found

        setattr(self.cell.volume, method, call)

    def own(self):
        """Return the ids of the attachments of the root disk in Cinder."""
        listed = self.cell.volume.list_attachments(None, self.server)
        return [each['id'] for each in listed if each['volume_id'] == self.lost.volume_id]


class MovesTest(ResetCase):
    """A resize reserves the volumes of a server whose state was reset, and which is rebooted."""

    def reserving(self):
        made = self.resize()
        self.do(made, moves_base.until(made, steps.RESERVE))
        self.reset()
        return made, moves_base.since(made, steps.RESERVE)[0]

    def test_recorded_before_the_list(self):
        """The step may have read the block devices before, but not the attachments."""
        made, step = self.reserving()
        self.meanwhile('list_attachments', self.reboot, after=False)
        self.do(made, [step])
        self.assertIn(self.root().attachment_id, self.own())

    def test_not_recorded_yet(self):
        """The move fails, and leaves the attachment to the reboot."""
        made, step = self.reserving()
        refused = testtools.ExpectedException(exception.StateChanged)

        def reserve():
            with refused:
                step.do()

        self.meanwhile('create_attachment', reserve, after=True)
        self.reboot()
        self.check_attached()
        self.undo(made, moves_base.through(made, steps.RESERVE))
        self.check_attached()

    def test_undo_leaves_it(self):
        made, step = self.reserving()
        self.do(made, [step])
        self.take()
        refused = testtools.ExpectedException(exception.StateChanged)

        def undo():
            with refused:
                step.undo()

        self.meanwhile('create_attachment', undo, after=True)
        self.reboot()
        self.check_attached()


class RebootTest(ResetCase):
    """The reboot leaves no attachment that the record does not name."""

    def test_reset_before_it_was_recorded(self):
        self.meanwhile('create_attachment', self.reset, after=True)
        self.reboot()
        self.assertEqual([], self.own())

    def test_reset_after_it_was_recorded(self):
        """The reply to the record is lost, and the host repeats the message after the reset."""
        record = self.cell.conductor.update_block_devices
        replies = []

        def lose(*args, **kwargs):
            replies.append(record(*args, **kwargs))
            if len(replies) == 1:
                self.reset()
                raise exception.Unavailable(service='conductor', reason='test')
            return replies[-1]

        lose.__name__ = 'update_block_devices'
        self.cell.conductor.update_block_devices = lose
        self.reboot()
        self.cell.run_dry()
        self.assertEqual([True, True], replies)
        self.assertEqual([self.root().attachment_id], self.own())

    def test_node_cannot_connect(self):
        self.cell.driver.can_connect_volume = lambda node, info: False
        self.reboot()
        self.assertEqual([], self.own())
        fault = self.cell.db.read(instances.faults, [self.server])
        self.assertIn('cannot connect', str(fault))

    def test_node_cannot_connect_a_recorded_attachment(self):
        """It stays: the record names it."""
        self.reboot()
        named = self.root()
        self.cell.driver.can_connect_volume = lambda node, info: False
        self.cell.db.write(children.update_block_device, named.uuid, {'connection_info': None})
        self.reboot()
        self.assertEqual([named.attachment_id], self.own())

    def test_attachment_of_a_move_that_has_the_server_now(self):
        """The host was frozen between the record of the server and the list of attachments."""

        def evacuate():
            self.reset()
            self.make(rebuild.Rebuild, transitions.REBUILD, 'rebuild', **REBUILD)
            connector = {'host': moves_base.DEST}
            self.cell.volume.create_attachment(
                None, self.lost.volume_id, self.server, connector=connector
            )

        self.meanwhile('list_attachments', evacuate, after=False)
        self.reboot()
        (own,) = self.own()
        self.assertEqual(moves_base.DEST, self.cell.volume.attachments[own]['host'])
