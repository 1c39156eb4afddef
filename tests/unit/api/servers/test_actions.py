"""Actions of one step: states, lock, record, message."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import action_lists
from nova_lite.db.cell import instances
from nova_lite.db.cell import services
from tests.fixtures import compute_api
from tests.unit.api.servers import base


class TestPower(base.Case):
    def test_stop(self):
        uuid = self.api.add_server()
        self.act(uuid, 'os-stop')
        self.assertEqual('powering-off', self.api.row(uuid).task_state)
        ((method, arguments),) = self.sent()
        self.assertEqual('stop_instance', method)
        self.assertEqual('host1', arguments['host'])
        self.assertEqual('powering-off', arguments['instance'].task_state)
        (action,) = self.api.cell('cell1').db.read(action_lists.page, uuid)
        self.assertEqual('stop', action.action)

    def test_every_simple_action(self):
        rows = (
            ('os-start', 'stopped', 'powering-on', 'start_instance'),
            ('pause', 'active', 'pausing', 'pause_instance'),
            ('unpause', 'paused', 'unpausing', 'unpause_instance'),
            ('suspend', 'active', 'suspending', 'suspend_instance'),
            ('resume', 'suspended', 'resuming', 'resume_instance'),
        )
        for action, vm_state, task_state, method in rows:
            uuid = self.api.add_server(vm_state=vm_state)
            self.act(uuid, action)
            self.assertEqual(task_state, self.api.row(uuid).task_state)
            self.assertEqual(method, self.sent()[-1][0])

    def test_reboot(self):
        uuid = self.api.add_server(vm_state='stopped')
        self.refused_act(uuid, 'reboot', {'type': 'SOFT'}, code=409, text='vm_state stopped')
        self.act(uuid, 'reboot', {'type': 'Hard'})
        self.assertEqual('rebooting_hard', self.api.row(uuid).task_state)
        self.assertEqual('HARD', self.sent()[-1][1]['reboot_type'])
        self.refused_act(uuid, 'reboot', {'type': 'cold'}, code=400, text='type')

    def test_wrong_state(self):
        uuid = self.api.add_server()
        message = f"Cannot 'start' instance {uuid} while it is in vm_state active"
        self.refused_act(uuid, 'os-start', code=409, text=message)
        busy = self.api.add_server(task_state='rebooting')
        self.refused_act(busy, 'os-stop', code=409, text='task_state rebooting')
        self.assertEqual([], self.sent())

    def test_lost_race(self):
        """The state changes after the server was loaded."""
        uuid = self.api.add_server()
        cell = self.api.cell('cell1')
        read = cell.db.read

        def late(function, *args, **kwargs):
            found = read(function, *args, **kwargs)
            if function.__name__ == 'from_cell':  # the server was loaded
                cell.db.read = read
                cell.db.write(instances.force, uuid, {'task_state': 'rebooting'})
            return found

        cell.db.read = late
        self.refused_act(uuid, 'os-stop', code=409, text='task_state rebooting')

    def test_without_host(self):
        uuid = self.api.add_server(host=None)
        self.refused_act(uuid, 'os-stop', code=409, text='not ready')

    def test_message_that_the_bus_does_not_take(self):
        self.api.compute['cell1'].answers['stop_instance'] = exception.Unavailable(
            service='bus', reason='gone'
        )
        uuid = self.api.add_server()
        self.act(uuid, 'os-stop')
        self.assertEqual('powering-off', self.api.row(uuid).task_state)

    def test_unknown(self):
        uuid = self.api.add_server()
        self.refused_act(uuid, 'fly', code=400, text='There is no such action: fly')
        self.refused_act(runtime.new_uuid(), 'os-stop', code=404)
        self.refused_act('nonsense', 'os-stop', code=404, text='nonsense')
        other = self.api.add_server(project_id='beta')
        self.refused_act(other, 'os-stop', code=404)
        path = f'/servers/{uuid}/action'
        self.refused('POST', path, {'os-stop': None, 'os-start': None}, code=400)
        self.refused('POST', path, ['os-stop'], code=400)
        self.refused('POST', path, code=400)

    def test_reader_may_not(self):
        uuid = self.api.add_server()
        who = {'user': 'carol', 'project': 'alpha', 'roles': 'reader'}
        self.refused_act(uuid, 'os-stop', code=403, who=who, text='servers:stop')


FOREIGN_ADMIN = {'user': 'admin', 'project': 'other', 'roles': 'admin'}


class TestLock(base.Case):
    def test_locked_server_refuses_all_but_administrators(self):
        uuid = self.api.add_server()
        self.act(uuid, 'lock')
        self.refused_act(uuid, 'os-stop', code=409, text='locked')
        self.refused('DELETE', f'/servers/{uuid}', code=409, text='locked')
        self.act(uuid, 'os-stop', who=base.ADMIN)

    def test_reason(self):
        uuid = self.api.add_server()
        for action, value, seen in (
            ('lock', {'locked_reason': 'mine'}, (True, 'mine')),
            ('lock', None, (True, 'mine')),
            *(('unlock', None, (False, None)), ('lock', None, (True, None))),
        ):
            self.act(uuid, action, value, version='2.73')
            shown = self.ok('GET', f'/servers/{uuid}', version='2.73').json['server']
            self.assertEqual(seen, (shown['locked'], shown['locked_reason']))

    def lock_meanwhile(self, uuid):
        """An administrator locks the server after the next request has read it."""
        cell = self.api.cell('cell1')
        write = cell.db.write

        def late(function, *args, **kwargs):
            cell.db.write = write
            self.act(uuid, 'lock', who=FOREIGN_ADMIN)
            return write(function, *args, **kwargs)

        cell.db.write = late

    def test_lock_that_an_administrator_overtakes(self):
        uuid = self.api.add_server()
        self.lock_meanwhile(uuid)
        self.act(uuid, 'lock')
        self.assertEqual('admin', self.api.row(uuid).locked_by)

    def test_unlock_that_an_administrator_overtakes(self):
        uuid = self.api.add_server()
        self.act(uuid, 'lock')
        self.lock_meanwhile(uuid)
        self.refused_act(uuid, 'unlock', code=403, text='unlock_override')
        self.assertEqual((True, 'admin'), (self.api.row(uuid).locked, self.api.row(uuid).locked_by))

    def test_owner_cannot_open_an_administrators_lock(self):
        uuid = self.api.add_server()
        self.act(uuid, 'lock', who=FOREIGN_ADMIN)
        self.refused_act(uuid, 'unlock', code=403, text='unlock_override')
        self.act(uuid, 'unlock', who=FOREIGN_ADMIN)


class TestResetState(base.Case):
    def test_reset(self):
        uuid = self.api.add_server(task_state='spawning')
        self.refused_act(uuid, 'os-resetState', {'state': 'error'}, code=403)
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        row = self.api.row(uuid)
        self.assertEqual(('error', None), (row.vm_state, row.task_state))

    def test_is_an_action(self):
        """It has ended, and has no events, as with nova."""
        uuid = self.api.add_server()
        self.act(uuid, 'os-resetState', {'state': 'error'}, who=base.ADMIN)
        path = f'/servers/{uuid}/os-instance-actions'
        (shown,) = self.ok('GET', path).json['instanceActions']
        self.assertEqual(('resetState', None), (shown['action'], shown['message']))
        request = f'{path}/{shown["request_id"]}'
        options = {'version': '2.84', 'who': base.ADMIN}
        action = self.ok('GET', request, **options).json['instanceAction']
        self.assertEqual([], action['events'])
        (row,) = self.api.cell('cell1').db.read(action_lists.page, uuid)
        self.assertIsNotNone(row.finish_time)


class TestEvacuate(base.Case):
    def test_never_launched(self):
        """Its build failed and took its volumes back: there is nothing to evacuate."""
        uuid = self.api.add_server(vm_state='error', launched_at=None)
        options = {'version': '2.14', 'who': compute_api.ADMIN}
        self.refused_act(uuid, 'evacuate', {}, code=409, text='launched_at', **options)


class TestDelete(base.Case):
    def test_by_the_host(self):
        uuid = self.api.add_server()
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual('deleting', self.api.row(uuid).task_state)
        self.assertEqual('delete_instance', self.sent()[0][0])
        mapping = self.api.api_db.read(instance_mappings.get, uuid)
        self.assertTrue(mapping.queued_for_delete)

    def test_again(self):
        uuid = self.api.add_server(task_state='deleting')
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual(1, len(self.sent()))

    def test_without_host(self):
        uuid = self.api.add_server(host=None, vm_state='error')
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.row(uuid).deleted)
        self.assertEqual([uuid], self.api.neighbours.placement.released)
        self.refused('GET', f'/servers/{uuid}', code=404)

    def test_in_cell0(self):
        uuid = self.api.add_server('cell0', host=None, vm_state='error', launched_at=None)
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.row(uuid, 'cell0').deleted)

    def test_host_is_down(self):
        cell = self.api.cell('cell1')
        service = cell.db.read(services.find, 'host1')
        cell.db.write(services.update, service.uuid, {'forced_down': True})
        uuid = self.api.add_server(network_info=[{'id': 'p'}])
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertTrue(self.api.row(uuid).deleted)
        self.assertEqual([uuid], self.api.neighbours.network.released)
        self.assertEqual([], self.sent())


class TestSoftDelete(base.Case):
    overrides = ((None, 'reclaim_instance_interval', 60),)

    def test_soft_delete_and_restore(self):
        uuid = self.api.add_server()
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual('soft-deleting', self.api.row(uuid).task_state)
        self.assertEqual('soft_delete_instance', self.sent()[0][0])
        done = {'vm_state': 'soft-delete', 'task_state': None}
        self.api.cell('cell1').db.write(instances.force, uuid, done)
        self.act(uuid, 'restore')
        row = self.api.row(uuid)
        self.assertEqual(('restoring', None), (row.task_state, row.deleted_at))
        self.assertEqual('restore_instance', self.sent()[-1][0])

    def test_force_delete(self):
        uuid = self.api.add_server(vm_state='soft-delete')
        self.act(uuid, 'forceDelete')
        self.assertEqual('delete_instance', self.sent()[0][0])

    def test_a_server_that_never_ran_is_deleted_at_once(self):
        uuid = self.api.add_server(vm_state='error', launched_at=None)
        self.ok('DELETE', f'/servers/{uuid}', code=204)
        self.assertEqual('delete_instance', self.sent()[0][0])


class TestMetadata(base.Case):
    def test_entries(self):
        uuid = self.api.add_server(metadata={'a': '1'})
        path = f'/servers/{uuid}/metadata'
        self.assertEqual({'metadata': {'a': '1'}}, self.ok('GET', path).json)
        self.ok('POST', path, {'metadata': {'b': '2'}})
        self.ok('PUT', path + '/c', {'meta': {'c': '3'}})
        self.refused('PUT', path + '/c', {'meta': {'d': '3'}}, code=400)
        self.refused('PUT', path + '/c', {'meta': {}}, code=400)
        self.assertEqual({'meta': {'c': '3'}}, self.ok('GET', path + '/c').json)
        self.ok('DELETE', path + '/a', code=204)
        self.refused('DELETE', path + '/a', code=404)
        self.assertEqual({'b': '2', 'c': '3'}, self.ok('GET', path).json['metadata'])
        self.ok('PUT', path, {'metadata': {'x': 'y'}})
        self.assertEqual({'x': 'y'}, self.api.row(uuid).metadata)

    def test_refused(self):
        uuid = self.api.add_server()
        path = f'/servers/{uuid}/metadata'
        self.refused('POST', path, {'metadata': {'a': 1}}, code=400)
        self.refused('POST', path, {'metadata': {'a': 'b' * 256}}, code=400, text='a')
        self.refused('POST', path, {'metadata': {'ä': 'b'}}, code=400)
        self.refused('POST', path, {'metadata': {'k' * 255 + '\n': 'b'}}, code=400)
        many = {f'k{number}': 'v' for number in range(129)}
        self.refused('POST', path, {'metadata': many}, code=403, text='metadata_items')


class TestTags(base.Case):
    def test_tags(self):
        uuid = self.api.add_server()
        path = f'/servers/{uuid}/tags'
        self.refused('GET', path, code=404)
        self.ok('PUT', path + '/red', code=201, version='2.26')
        self.ok('PUT', path + '/red', code=204, version='2.26')
        answer = self.ok('PUT', path + '/%F0%9F%98%80', code=201, version='2.26')
        self.assertTrue(answer.headers['Location'].endswith('%F0%9F%98%80'))
        self.ok('GET', path + '/red', code=204, version='2.26')
        self.refused('GET', path + '/blue', code=404, version='2.26')
        self.ok('PUT', path, {'tags': ['b', 'a', 'a']}, version='2.26')
        self.assertEqual(['a', 'b'], self.ok('GET', path, version='2.26').json['tags'])
        self.ok('DELETE', path + '/a', code=204, version='2.26')
        self.refused('DELETE', path + '/a', code=404, version='2.26')
        self.ok('DELETE', path, code=204, version='2.26')
        self.assertEqual([], self.ok('GET', path, version='2.26').json['tags'])

    def test_refused(self):
        path = f'/servers/{self.api.add_server()}/tags'
        self.refused('PUT', f'{path}/{"x" * 61}', code=400, version='2.26')
        self.refused('PUT', f'{path}/a,b', code=400, version='2.26')
        self.refused('PUT', path, {'tags': ['a/b']}, code=400, version='2.26')
        many = [f't{number}' for number in range(50)]
        self.ok('PUT', path, {'tags': many}, version='2.26')
        self.refused('PUT', path + '/more', code=400, version='2.26', text='50')


class TestConsoles(base.Case):
    def test_remote_console(self):
        uuid = self.api.add_server()
        body = {'remote_console': {'protocol': 'vnc', 'type': 'novnc'}}
        path = f'/servers/{uuid}/remote-consoles'
        found = self.ok('POST', path, body, version='2.6').json['remote_console']
        self.assertIn('token', found['url'])
        self.refused('POST', path, body, code=404, version='2.5')
        wrong = {'remote_console': {'protocol': 'vnc', 'type': 'serial'}}
        self.refused('POST', path, wrong, code=400, version='2.6')
        mks = {'remote_console': {'protocol': 'mks', 'type': 'webmks'}}
        self.refused('POST', path, mks, code=400, version='2.8', text='webmks')

    def test_actions_of_old(self):
        uuid = self.api.add_server()
        self.act(uuid, 'os-getVNCConsole', {'type': 'novnc'}, code=200)
        self.refused_act(uuid, 'os-getVNCConsole', {'type': 'novnc'}, code=404, version='2.6')
        self.refused_act(uuid, 'os-getRDPConsole', {'type': 'x'}, code=400)

    def test_output(self):
        self.api.compute['cell1'].answers['get_console_output'] = 'hello'
        uuid = self.api.add_server()
        answer = self.act(uuid, 'os-getConsoleOutput', {'length': '5'}, code=200)
        self.assertEqual({'output': 'hello'}, answer.json)
        self.assertEqual(5, self.sent()[0][1]['tail_length'])


class TestInstanceActions(base.Case):
    def test_list_and_show(self):
        uuid = self.api.add_server()
        self.act(uuid, 'os-stop')
        path = f'/servers/{uuid}/os-instance-actions'
        (action,) = self.ok('GET', path).json['instanceActions']
        self.assertEqual('stop', action['action'])
        one = f'{path}/{action["request_id"]}'
        self.assertNotIn('events', self.ok('GET', one).json['instanceAction'])
        shown = self.ok('GET', one, version='2.51').json['instanceAction']
        self.assertEqual([], shown['events'])
        self.refused('GET', path + '/req-x', code=404)

    def test_pages(self):
        uuid = self.api.add_server()
        for _number in range(3):
            self.act(uuid, 'lock')
        path = f'/servers/{uuid}/os-instance-actions'
        first = self.ok('GET', path + '?limit=2', version='2.58').json
        self.assertEqual(2, len(first['instanceActions']))
        query = first['links'][0]['href'].partition('?')[2]
        second = self.ok('GET', f'{path}?{query}', version='2.58').json
        self.assertEqual(1, len(second['instanceActions']))
        self.refused('GET', path + '?marker=x', code=400, version='2.58')
        self.refused('GET', path + '?nonsense=x', code=400, version='2.58')

    def test_deleted_server(self):
        uuid = self.api.add_server()
        self.api.cell('cell1').db.write(instances.mark_deleted, uuid)
        path = f'/servers/{uuid}/os-instance-actions'
        self.refused('GET', path, code=404)
        self.ok('GET', path, version='2.21')


class TestUpdate(base.Case):
    def test_name(self):
        uuid = self.api.add_server()
        answer = self.ok('PUT', f'/servers/{uuid}', {'server': {'name': 'new'}})
        self.assertEqual('new', answer.json['server']['name'])
        self.assertNotIn('key_name', answer.json['server'])
        answer = self.ok('PUT', f'/servers/{uuid}', {'server': {'name': 'x'}}, version='2.75')
        self.assertIn('key_name', answer.json['server'])

    def test_fields_by_microversion(self):
        path = f'/servers/{self.api.add_server()}'
        self.refused('PUT', path, {'server': {'description': 'd'}}, code=400, version='2.18')
        self.ok('PUT', path, {'server': {'description': 'd'}}, version='2.19')
        self.refused('PUT', path, {'server': {'hostname': 'h.x'}}, code=400, version='2.90')
        self.ok('PUT', path, {'server': {'hostname': 'h.x'}}, version='2.94')
        self.ok('PUT', path, {'server': {'accessIPv4': '192.0.2.1'}})
        self.refused('PUT', path, {'server': {'accessIPv4': 'x'}}, code=400, text='accessIPv4')
        self.refused('PUT', path, {'server': {'name': ''}}, code=400, text='name')

    def test_line_breaks_after_names(self):
        path = f'/servers/{self.api.add_server()}'
        wanted = {'server': {'name': 'web\n', 'hostname': 'web\n'}}
        server = self.ok('PUT', path, wanted, version='2.90').json['server']
        shown = server['name'], server['OS-EXT-SRV-ATTR:hostname']
        self.assertEqual(('web', 'web'), shown)

    def test_pinned_zone(self):
        uuid = self.api.add_server(availability_zone='nova')
        path = f'/servers/{uuid}'
        self.ok('PUT', path, {'server': {'pinned_availability_zone': 'nova'}}, version='2.104')
        server = self.ok('GET', path, version='2.96').json['server']
        self.assertEqual('nova', server['pinned_availability_zone'])
        for zone, code in (('mars', 409), (' ', 409), ('', 400), ('x' * 256, 400)):
            wrong = {'server': {'pinned_availability_zone': zone}}
            self.refused('PUT', path, wrong, code=code, version='2.104', text='zone')
        self.ok('PUT', path, {'server': {'pinned_availability_zone': None}}, version='2.104')
