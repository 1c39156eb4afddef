"""Steps of a rebuild one by one, over a real cell and its hosts, without a bus."""

import types

from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite import states
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.moves import rebuild
from nova_lite.moves.parts import shelving
from nova_lite.states import transitions
from tests.unit.moves import moves_base

HOST = moves_base.SOURCE
OLD, NEW = 'image-1', 'image-2'
IMAGE = {
    'id': NEW,
    'name': 'new',
    'status': 'active',
    'owner': None,
    'disk_format': 'raw',
    'container_format': 'bare',
    'min_disk': 0,
    'min_ram': 0,
    'size': 1,
    'properties': {},
}
ROOT = {
    'source_type': 'image',
    'destination_type': 'volume',
    'boot_index': 0,
    'volume_size': 1,
    'image_id': OLD,
}


class RebuildTestCase(moves_base.MoveTestCase):
    def setUp(self):
        super().setUp()
        self.asked = []
        self.world.scheduler = types.SimpleNamespace(select_destinations=self._select)
        self.change(image_ref=OLD)

    def _select(self, ctxt, *, spec, **_options):
        self.asked.append(spec)
        return [[self.cell.selection(moves_base.SOURCE)]]

    def change(self, **values):
        self.cell.db.write(instances.force, self.server, values)

    def rebuild(self, *, image=IMAGE, reimage=None):
        given = {'image': image, 'former': {'image_ref': OLD}, 'reimage': reimage}
        made = self.make(rebuild.Rebuild, transitions.REBUILD, 'rebuild', **given)
        if image is not None:
            self.change(image_ref=NEW)
        return made

    def play(self, made, steps=None, *, times=1):
        """Do the steps as the engine does: it asks again while one waits."""
        for step in made.steps() if steps is None else steps:
            for _time in range(times):
                made.repeated = times > 1
                while isinstance(result := step.do(), saga.Pending):
                    pass
                if result is not None and not isinstance(result, saga.Skipped):
                    made.results.keep(step.id, result)

    def each_is_undone(self):
        start = self.cell.leftovers()
        count = len(self.before_pivot(self.rebuild().steps()))
        self.change(task_state=None)
        for last in range(count):
            made = self.rebuild()
            steps = made.steps()[: last + 1]
            self.play(made, steps)
            self.undo(made, steps)
            self.assertEqual(start, self.cell.leftovers())
            self.assertEqual(('active', None, HOST), self.cell.state(self.server))

    def guest(self):
        return self.cell.driver.get_guest(HOST, self.server)

    def image(self):
        return self.cell.row(self.server).image_ref


class StepsTest(RebuildTestCase):
    def test_does_not_begin_if_another_rebuild_ended_meanwhile(self):
        made = self.rebuild()
        self.play(made)
        order = intents.order(transitions.REBUILD, 'rebuild', same={'image_ref': OLD})
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        error = self.assertRaises(
            exception.StateChanged, self.cell.db.write, moves.begin, ctxt, self.server, order
        )
        self.assertIn('image_ref', str(error))
        self.assertEqual(('active', None, HOST), self.cell.state(self.server))

    def test_steps_may_be_repeated(self):
        start = self.cell.leftovers()
        made = self.rebuild()
        self.play(made, times=2)
        self.assertEqual(('active', None, HOST), self.cell.state(self.server))
        self.assertEqual((NEW, NEW), (self.image(), self.guest().spec.image_id))
        self.assertEqual(start, self.cell.leftovers())
        self.assertEqual(
            [
                ('rebuild_server', self.cell.conf.host, 'Success'),
                ('compute_rebuild_instance', HOST, 'Success'),
            ],
            self.cell.events(self.server)[-2:],
        )
        spec = self.api_db.read(request_specs.get, self.server)
        self.assertEqual(NEW, spec.image.id)

    def test_steps_before_the_pivot_are_undone(self):
        self.each_is_undone()
        self.assertEqual((OLD, 'because'), (self.image(), self.cell.fault(self.server)))

    def test_the_scheduler_is_asked_about_the_host_for_another_image(self):
        self.play(self.rebuild())
        (spec,) = self.asked
        self.assertEqual(
            (HOST, 'rebuild', NEW), (spec.current_host, spec.check_type, spec.image.id)
        )
        self.play(self.rebuild(image=None))
        self.assertEqual(1, len(self.asked))

    def test_traits_of_the_image(self):
        provider = self.cell.provider(HOST)
        self.cell.placement.providers.known[provider] = [HOST, {}, {'HW_CPU_X86_AVX'}]
        properties = {'trait:HW_CPU_X86_AVX': 'required', 'trait:CUSTOM_B': 'forbidden'}
        self.play(self.rebuild(image={**IMAGE, 'properties': properties}))
        made = self.rebuild(image={**IMAGE, 'properties': {'trait:CUSTOM_A': 'required'}})
        self.play(made, made.steps()[:1])
        error = self.assertRaises(exception.NoValidHost, made.check)
        self.assertIn('CUSTOM_A', error.message)

    def test_traits_that_the_flavor_forbids(self):
        spec = self.api_db.read(request_specs.get, self.server)
        spec.flavor.extra_specs = {'trait:CUSTOM_A': 'forbidden'}
        self.api_db.write(request_specs.change, self.server, flavor=spec.flavor)
        made = self.rebuild(image={**IMAGE, 'properties': {'trait:CUSTOM_A': 'required'}})
        self.play(made, made.steps()[:1])
        error = self.assertRaises(exception.NoValidHost, made.check)
        self.assertIn('forbids', error.message)

    def test_a_host_that_is_down_keeps_its_guest(self):
        made = self.rebuild()
        self.play(made, self.before_pivot(made.steps()))
        service = self.cell.db.read(services.find, HOST)
        self.cell.db.write(services.update, service.uuid, {'forced_down': True})
        self.assertRaises(exception.ServiceIsDown, made.commit)
        self.assertEqual('rebuilding', self.cell.row(self.server).task_state)

    def test_a_server_that_is_off_stays_off(self):
        self.change(vm_state='stopped')
        self.play(self.rebuild())
        self.assertEqual(('stopped', None, HOST), self.cell.state(self.server))
        self.assertEqual(states.PowerState.SHUTDOWN, self.guest().power_state)
        self.assertEqual(
            ('compute_stop_instance', HOST, 'Success'), self.cell.events(self.server)[-1]
        )

    def test_a_server_in_error_is_active_then(self):
        self.cell.driver.destroy(HOST, self.server, key='lost')
        self.change(vm_state='error')
        self.play(self.rebuild(image=None))
        self.assertEqual(('active', None, HOST), self.cell.state(self.server))
        self.assertEqual(states.PowerState.RUNNING, self.guest().power_state)

    def test_what_is_left_breaks_the_server(self):
        made = self.rebuild()
        self.play(made, moves_base.until(made, rebuild.MAKE))
        failure = {'type': 'X', 'message': 'no disk', 'kind': 'internal', 'traceback': 't'}
        made.data['_left'] = {rebuild.MAKE: failure}
        self.play(made, moves_base.after(made, rebuild.MAKE))
        self.assertEqual(('error', None, HOST), self.cell.state(self.server))
        self.assertEqual((NEW, 'no disk'), (self.image(), self.cell.fault(self.server)))
        self.assertEqual(
            ('compute_rebuild_instance', HOST, 'Error'), self.cell.events(self.server)[-1]
        )

    def test_what_a_failed_try_has_made_goes_first(self):
        made = self.rebuild()
        self.play(made)
        first = self.guest().started_at
        self.change(task_state='rebuild_spawning')
        made.data['_tries'] = {rebuild.MAKE: 1}
        self.play(made, moves_base.since(made, rebuild.MAKE))
        self.assertNotEqual(first, self.guest().started_at)

    def test_deleted_after_each_step(self):
        for last in range(1, len(self.rebuild().steps()) + 1):
            self.server = self.cell.boot()
            provider = self.cell.provider(HOST)
            self.cell.placement.allocations[self.server] = {provider: {'VCPU': 1}}
            self.api_db.write(self._record)
            made = self.rebuild()
            steps = made.steps()
            self.play(made, steps[:last])
            self.cell.delete(self.server)
            self.cell.run_dry()
            rest = steps[last:]
            if steps[last - 1] in self.before_pivot(steps):
                self.undo(made, steps[:last])
                rest = ()
            self.play(made, rest)
            self.assertNotIn(self.server, self.cell.guests(), steps[last - 1].id)
            found = [each for each in self.cell.events(self.server) if each[-1] is None]
            self.assertEqual([], found, steps[last - 1].id)

    def test_deleted_while_the_guest_is_made(self):
        made = self.rebuild()
        self.play(made, moves_base.until(made, rebuild.MAKE))
        self.change(task_state='deleting')
        # As if it had been looked at before.
        made.scope.is_gone = lambda: False
        self.play(made, moves_base.since(made, rebuild.MAKE)[:1])
        del made.scope.is_gone
        self.assertIn(self.server, self.cell.guests())
        self.play(made, moves_base.after(made, rebuild.MAKE))
        self.assertNotIn(self.server, self.cell.guests())
        self.assertEqual('deleting', self.cell.row(self.server).task_state)

    def test_deleted_softly_meanwhile(self):
        """It may be restored: it has a guest, which is off until then."""
        made = self.rebuild()
        self.play(made, moves_base.until(made, rebuild.MAKE))
        self.change(task_state='soft-deleting')
        self.play(made, moves_base.since(made, rebuild.MAKE))
        self.assertEqual(states.PowerState.SHUTDOWN, self.guest().power_state)
        self.assertEqual(('active', 'soft-deleting', HOST), self.cell.state(self.server))


class FromVolumeTest(RebuildTestCase):
    def setUp(self):
        super().setUp()
        self.server = self.cell.boot(devices=[ROOT])
        self.api_db.write(self._record)
        provider = self.cell.provider(HOST)
        self.cell.placement.allocations[self.server] = {provider: {'VCPU': 1}}
        self.volume = self.device().volume_id

    def device(self):
        (device,) = self.cell.devices(self.server)
        return device

    def rebuild(self, **options):
        return super().rebuild(**{'reimage': NEW, **options})

    def attachments(self):
        found = self.cell.volume.attachments
        return {each: found[each]['host'] for each in found}

    def test_steps_may_be_repeated(self):
        start, former = self.cell.leftovers(), self.device().attachment_id
        made = self.rebuild()
        self.play(made, times=2)
        self.assertEqual(start, self.cell.leftovers())
        self.assertNotEqual(former, self.device().attachment_id)
        self.assertEqual({self.device().attachment_id: HOST}, self.attachments())
        self.assertEqual({(self.volume, NEW)}, set(self.cell.volume.written))
        self.assertEqual('iscsi', self.device().connection_info['driver_volume_type'])
        self.assertEqual(('active', None, HOST), self.cell.state(self.server))

    def test_steps_before_the_pivot_are_undone(self):
        self.each_is_undone()

    def test_the_volume_is_kept_as_it_is(self):
        former = self.device().attachment_id
        self.play(self.rebuild(image=None, reimage=None), times=2)
        self.assertEqual((former, []), (self.device().attachment_id, self.cell.volume.written))
        self.assertEqual({former: HOST}, self.attachments())

    def reimaging(self):
        """A saga whose guest is gone and whose volume is about to be written."""
        made = self.rebuild()
        names = [step.id for step in made.steps()]
        self.play(made, made.steps()[: names.index(rebuild.REIMAGE)])
        return made

    def test_it_waits_for_the_volume(self):
        made = self.reimaging()
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.cell.volume.volumes[self.volume] = 'downloading'
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.cell.volume.volumes[self.volume] = 'reserved'
        self.assertIsNone(made.reimage())
        self.assertEqual(1, len(self.cell.volume.written))

    def test_who_takes_over_asks_once(self):
        made = self.reimaging()
        made.reimage()
        del made.data[rebuild.ASKED]
        made.repeated = True
        self.cell.volume.volumes[self.volume] = 'downloading'
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.cell.volume.volumes[self.volume] = 'reserved'
        self.assertIsNone(made.reimage())
        self.assertEqual(1, len(self.cell.volume.written))

    def test_other_work_of_the_volume_service_is_waited_for(self):
        made = self.reimaging()
        made.repeated = True
        self.cell.volume.volumes[self.volume] = 'uploading'
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.assertEqual([], self.cell.volume.written)
        self.cell.volume.volumes[self.volume] = 'reserved'
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.assertEqual([(self.volume, NEW)], self.cell.volume.written)

    def test_a_volume_that_is_written_for_ever_is_given_up(self):
        made = self.reimaging()
        made.reimage()
        self.cell.volume.volumes[self.volume] = 'downloading'
        self.assertIsInstance(made.reimage(), saga.Pending)
        made.data[rebuild.SINCE] -= made.world.conf.reimage_timeout_per_gb + 1
        error = self.assertRaises(exception.VolumeNotUsable, made.reimage)
        self.assertIn("still 'downloading'", str(error))

    def test_a_volume_that_an_earlier_rebuild_left_in_error(self):
        """It takes no other attachment, and has one that connects no host."""
        self.left(self.rebuild(), rebuild.REIMAGE)
        kept = self.device().attachment_id
        self.cell.volume.volumes[self.volume] = 'error'
        made = self.rebuild()
        steps = {step.id: step for step in made.steps()}
        self.do(made, [steps[name] for name in (shelving.BEGIN, shelving.RESERVE)])
        self.assertNotIn(shelving.RESERVE, made.data)
        self.assertEqual({kept: None}, self.attachments())

    def test_a_volume_in_error_is_written_again(self):
        made = self.reimaging()
        made.reimage()
        self.cell.volume.volumes[self.volume] = 'error'
        self.assertRaises(exception.VolumeNotUsable, made.reimage)
        self.assertIsInstance(made.reimage(), saga.Pending)
        self.assertEqual(2, len(self.cell.volume.written))

    def left(self, made, step):
        names = [each.id for each in made.steps()]
        self.play(made, made.steps()[: names.index(step)])
        failure = {'type': 'X', 'message': 'no', 'kind': 'internal', 'traceback': 't'}
        made.data['_left'] = {step: failure}
        self.play(made, made.steps()[names.index(step) + 1 :])
        self.assertEqual(('error', None, HOST), self.cell.state(self.server))

    def test_a_volume_that_is_left_is_reserved(self):
        made = self.rebuild()
        self.left(made, rebuild.REIMAGE)
        ((_former, new),) = made.data[shelving.RESERVE].values()
        self.assertEqual({new: None}, self.attachments())
        self.assertEqual((new, None), (self.device().attachment_id, self.device().connection_info))
        self.assertNotIn(self.server, self.cell.guests())
        # It can be rebuilt once more.
        self.play(super().rebuild(image=None))
        self.assertEqual(('active', None, HOST), self.cell.state(self.server))
        self.assertEqual({new: HOST}, self.attachments())

    def test_a_guest_that_stays_keeps_its_volume(self):
        former = self.device().attachment_id
        self.left(self.rebuild(), rebuild.DESTROY)
        self.assertEqual({former: HOST}, self.attachments())
        self.assertEqual(former, self.device().attachment_id)
        self.assertEqual([], self.cell.volume.written)

    def test_the_duty_of_attachments_that_were_not_dropped(self):
        """It ends those that the server does not have in the end."""
        self.world.cells.of_instance = lambda uuid: self.cell
        for undropped, ends_former in (((rebuild.DESTROY,), False), ((), True)):
            made = self.rebuild()
            self.play(made, self.before_pivot(made.steps()))
            ((former, new),) = made.data[shelving.RESERVE].values()
            failure = {'type': 'X', 'message': 'no', 'kind': 'internal', 'traceback': 't'}
            made.data['_left'] = dict.fromkeys((*undropped, rebuild.DROP), failure)
            made.complete()
            (step,) = [each for each in made.steps() if each.id == rebuild.DROP]
            step.clean.do()
            kept = new if ends_former else former
            self.assertEqual({kept}, set(self.attachments()))
            self.assertEqual(kept, self.device().attachment_id)
            self.change(vm_state='active')

    def test_deleted_after_the_volume_was_reserved(self):
        made = self.rebuild()
        self.play(made, made.steps()[:6])
        self.cell.delete(self.server)
        self.cell.run_dry()
        self.play(made, moves_base.after(made, rebuild.MAKE))
        self.assertEqual({}, self.attachments())
        self.assertNotIn(self.server, self.cell.guests())
