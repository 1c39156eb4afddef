"""Builds that look for another host."""

from nova_lite import exception
from nova_lite.db.cell import actions
from nova_lite.db.cell import instances
from tests.unit.conductor import base

EVENT = 'compute__do_build_and_run_instance'
FAILURE = {'error': 'no room', 'details': None}
HOSTS = ('host-1', 'host-2', 'host-3')


class TestReschedule(base.CellConductorTestCase):
    def refuse(self, ctxt, uuid, host='host-1'):
        self.conductor.reschedule_build(ctxt, host, uuid, FAILURE)

    def allocations(self, uuid):
        return list(self.cell.placement.allocations.get(uuid, ()))

    def outcome(self, uuid):
        """The message of a server's action: None if it did not fail."""
        return self.cell.db.read(actions.find_newest, uuid).message

    def test_first_alternate(self):
        node = self.node()
        ctxt, uuid = self.server(HOSTS)
        self.refuse(ctxt, uuid)
        self.assertEqual(('building', 'scheduling', 'host-2'), self.cell.state(uuid))
        self.assertEqual([('build_instance', 'host-2')], self.sent)
        message = self.cell.casts.held[0][2]
        self.assertEqual('host-2', message['selection'].service_host)
        left = self.cell.row(uuid).build['alternates']
        self.assertEqual(['host-3'], [alternate['service_host'] for alternate in left])
        self.assertEqual('host-2', message['instance'].host)
        self.assertEqual([self.cell.provider('host-2')], self.allocations(uuid))
        self.assertEqual([(EVENT, 'host-1', 'Error')], self.cell.events(uuid))
        self.assertIsNone(self.outcome(uuid))
        self.assertEqual(1, node().failed_builds)

    def test_alternate_without_room(self):
        ctxt, uuid = self.server(HOSTS)
        self.cell.placement.full.add(self.cell.provider('host-2'))
        self.refuse(ctxt, uuid)
        self.assertEqual([('build_instance', 'host-3')], self.sent)

    def test_exhausted(self):
        ctxt, uuid = self.server(HOSTS[:1])
        self.refuse(ctxt, uuid)
        self.assertEqual(('error', None, None), self.cell.state(uuid))
        self.assertIn('Exceeded maximum number of retries', self.cell.fault(uuid))
        self.assertEqual('Error', self.outcome(uuid))
        self.assertEqual([], self.allocations(uuid))
        self.assertEqual([], self.sent)

    def test_repeated(self):
        ctxt, uuid = self.server(HOSTS)
        self.refuse(ctxt, uuid)
        self.refuse(ctxt, uuid)
        self.assertEqual([('build_instance', 'host-2')], self.sent)
        self.assertEqual([self.cell.provider('host-2')], self.allocations(uuid))

    def test_deleted_meanwhile(self):
        ctxt, uuid = self.server(HOSTS, task_state='deleting')
        self.refuse(ctxt, uuid)
        self.assertEqual(('building', 'deleting', 'host-1'), self.cell.state(uuid))
        self.assertEqual([], self.sent)

    def test_deleted_during_the_claim(self):
        ctxt, uuid = self.server(HOSTS)
        replace = self.cell.placement.replace

        def delete_first(*args, **kwargs):
            self.cell.db.write(instances.mark_deleted, uuid)
            return replace(*args, **kwargs)

        self.cell.placement.replace = delete_first
        self.refuse(ctxt, uuid)
        self.assertEqual([], self.allocations(uuid))
        self.assertEqual([], self.sent)


class TestKilledConductor(base.CellConductorTestCase):
    """Placement does not answer, or the conductor dies: the audit goes on."""

    def interrupted(self, method, *, after):
        ctxt, uuid = self.server(HOSTS)
        error = exception.Unavailable(service='placement', reason='test')
        self.cell.placement.fail(method, error, times=1, after=after)
        self.assertRaises(
            exception.Unavailable,
            self.conductor.reschedule_build,
            ctxt,
            'host-1',
            uuid,
            FAILURE,
        )
        self.assertEqual(('building', 'scheduling', None), self.cell.state(uuid))
        return uuid

    def test_goes_on(self):
        for method in ('holding', 'replace'):
            for after in (False, True):
                uuid = self.interrupted(method, after=after)
                self.conductor.audit()
                self.assertEqual([], self.sent)
                self.clock.advance(61)
                self.conductor.audit()
                self.assertEqual([('build_instance', 'host-2')], self.sent)
                self.assertEqual(('building', 'scheduling', 'host-2'), self.cell.state(uuid))
                held = list(self.cell.placement.allocations[uuid])
                self.assertEqual([self.cell.provider('host-2')], held)
                self.cell.casts.hold()

    def test_deleted_after_its_state_was_reset(self):
        """No host has the server: the audit deletes it, and does not continue its build."""
        for alternates in (HOSTS, HOSTS[:1]):
            _ctxt, uuid = self.server(alternates, host=None)
            self.reset(uuid)
            self.cell.ask(uuid, 'delete', 'deleting')
            self.clock.advance(61)
            self.conductor.audit()
            self.assertTrue(self.cell.row(uuid).deleted)
            self.assertEqual([], self.sent)

    def test_placement_stays_away(self):
        uuid = self.interrupted('replace', after=False)
        self.cell.placement.fail('replace', exception.Unavailable(service='it', reason='test'))
        self.clock.advance(61)
        self.conductor.audit()
        self.assertEqual(('building', 'scheduling', None), self.cell.state(uuid))

    def test_frozen_while_another_took_over(self):
        """Whatever it was about to do, the other's claim stays."""
        for method in ('delete_allocations', 'holding', 'replace'):
            for after in (False, True):
                uuid = self.frozen(method, after=after)
                self.assertEqual([('build_instance', 'host-2')], self.sent)
                self.assertEqual(('building', 'scheduling', 'host-2'), self.cell.state(uuid))
                held = list(self.cell.placement.allocations[uuid])
                self.assertEqual([self.cell.provider('host-2')], held)
                self.cell.casts.hold()

    def frozen(self, method, *, after):
        """A conductor sleeps before or after it asks placement, and another takes over."""
        ctxt, uuid = self.server(HOSTS)
        placement = self.cell.placement
        original = getattr(placement, method)

        def sleep(*args, **kwargs):
            setattr(placement, method, original)
            found = original(*args, **kwargs) if after else None
            self.clock.advance(61)
            self.conductor._rescheduler.take_up(self.cell.row(uuid))
            return found if after else original(*args, **kwargs)

        setattr(placement, method, sleep)
        self.conductor.reschedule_build(ctxt, 'host-1', uuid, FAILURE)
        return uuid

    def test_two_conductors(self):
        uuid = self.interrupted('replace', after=False)
        self.clock.advance(61)
        row = self.cell.row(uuid)
        self.conductor._rescheduler.take_up(row)
        self.conductor._rescheduler.take_up(row)
        self.assertEqual([('build_instance', 'host-2')], self.sent)

    def test_nothing_says_how(self):
        _ctxt, uuid = self.server(host=None, build=None)
        self.clock.advance(61)
        self.conductor.audit()
        self.assertEqual(('error', None, None), self.cell.state(uuid))

    def test_unfinished_deletion(self):
        _ctxt, uuid = self.server(host=None, task_state='deleting')
        self.clock.advance(61)
        self.conductor.audit()
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual({}, self.cell.placement.allocations)

    def test_unfinished_deletion_of_a_shelved_server(self):
        self.cell.image.add_image('image')
        self.cell.volume.add_volume('volume')
        _ctxt, uuid = self.server(
            host=None,
            task_state='deleting',
            vm_state='shelved_offloaded',
            system_metadata={'shelved_image_id': 'image'},
            network_info=[{'id': 'port', 'preserve_on_delete': False}],
            devices=[
                {
                    'volume_id': 'volume',
                    'source_type': 'blank',
                    'destination_type': 'volume',
                    'delete_on_termination': True,
                }
            ],
        )
        self.cell.network.ports['port'] = {'server': uuid, 'host': None, 'own': True}
        self.clock.advance(61)
        self.conductor.audit()
        self.assertTrue(self.cell.row(uuid).deleted)
        self.assertEqual({}, self.cell.network.ports)
        self.assertEqual({}, self.cell.image.images)
        self.assertEqual({}, self.cell.volume.volumes)
