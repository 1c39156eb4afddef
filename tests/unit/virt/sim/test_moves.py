"""Cold and live moves between hosts whose files share nothing."""

import os

from nova_lite import states
from nova_lite.virt import model
from tests.unit.virt.sim import base

Power = states.PowerState
Role = model.Role
# 2 GiB at 256 MB/s: 8 s, then 2, 0.5 and 0.125 s: handed over after 10.625 s.
COPY = """
extends: instant
hosts:
  - live_migration: {bandwidth_mb_s: 256, dirty_rate_mb_s: 64, disk_fill: 0%s}
"""


class MoveTestCase(base.SimTestCase):
    def setUp(self):
        super().setUp()
        self.prepare()

    def prepare(self, text='extends: instant'):
        self.source = self.hosts(text, name='source')
        self.dest = self.hosts(text, name='dest')

    def roles(self):
        """Return what each side has of the guest."""
        return tuple(
            sorted(str(guest.role) for guest in made.list_guests('n1'))
            for made in (self.source, self.dest)
        )


class ColdMoveTests(MoveTestCase):
    def setUp(self):
        super().setUp()
        self.source.spawn('n1', base.guest_spec(), key='k')
        self.bigger = base.guest_spec(flavor='m1.large', memory_mb=8192)

    def leave(self):
        return self.assertDone(self.source.migrate_out('n1', base.GUEST, base.MOVE, key='m'))[
            'handover'
        ]

    def test_there_and_confirmed(self):
        given = self.leave()
        self.assertEqual(({}, Power.RUNNING), (self.running(), given['power_state']))
        self.assertDone(
            self.dest.finish_migration('n1', self.bigger, given, key='m', power_on=True)
        )
        self.assertEqual((['departed'], ['resident']), self.roles())
        self.assertEqual(8192, self.dest.get_guest('n1', base.GUEST).spec.memory_mb)
        for key, dropped in (('a', True), ('b', False)):
            job = self.source.confirm_migration('n1', base.GUEST, base.MOVE, key=key)
            self.assertEqual({'dropped': dropped}, self.assertDone(job))
        self.assertEqual(([], ['resident']), self.roles())

    def test_disks_are_copied_from_another_node(self):
        self.prepare(COPY % '.5')  # the half of 20 GiB, at 256 MB/s
        self.source.spawn('n1', base.guest_spec(), key='k')
        given = self.leave()
        for host, seconds in (('n1', 0), ('n2', 40)):
            finish = {'key': host, 'power_on': True}
            job = self.dest.finish_migration(host, base.guest_spec(), given, **finish)
            self.assertEqual(seconds, job.ready_in)

    def test_there_and_back(self):
        self.dest.finish_migration('n1', self.bigger, self.leave(), key='m', power_on=False)
        self.assertEqual(Power.SHUTDOWN, self.dest.get_guest('n1', base.GUEST).power_state)
        self.dest.destroy('n1', base.GUEST, key='r')
        for key in ('a', 'b'):
            self.assertDone(
                self.source.revert_migration('n1', base.GUEST, base.MOVE, key=key, power_on=True)
            )
        self.assertEqual((['resident'], []), self.roles())
        self.assertEqual(2048, self.source.get_guest('n1', base.GUEST).spec.memory_mb)

    def test_the_destination_wants_proof(self):
        for wrong in ({}, {**self.leave(), 'guest': 'other'}, {**self.leave(), 'kind': 'live'}):
            self.assertFailed(
                'InvalidHandover',
                self.dest.finish_migration('n1', self.bigger, wrong, key=str(wrong), power_on=True),
            )
        self.assertEqual((['departed'], []), self.roles())

    def test_the_departed_guest_does_not_start(self):
        self.leave()
        for action in (model.PowerAction.ON, model.PowerAction.HARD_REBOOT):
            job = self.source.change_power(
                'n1', base.GUEST, action, key='k', spec=base.guest_spec()
            )
            self.assertEqual(model.JobState.FAILED, job.state)
        self.assertFailed(
            'GuestNotFound',
            self.source.revert_migration('n1', base.GUEST, 'another move', key='r', power_on=True),
        )
        self.assertFalse(
            self.source.confirm_migration('n1', base.GUEST, 'another move', key='c').result[
                'dropped'
            ]
        )
        self.source.destroy('n1', base.GUEST, key='d')
        self.assertEqual((['departed'], []), self.roles())

    def test_on_one_host(self):
        given = self.leave()
        self.source.finish_migration('n1', self.bigger, given, key='m', power_on=True)
        self.assertEqual((['departed', 'resident'], []), self.roles())
        self.assertFailed(
            'GuestExists',
            self.source.revert_migration('n1', base.GUEST, base.MOVE, key='r', power_on=True),
        )
        self.source.destroy('n1', base.GUEST, key='d')
        self.assertDone(
            self.source.revert_migration('n1', base.GUEST, base.MOVE, key='r2', power_on=True)
        )
        self.assertEqual({base.GUEST: 'n1'}, self.running())

    def test_a_half_made_destination_may_be_tried_again(self):
        self.prepare(
            'extends: instant\nfailures: [{verb: finish_migration, when: during, first: 1}'
            ', {verb: migrate_out, when: during, first: 1}]'
        )
        self.assertFailed(
            'DriverError', self.source.migrate_out('n1', base.GUEST, base.MOVE, key='a')
        )
        self.assertEqual(Power.SHUTDOWN, self.source.get_guest('n1', base.GUEST).power_state)
        given = self.leave()
        self.assertFailed(
            'DriverError',
            self.dest.finish_migration('n1', self.bigger, given, key='a', power_on=True),
        )
        self.assertDone(
            self.dest.finish_migration('n1', self.bigger, given, key='b', power_on=True)
        )
        self.assertEqual({base.GUEST: 'n1'}, self.running())


class LiveMoveTestCase(MoveTestCase):
    def begin(self, text=COPY % '', spec=None):
        """A guest on the source whose copy to the destination has begun."""
        self.prepare(text)
        spec = spec or base.guest_spec()
        self.source.spawn('n1', spec, key='k')
        self.ticket = self.assertDone(self.dest.pre_live_migration('n1', spec, base.MOVE, key='p'))[
            'ticket'
        ]
        self.copy = self.source.live_migrate(
            'n1', base.GUEST, base.MOVE, key='l', ticket=self.ticket
        )
        return self.copy

    def look(self):
        return self.source.poll(self.copy.id)

    def force(self, key='f'):
        return self.source.force_complete_live_migration('n1', base.GUEST, base.MOVE, key=key)

    def abort(self, key='a'):
        return self.source.abort_live_migration('n1', base.GUEST, base.MOVE, key=key)

    def arrive(self, given, key='post'):
        return self.dest.post_live_migration('n1', base.GUEST, given, key=key)


class LiveMoveTests(LiveMoveTestCase):
    def test_from_one_host_to_the_other(self):
        self.begin()
        self.assertEqual(1.0, self.copy.ready_in)
        self.clock.advance(9)
        job = self.look()
        self.assertEqual(('memory', 2), (job.result['phase'], job.result['iteration']))
        self.assertEqual((['resident'], ['incoming']), self.roles())
        self.assertEqual(1, len(self.running()))
        self.clock.advance(2)
        given = self.assertDone(self.look())['handover']
        self.assertEqual((['departed'], ['incoming']), self.roles())
        self.assertEqual({}, self.running())
        for key in ('a', 'b'):
            self.assertEqual(
                {'power_state': Power.RUNNING}, self.assertDone(self.arrive(given, key))
            )
        self.assertEqual(1, len(self.running()))
        self.assertDone(self.source.confirm_migration('n1', base.GUEST, base.MOVE, key='c'))
        self.assertEqual(([], ['resident']), self.roles())
        # Its time since boot goes on, less what passed until it arrived.
        self.assertEqual(10, self.dest.get_diagnostics('n1', base.GUEST)['uptime'])

    def test_at_once_with_the_instant_profile(self):
        self.assertIn('handover', self.assertDone(self.begin('extends: instant')))

    def test_a_paused_guest_stays_paused_and_needs_one_round(self):
        self.prepare(COPY % '')
        self.source.spawn('n1', base.guest_spec(), key='k')
        self.source.change_power('n1', base.GUEST, model.PowerAction.PAUSE, key='k')
        ticket = self.dest.pre_live_migration('n1', base.guest_spec(), base.MOVE, key='p').result[
            'ticket'
        ]
        job = self.source.live_migrate('n1', base.GUEST, base.MOVE, key='l', ticket=ticket)
        self.clock.advance(8)
        given = self.assertDone(self.source.poll(job.id))['handover']
        self.arrive(given)
        self.assertEqual(Power.PAUSED, self.dest.get_guest('n1', base.GUEST).power_state)

    def test_disks_are_copied_when_asked(self):
        self.begin(COPY % '.1', base.guest_spec(disk_gb=10))
        self.assertEqual(1024 * 1024**2, self.copy.result['disk_total'])
        self.clock.advance(3)
        self.assertEqual('disk', self.look().result['phase'])

    def test_the_destination_wants_the_ticket_it_gave(self):
        self.begin()
        self.clock.advance(20)
        given = self.look().result['handover']
        self.assertFailed('GuestNotFound', self.arrive({**given, 'ticket': 'x'}, 'a'))
        self.assertFailed('InvalidHandover', self.arrive({**given, 'kind': 'cold'}, 'b'))
        self.dest.rollback_live_migration('n1', base.GUEST, base.MOVE, key='r')
        self.assertFailed('GuestNotFound', self.arrive(given, 'c'))
        # The destination lost it: the source boots it from its disks.
        self.assertDone(
            self.source.revert_migration('n1', base.GUEST, base.MOVE, key='v', power_on=True)
        )
        self.assertEqual((['resident'], []), self.roles())

    def test_a_guest_that_arrived_and_cannot_be_started_is_kept_off(self):
        self.begin('extends: instant')
        self.dest.rollback_live_migration('n1', base.GUEST, base.MOVE, key='r', arrived=True)
        self.arrive(self.copy.result['handover'])
        self.assertEqual((['departed'], ['resident'], {}), (*self.roles(), self.running()))

    def test_a_late_rollback_does_no_harm(self):
        self.begin('extends: instant')
        self.arrive(self.copy.result['handover'])
        job = self.dest.rollback_live_migration('n1', base.GUEST, base.MOVE, key='r')
        self.assertEqual({'dropped': False}, self.assertDone(job))
        self.assertEqual(1, len(self.running()))

    def test_a_guest_that_moves_is_busy_but_may_be_destroyed(self):
        self.begin()
        self.assertFailed('GuestBusy', self.source.snapshot('n1', base.GUEST, key='s'))
        self.assertDone(self.source.destroy('n1', base.GUEST, key='d'))
        self.assertFailed('Interrupted', self.look())

    def test_a_copy_begins_after_what_was_asked_of_it(self):
        """A slow request to force it was first. It finds a copy, and forces it."""
        self.prepare(
            'extends: instant\nhosts:\n  - live_migration: {bandwidth_mb_s: 256, dirty_rate_mb_s: 512}'
            '\n    delays: {force_complete_live_migration: 5}'
        )
        self.source.spawn('n1', base.guest_spec(), key='k')
        forced = self.force()
        self.assertEqual(model.JobState.RUNNING, forced.state)
        self.ticket = self.assertDone(
            self.dest.pre_live_migration('n1', base.guest_spec(), base.MOVE, key='p')
        )['ticket']
        self.copy = self.source.live_migrate(
            'n1', base.GUEST, base.MOVE, key='l', ticket=self.ticket
        )
        self.assertEqual(model.JobState.RUNNING, self.copy.state)
        self.clock.advance(60)
        self.assertDone(self.source.poll(forced.id))
        self.assertIn('handover', self.assertDone(self.look()))

    def test_what_cannot_begin(self):
        self.prepare()
        self.source.spawn('n1', base.guest_spec(), key='k', power_on=False)
        ticket = {'guest': base.GUEST, 'move': base.MOVE, 'id': 't'}
        self.assertFailed(
            'InstanceInvalidState',
            self.source.live_migrate('n1', base.GUEST, base.MOVE, key='a', ticket=ticket),
        )
        self.source.change_power('n1', base.GUEST, model.PowerAction.ON, key='k')
        self.assertFailed(
            'InvalidTicket',
            self.source.live_migrate('n1', base.GUEST, 'other', key='b', ticket=ticket),
        )
        self.assertFailed(
            'GuestExists',
            self.source.pre_live_migration('n1', base.guest_spec(), base.MOVE, key='c'),
        )

    def test_checks(self):
        made = self.hosts(
            """
extends: instant
hosts:
  - {match: old, hypervisor: {version: 1}}
  - {match: arm, architecture: aarch64}
  - {match: plain, without_traits: [HW_CPU_X86_AVX2]}
  - {match: xen, hypervisor: {type: Xen}}
""",
            nodes=('n1', 'n2', 'old', 'arm', 'plain', 'xen'),
        )
        facts = {node: made.get_facts(node) for node in made.list_nodes()}

        def check(source, dest):
            return made.check_live_migration(
                dest,
                base.guest_spec(),
                source=facts[source],
                dest=facts[dest],
                key=f'{source}-{dest}',
            )

        for source, dest, error_class in (
            ('n1', 'n1', 'UnableToMigrateToSelf'),
            ('n1', 'arm', 'InvalidCPUInfo'),
            ('n1', 'old', 'DestinationHypervisorTooOld'),
            ('n1', 'plain', 'InvalidCPUInfo'),
            ('n1', 'xen', 'InvalidHypervisorType'),
        ):
            self.assertFailed(error_class, check(source, dest))
        for source, dest in (('n1', 'n2'), ('old', 'n1'), ('plain', 'n1')):
            self.assertEqual({'block_migration': True}, self.assertDone(check(source, dest)))


class LiveMoveEndTests(LiveMoveTestCase):
    NEVER = COPY % ', converges: false'
    POST_COPY = COPY % ', converges: false, post_copy: true'

    def test_abort_leaves_the_guest_where_it_is(self):
        self.begin(self.NEVER)
        self.clock.advance(1000)
        self.assertEqual(model.JobState.RUNNING, self.look().state)
        self.assertDone(self.abort())
        stood = self.assertFailed('MigrationAborted', self.look())
        self.assertEqual(1000, stood['elapsed'])
        self.dest.rollback_live_migration('n1', base.GUEST, base.MOVE, key='r')
        self.assertEqual((['resident'], []), self.roles())
        self.assertEqual(1, len(self.running()))
        self.assertEqual({'aborted': False}, self.assertDone(self.abort('b')))
        self.assertFailed(
            'MoveEnded',
            self.source.live_migrate('n1', base.GUEST, base.MOVE, key='late', ticket=self.ticket),
        )

    def test_abort_against_completion_has_one_winner(self):
        slow = COPY % '' + '    delays: {abort_live_migration: 3}\n'
        self.begin(slow)
        self.clock.advance(9)
        late = self.abort()
        self.clock.advance(10)
        self.assertFailed('AbortRefused', self.source.poll(late.id))
        self.assertIn('handover', self.assertDone(self.look()))

    def test_force_complete_pauses(self):
        self.begin(self.NEVER)
        self.clock.advance(12)
        self.assertEqual({'mode': 'pause'}, self.assertDone(self.force()))
        self.assertEqual('paused', self.look().result['phase'])
        # Half of a round is left, and as much was written meanwhile.
        self.clock.advance(7.9)
        self.assertEqual(model.JobState.RUNNING, self.look().state)
        self.clock.advance(0.2)
        self.assertIn('handover', self.assertDone(self.look()))
        self.assertFailed('MigrationNotRunning', self.force('g'))

    def test_post_copy_runs_at_the_destination_before_the_end(self):
        self.begin(self.POST_COPY)
        self.clock.advance(12)
        self.assertEqual({'mode': 'post-copy'}, self.assertDone(self.force()))
        job = self.look()
        self.assertEqual((model.JobState.RUNNING, 'post-copy'), (job.state, job.result['phase']))
        self.assertFailed('AbortRefused', self.abort())
        self.assertDone(self.arrive(job.result['handover']))
        self.assertEqual(1, len(self.running()))
        self.clock.advance(8)
        self.assertDone(self.look())

    def test_a_restart_changes_nothing(self):
        self.begin(self.NEVER)
        self.clock.advance(5)
        before = self.look()
        self.source.close()
        self.source = self.hosts(name='source')
        self.assertEqual(before, self.look())
        again = self.source.live_migrate('n1', base.GUEST, base.MOVE, key='l', ticket=self.ticket)
        self.assertEqual(before, again)

    def test_failures(self):
        for when, roles in (
            ('before', (['resident'], ['incoming'])),
            ('during', (['resident'], ['incoming'])),
            ('after', (['departed'], ['incoming'])),
        ):
            self.folder = self.path(when)
            os.makedirs(self.folder)
            self.begin(COPY % '' + f'failures: [{{verb: live_migrate, when: {when}}}]')
            self.clock.advance(11)
            stood = self.assertFailed('DriverError', self.look())
            self.assertEqual(when == 'after', 'handover' in stood)
            self.assertEqual(roles, self.roles())

    def test_a_failure_during_an_endless_copy(self):
        self.begin(self.NEVER + 'failures: [{verb: live_migrate, when: during}]')
        self.clock.advance(4)
        self.assertFailed('DriverError', self.look())
        self.assertEqual(1, len(self.running()))
