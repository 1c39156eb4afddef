"""Steps of cold moves one by one, over a real cell and its hosts, without a bus.

Every step is done twice and undone twice: both must be safe to repeat, and an undo
must be safe when nothing was done. Steps come from the code.
"""

import datetime

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.cell import actions
from nova_lite.db.cell import children
from nova_lite.db.cell import instances
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.moves import live_migrate
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.moves import shelve
from nova_lite.moves import steps as move_steps
from nova_lite.moves.parts import live_checks
from nova_lite.states import transitions
from tests.unit.moves import moves_base

SOURCE, DEST, OTHER = moves_base.SOURCE, moves_base.DEST, moves_base.OTHER
REFUSED = exception.MoveRefused(host=DEST, instance_uuid='i', reason='a test says so')


class MovesTest(moves_base.MoveTestCase):
    def test_an_action_goes_on_when_a_destination_refused(self):
        made = self.resize()
        undos = [step.undo for step in made.steps()]
        self.do(made, made.steps()[: undos.index(made.forget) + 1])
        made.data.update(refused=[{'host': DEST, 'error': 'no'}], _turn='choose')
        made.forget()
        self.assertIn(('compute_prep_resize', DEST, 'Error'), self.cell.events(self.server))
        self.assertIsNone(self.cell.db.read(actions.find_newest, self.server).message)

    def test_another_super_conductor_ends_events_of_the_first(self):
        first = self.resize()
        self.do(first, first.steps()[:1])
        host = self.cell.conf.host
        names = ('conductor_migrate_server', 'cold_migrate')
        began = [(name, host, None) for name in names]
        self.assertEqual(began, self.open_events())
        self.cell.conf.set_override('host', 'another')
        second = self.again(first, first.data)
        second.ctxt.request_id = first.ctxt.request_id
        for name in names:
            second.scope.write(second.events.start, name)
        self.assertEqual(began, self.open_events())
        second.scope.write(second.events.end, names[0], None)
        self.assertEqual(began[1:], self.open_events())

    def test_one_alternate_is_claimed_whoever_was_killed_meanwhile(self):
        """The successor may find another one free than the one that was claimed unheard."""
        made = self.resize()
        first, second = (self.cell.selection(host).as_dict() for host in (DEST, OTHER))
        made.data.update(refused=[{'host': 'h', 'error': 'no'}], alternates=[first, second])
        made.choice.choose()
        successor = self.again(made, made.data)
        successor.data['alternates'] = [second]
        self.assertEqual(OTHER, successor.choice.choose().service_host)
        self.assertEqual(
            {second['compute_node_uuid']}, set(self.world.placement.allocations[self.server])
        )

    # ---- resize ----

    def test_each_step_of_a_resize_is_undone(self):
        start = self.cell.leftovers()
        for last in range(len(self.before_pivot(self.resize_steps()))):
            made = self.resize()
            steps = made.steps()[: last + 1]
            self.do(made, steps)
            self.undo(made, steps)
            self.assertEqual(start, self.cell.leftovers(), steps[-1].id)
            self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
            self.assertEqual('error', self.status(made.uuid))
            self.assertEqual('because', self.cell.fault(self.server))
            self.assertIsNone(self.cell.row(self.server).new_flavor)

    def test_a_destination_that_was_not_taken_back_is_forgotten_in_the_end(self):
        made = self.resize()
        steps = moves_base.through(made, move_steps.RECORD)
        self.do(made, steps)
        self.cell.db.write(instances.update, self.server, {'availability_zone': 'there'})
        made.data['_not_undone'] = {move_steps.RECORD: {'message': 'the database did not answer'}}
        self.undo(made, steps[:-1])
        row = self.cell.row(self.server)
        self.assertEqual(('active', None, SOURCE), self.cell.state(self.server))
        self.assertEqual((None, None), (row.new_flavor, row.availability_zone))
        self.events_have_ended()

    def test_an_abort_that_was_not_rolled_back_says_why(self):
        """An abort is no fault, but the server is in ERROR."""
        aborted = {'type': live_migrate.ABORTED, 'message': 'aborted', 'traceback': 't'}
        why = {'type': 'ServiceIsDown', 'message': 'its host is not up', 'traceback': 't'}
        for lost, state, fault in (({}, 'active', None), ({'copy': why}, 'error', why['message'])):
            made = self.live_migration()
            self.do(made, made.steps()[:1])
            made.error, made.data['_not_undone'] = aborted, lost
            made.steps()[0].undo()
            self.assertEqual((state, None, SOURCE), self.cell.state(self.server))
            self.assertEqual(fault, self.cell.fault(self.server))

    def test_a_repeated_end_leaves_what_users_have_changed(self):
        made = self.live_migration()
        self.do(made, moves_base.through(made, move_steps.RECORD))
        made.results.keep(live_migrate.START, {'power_state': int(states.PowerState.RUNNING)})
        off = int(states.PowerState.SHUTDOWN)
        made.complete()
        self.cell.db.write(instances.update, self.server, {'power_state': off})
        made.complete()
        self.assertEqual(off, self.cell.row(self.server).power_state)

    def test_the_event_of_a_rollback_lasts_as_long_as_that(self):
        made = self.live_migration()
        self.do(made, moves_base.through(made, move_steps.RECORD))
        made.progress.record(started=(live_migrate.PREPARE_EVENT, DEST))
        made.data[live_migrate.PREPARE] = {}
        meanwhile = []

        def answer(*_args, **_kwargs):
            meanwhile.append(self.open_events()[-1])
            return {'done': True}

        self.cell.answers.rollback_live_migration_at_destination = answer
        for _time in range(2):
            made.roll_dest_back()
        event = live_migrate.ROLLBACK_EVENT
        self.assertEqual((event, DEST, None), meanwhile[0])
        found = self.cell.events(self.server)
        self.assertEqual([(event, DEST, 'Success')], [each for each in found if each[0] == event])
        self.assertIn((live_migrate.PREPARE_EVENT, DEST, 'Success'), found)

    def test_checks_that_were_not_taken_back_end_in_the_end(self):
        made = self.live_migration()
        begin = made.steps()[:1]
        self.do(made, begin)
        checks = {(live_checks.DEST_EVENT, DEST), (live_checks.SOURCE_EVENT, SOURCE)}
        for event in checks:
            made.progress.record(started=event)
        self.assertEqual(checks, checks & {each[:2] for each in self.open_events()})
        self.undo(made, begin)
        self.events_have_ended()

    def open_events(self):
        return [each for each in self.cell.events(self.server) if each[-1] is None]

    def events_have_ended(self):
        self.assertEqual([], self.open_events())

    def test_an_undo_does_not_wait_for_a_dead_host(self):
        """Asked in vain it is given up once it is down; one that is forced down is not asked."""
        made = self.resize()
        steps = {step.id: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        asked = []

        def silent(*_args, host, **_kwargs):
            asked.append(host)
            raise exception.MessagingTimeout(service='x', reason='no reply', method='m', topic='x')

        self.cell.answers.revert_resize = silent
        undo = steps[resize.FINISH].undo
        self.assertRaises(exception.MessagingTimeout, undo)
        service = self.cell.db.read(services.find, DEST)
        long_ago = runtime.naive_now() - datetime.timedelta(hours=1)
        self.cell.db.write(services.update, service.uuid, {'last_seen_up': long_ago})
        self.assertRaises(exception.ServiceIsDown, undo)
        self.cell.db.write(services.update, service.uuid, {'forced_down': True})
        self.assertRaises(exception.ServiceIsDown, undo)
        self.assertEqual([DEST, DEST], asked)

    def test_a_guest_that_may_run_elsewhere_is_not_started(self):
        made = self.resize()
        steps = {step.id: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        made.data['_not_undone'] = {resize.FINISH: 'its host is down'}
        steps[resize.LEAVE].undo()
        guests = self.cell.guests()[self.server]
        self.assertIn((SOURCE, 'resident', 4), guests)

    def test_a_deletion_interrupts_the_return_of_a_guest(self):
        """The guest's definition at the source goes, too: the deletion does not look for it."""
        made = self.resize()
        steps = {step.id: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        steps[resize.FINISH].undo()
        self.interrupt('finish_revert_resize')
        self.assertRaises(exception.DriverError, steps[resize.LEAVE].undo)
        self.assertEqual([(SOURCE, 'departed', 4)], self.cell.guests()[self.server])
        self.interrupt('finish_revert_resize', deletes=True)
        steps[resize.LEAVE].undo()
        self.assertEqual({}, self.cell.guests())

    def test_a_deletion_ends_before_the_return_of_a_guest(self):
        """It ends after the undo has found the server, before the host is asked."""
        made = self.resize()
        steps = {step.id: step for step in made.steps()}
        self.do(made, self.before_pivot(made.steps()))
        steps[resize.FINISH].undo()
        find = made.scope.find_present

        def delete_after():
            made.scope.find_present, found = find, find()
            self.cell.delete(self.server)
            return found

        made.scope.find_present = delete_after
        steps[resize.LEAVE].undo()
        self.assertEqual({}, self.cell.guests())

    def test_a_deletion_interrupts_the_end_of_a_live_migration(self):
        made = self.live_migration()
        self.do(made, moves_base.through(made, move_steps.RECORD))
        self.interrupt('rollback_live_migration')
        self.assertRaises(exception.DriverError, made.roll_source_back)
        asked = self.interrupt('rollback_live_migration', deletes=True)
        made.roll_source_back()
        self.assertEqual([False, True], asked)

    def interrupt(self, method, *, deletes=False):
        """Make requests to a host fail, because the server is deleted or for another reason.

        Return whether each request said that the server is gone.
        """
        asked = []

        def fail(*_args, gone=False, **_kwargs):
            asked.append(gone)
            if gone:
                return {'done': True}
            if deletes:
                self.cell.delete(self.server)
            raise exception.DriverError(verb='v', guest=self.server, node=SOURCE, reason='gone')

        setattr(self.cell.answers, method, fail)
        return asked

    def resize_steps(self):
        made = self.resize()
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        return made.steps()

    def test_steps_of_a_resize_may_be_repeated(self):
        made = self.resize()
        self.do(made, made.steps(), times=2)
        row = self.cell.row(self.server)
        self.assertEqual(('resized', None, DEST), self.cell.state(self.server))
        self.assertEqual(('small', 2048), (row.flavor['name'], row.memory_mb))
        self.assertEqual('m1.tiny', row.old_flavor['name'])
        self.assertEqual('finished', self.status(made.uuid))
        held = self.cell.placement.allocations
        self.assertEqual([self.cell.provider(SOURCE)], list(held[made.uuid]))
        self.assertEqual([self.cell.provider(DEST)], list(held[self.server]))
        spec = self.api_db.read(request_specs.get, self.server)
        mapping = self.api_db.read(instance_mappings.get, self.server)
        self.assertEqual(('small', 2048), (spec.flavor.name, mapping.memory_mb))

    def test_who_was_taken_over_stores_no_flavor(self):
        made = self.resize()
        self.do(made, moves_base.until(made, 'save-request-spec'))
        self.api_db.write(rows.change, sagas.TABLE, {'epoch': 2}, uuid=made.uuid)
        step = next(step for step in made.steps() if step.id == 'save-request-spec')
        self.assertRaises(exception.StaleEpoch, self.api_db.write, step.transaction)
        spec = self.api_db.read(request_specs.get, self.server)
        self.assertEqual('m1.tiny', spec.flavor.name)

    def test_refusal_leads_to_an_alternate(self):
        made = self.resize()
        steps = {step.id: step for step in made.steps()}
        self.do(made, moves_base.through(made, move_steps.CHOOSE))
        self.assertEqual('choose-destination', made.go_back(steps[move_steps.CLAIM], REFUSED))
        steps['choose-destination'].undo()
        self.assertEqual(OTHER, steps['choose-destination'].do().service_host)
        again = self.assertRaises(exception.MaxRetriesExceeded, steps['choose-destination'].do)
        self.assertIn(self.server, again.message)

    def test_host_that_was_asked_for_has_no_alternate(self):
        made = self.resize(host=DEST)
        self.do(made, moves_base.through(made, move_steps.CHOOSE))
        step = next(step for step in made.steps() if step.id == move_steps.CLAIM)
        self.assertIsNone(made.go_back(step, REFUSED))

    def test_attachment_made_while_the_server_is_deleted_goes(self):
        """The host ends the deletion between the revert's look and its request."""
        volume = self.cell.volume
        volume.volumes['v'] = {'id': 'v', 'status': 'reserved', 'size': 1}
        device = {
            'uuid': runtime.new_uuid(),
            'instance_uuid': self.server,
            'source_type': 'volume',
            'destination_type': 'volume',
            'volume_id': 'v',
            'attachment_id': volume.create_attachment(None, 'v', self.server)['id'],
            'device_name': '/dev/vdb',
        }
        self.cell.db.write(children.create_block_devices, [device])
        made = self.revert()
        self.do(made, made.steps()[:1])
        create = volume.create_attachment

        def late(*args, **kwargs):
            volume.create_attachment = create
            self.cell.delete(self.server)
            return create(*args, **kwargs)

        volume.create_attachment = late
        self.do(made, moves_base.through(made, revert.RESERVE)[-1:])
        self.undo(made, moves_base.through(made, revert.RESERVE))
        left = [each for each in volume.attachments.values() if each['server'] == self.server]
        self.assertEqual([], left)

    # ---- states ----

    def failed_shelve(self, vm_state):
        """A shelve is undone whose snapshot stopped a guest that had memory to lose."""
        self.world.image = self.cell.image
        self.cell.db.write(instances.force, self.server, {'vm_state': vm_state})
        made = self.make(shelve.Shelve, transitions.SHELVE, 'shelve', offload=False, image=True)
        steps = made.steps()
        self.do(made, steps[:1])
        made.progress.record(changes={'task_state': 'shelving_image_uploading'})
        made.data['stopped'] = True
        self.undo(made, steps[:1])
        return self.cell.state(self.server)

    def test_paused_server_whose_shelve_fails_is_off(self):
        self.assertEqual(('stopped', None, SOURCE), self.failed_shelve('paused'))
        self.assertIn('because', self.cell.fault(self.server))

    def test_suspended_server_whose_shelve_fails_is_off(self):
        self.assertEqual(('stopped', None, SOURCE), self.failed_shelve('suspended'))

    def test_server_that_cannot_be_given_back_is_broken(self):
        """A state to which no action leads: a defect, after which the task ends all the same."""
        self.world.image = self.cell.image
        made = self.make(shelve.Shelve, transitions.SHELVE, 'shelve', offload=False, image=True)
        self.do(made, made.steps()[:1])
        made.changes_of_failure = lambda _row: {'vm_state': 'rescued'}
        self.undo(made, made.steps()[:1])
        self.assertEqual(('error', None, SOURCE), self.cell.state(self.server))

    def failed_revert(self, **meanwhile):
        """The source could not have its guest back; the states were changed before the end."""
        made = self.revert()
        steps = made.steps()
        self.do(made, [step for step in steps if step.id != revert.FINISH][:-1])
        made.data['_left'] = {revert.FINISH: {'message': 'broken', 'traceback': 't'}}
        self.cell.db.write(instances.force, self.server, meanwhile)
        self.do(made, steps[-1:], times=2)
        faults = self.cell.db.read(rows.every, models.InstanceFault.__table__)
        self.assertEqual(['broken'], [fault.message for fault in faults])
        return self.cell.state(self.server)

    def test_failed_revert_breaks_the_server(self):
        self.assertEqual(('error', None, SOURCE), self.failed_revert(power_state=1))

    def test_failed_revert_of_a_server_that_was_reset(self):
        states = {'vm_state': 'active', 'task_state': None}
        self.assertEqual(('error', None, SOURCE), self.failed_revert(**states))

    def test_failed_revert_of_a_server_that_is_being_deleted(self):
        found = self.failed_revert(task_state='deleting')
        self.assertEqual(('resized', 'deleting', SOURCE), found)

    def test_guest_that_left_stays_off_if_the_server_was_reset(self):
        made = self.resize()
        steps = moves_base.through(made, resize.LEAVE)
        self.do(made, steps)
        self.cell.db.write(instances.force, self.server, {'task_state': None})
        steps[-1].undo()
        self.assertEqual([(SOURCE, 'resident', 4)], self.cell.guests()[self.server])
