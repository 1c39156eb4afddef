"""Plans for the servers of a host that is to be emptied."""

import testtools

from nova_lite.lab.maintenance import plan

LIVE, COLD, STAYS, FOLLOW = plan.How.LIVE, plan.How.COLD, plan.How.STAYS, plan.How.FOLLOW


def server(state='active', task=None, **more):
    return {
        'id': 'u',
        'name': 's',
        'status': 'SOME',
        'OS-EXT-STS:vm_state': state,
        'OS-EXT-STS:task_state': task,
        'OS-SRV-USG:launched_at': '2026-11-25T02:00:00.000000',
        **more,
    }


class DrainTest(testtools.TestCase):
    def how(self, *args, **options):
        found = plan.drain(server(*args), **options)
        return found.how, found.cold_instead

    def test_live_where_it_runs_and_cold_where_it_is_off(self):
        self.assertEqual((LIVE, True), self.how('active'))
        self.assertEqual((LIVE, False), self.how('paused'))
        self.assertEqual((COLD, False), self.how('stopped'))

    def test_only_one_kind(self):
        self.assertEqual((LIVE, False), self.how('active', cold=False))
        self.assertEqual((STAYS, False), self.how('stopped', cold=False))
        self.assertEqual((COLD, False), self.how('active', live=False))
        self.assertEqual((STAYS, False), self.how('paused', live=False))

    def test_what_stays_has_a_reason(self):
        for expected, found in (
            ('locked', server(locked=True)),
            ('locked: keep', server(locked=True, locked_reason='keep')),
            ('busy: rebooting', server(task='rebooting', locked=True)),
            ('in ERROR: reset its state, or delete it', server('error')),
            ('its state is building', server('building')),
        ):
            entry = plan.drain(found)
            self.assertEqual((STAYS, expected), (entry.how, entry.reason))
        for state in plan.HINTS:
            if state != 'paused':
                self.assertTrue(plan.drain(server(str(state))).reason, state)

    def test_a_move_under_way_is_followed(self):
        moving = {'migration_type': 'live-migration', 'status': 'running', 'source_compute': 'h1'}
        self.assertTrue(plan.is_under_way(moving, 'h1'))
        self.assertFalse(plan.is_under_way(moving, 'h2'))
        for status in ('completed', 'error', 'finished', 'done', 'cancelled'):
            self.assertFalse(plan.is_under_way({**moving, 'status': status}, 'h1'), status)
        entry = plan.drain(server(task='migrating', locked=True), moving)
        self.assertEqual((FOLLOW, 'live-migration running'), (entry.how, entry.reason))
        self.assertTrue(entry.is_work)

    def test_what_is_kept_of_those_that_left(self):
        cold, resize = {'migration_type': 'migration'}, {'migration_type': 'resize'}
        self.assertEqual(plan.How.WAITS, plan.kept(server(), cold).how)
        self.assertEqual(plan.How.CONFIRM, plan.kept(server(), cold, confirm=True).how)
        # A resize is its user's to confirm.
        self.assertEqual(plan.How.WAITS, plan.kept(server(), resize, confirm=True).how)


class EvacuationTest(testtools.TestCase):
    def test_whatever_the_api_would_evacuate(self):
        for found in (
            server('active'),
            server('stopped'),
            server('error'),
            server('active', 'powering-off'),
            server('active', locked=True),
        ):
            self.assertEqual(plan.How.EVACUATE, plan.evacuation(found).how, found)
        for state in ('paused', 'suspended', 'rescued', 'resized', 'shelved', 'building'):
            entry = plan.evacuation(server(state))
            self.assertEqual(STAYS, entry.how)
            self.assertTrue(entry.reason)

    def test_one_whose_build_failed_stays(self):
        """The API refuses to evacuate it."""
        entry = plan.evacuation(server('error', **{'OS-SRV-USG:launched_at': None}))
        self.assertEqual((STAYS, 'never launched: delete it'), (entry.how, entry.reason))

    def test_one_under_way_is_followed(self):
        moving = {'migration_type': 'evacuation', 'status': 'accepted'}
        self.assertEqual(FOLLOW, plan.evacuation(server('active', 'rebuilding'), moving).how)
        # What the dead host was doing comes to nothing.
        moving['migration_type'] = 'live-migration'
        found = plan.evacuation(server('active', 'migrating'), moving)
        self.assertEqual(plan.How.EVACUATE, found.how)
