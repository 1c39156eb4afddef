"""Servers that an undone move may have left running on its destination."""

import datetime

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import services
from tests.unit.api.servers import base

LOST = {'host': 'lost', 'node': 'lost.example'}


class LeftGuestTest(base.Case):
    def setUp(self):
        super().setUp()
        self.cell = self.api.cell('cell1')
        self.api.add_host('lost')
        self.server = self.api.add_server(vm_state='error')
        self.uuid = self.migrated(data={migrations.LEFT: LOST})
        self.answers = self.api.compute['cell1'].answers

    def migrated(self, **columns):
        """A cold migration that was undone; its uuid."""
        values = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'migration_type': 'migration',
            'status': 'error',
            'source_compute': 'host1',
            **columns,
        }
        self.cell.db.write(migrations.create, values)
        return values['uuid']

    def change(self, **columns):
        self.cell.db.write(
            lambda connection: connection.execute(
                services.TABLE.update().where(services.TABLE.c.host == 'lost').values(**columns)
            )
        )

    def is_marked(self):
        return migrations.LEFT in self.cell.db.read(migrations.get, self.uuid).data

    def hard_reboot(self, **options):
        return self.act(self.server, 'reboot', {'type': 'HARD'}, **options)

    def sent_methods(self):
        return [method for method, _arguments in self.sent()]

    def assertRefused(self):
        for action, value in (('reboot', {'type': 'HARD'}), ('rescue', None)):
            self.refused_act(
                self.server, action, value, code=409, text='may still run on host lost'
            )
        self.assertNotIn('reboot_instance', self.sent_methods())
        self.assertTrue(self.is_marked())

    def test_removed_first(self):
        self.answers['revert_resize'] = {'done': True}
        self.hard_reboot()
        self.assertEqual(['revert_resize', 'reboot_instance'], self.sent_methods())
        _method, asked = self.sent()[0]
        self.assertEqual(('lost', self.uuid), (asked['host'], asked['move']))
        self.assertFalse(self.is_marked())

    def test_host_that_is_down(self):
        self.change(last_seen_up=runtime.naive_now() - datetime.timedelta(days=1))
        self.assertRefused()
        self.change(forced_down=True)
        self.hard_reboot()
        self.assertEqual(['reboot_instance'], self.sent_methods())

    def test_host_that_does_not_answer(self):
        self.answers['revert_resize'] = exception.Unavailable(service='host', reason='no')
        self.assertRefused()

    def test_host_that_fails(self):
        self.answers['revert_resize'] = exception.DriverError(
            verb='destroy', guest=self.server, node='lost', reason='no'
        )
        self.assertRefused()

    def test_started_after_it_was_stopped(self):
        """A server in error can be stopped, which is no way around."""
        self.answers['revert_resize'] = exception.Unavailable(service='host', reason='no')
        self.act(self.server, 'os-stop')
        self.cell.db.write(
            lambda connection: connection.execute(
                instances.TABLE.update().values(vm_state='stopped', task_state=None)
            )
        )
        self.refused_act(self.server, 'os-start', code=409, text='may still run')

    def test_other_ways_to_make_it_run(self):
        self.answers['revert_resize'] = exception.Unavailable(service='host', reason='no')
        down = runtime.naive_now() - datetime.timedelta(days=1)
        self.cell.db.write(
            lambda connection: connection.execute(
                services.TABLE.update()
                .where(services.TABLE.c.host != 'lost')
                .values(last_seen_up=down)
            )
        )
        for action, value, state in (
            ('evacuate', {'onSharedStorage': False}, 'error'),
            ('unshelve', None, 'shelved_offloaded'),
            ('restore', None, 'soft-delete'),
        ):
            self.cell.db.write(
                lambda connection, state=state: connection.execute(
                    instances.TABLE.update().values(vm_state=state)
                )
            )
            who = base.ADMIN if action == 'evacuate' else None
            self.refused_act(self.server, action, value, code=409, text='may still run', who=who)

    def test_unshelved(self):
        """The note of an unshelve goes away as a whole, and till then its volumes stay."""
        server = self.api.add_server(vm_state='shelved_offloaded', host=None, node=None)
        uuid = self.migrated(
            instance_uuid=server,
            migration_type='unshelve',
            source_compute=None,
            dest_compute='lost',
            hidden=True,
            data={migrations.LEFT: LOST},
        )
        volume = runtime.new_uuid()
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': server,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': volume,
        }
        self.cell.db.write(children.create_block_devices, [device])
        self.api.neighbours.volume.add(volume, status='reserved')
        path = f'/servers/{server}/os-volume_attachments/{volume}'
        self.change(last_seen_up=runtime.naive_now() - datetime.timedelta(days=1))
        self.refused('DELETE', path, code=409, text='may still run on host lost', version='2.20')
        self.refused_act(server, 'unshelve', code=409, text='may still run on host lost')
        self.assertEqual([], self.sent())
        self.change(forced_down=True)
        self.act(server, 'unshelve')
        self.assertIsNone(self.cell.db.read(migrations.find, uuid))

    def test_later_moves(self):
        """Only those that the host had a part in tell that nothing is left there."""
        self.migrated(dest_compute='host2')
        self.answers['revert_resize'] = {'done': True}
        self.hard_reboot()
        self.assertEqual(['revert_resize', 'reboot_instance'], self.sent_methods())

    def test_a_later_move_to_the_host(self):
        self.migrated(dest_compute='lost', status='reverted')
        self.hard_reboot()
        self.assertEqual(['reboot_instance'], self.sent_methods())

    def test_a_later_move_to_the_host_that_was_undone(self):
        """It may have ended before the host was asked."""
        self.answers['revert_resize'] = {'done': True}
        self.migrated(dest_compute='lost', status='failed')
        self.hard_reboot()
        self.assertEqual(['revert_resize', 'reboot_instance'], self.sent_methods())
