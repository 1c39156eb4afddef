"""The engine's ways other than forward and back: turns, attempts, what is left."""

import fixtures
import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import saga_counts
from nova_lite.db.api import sagas
from nova_lite.saga import engine
from nova_lite.saga import journal
from nova_lite.saga import retries
from nova_lite.saga import run
from tests.fixtures import clock
from tests.fixtures import database
from tests.fixtures import saga_rows

LOST = exception.MessagingTimeout(service='c', reason='no reply', method='m', topic='t')
NO = exception.Conflict(reason='no')


class World:
    """errors: {(step, 'do' or 'undo'): [what to raise or return, ...]}, then success.

    part: of what each step asks for; '' for all of it
    """

    part = ''

    def __init__(self):
        self.errors = {}
        self.log = []
        self.keys = []

    def act(self, made, name, verb):
        self.log.append(f'{verb} {name}')
        self.keys.append(made.key(f'{name}{self.part}'))
        queue = self.errors.get((name, verb), [])
        if not queue:
            return None
        found = queue.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class Journey(saga.Saga):
    """Chooses a way, takes it, decides, tidies up."""

    kind = 'journey'

    def steps(self):
        return (
            self.step('choose'),
            self.step('take'),
            self.step('leave', attempts=3),
            self.step('decide', pivot=True),
            self.step('tidy', attempts=2, best_effort=True),
            self.step('tell'),
        )

    def step(self, name, **options):
        return saga.Step(
            name,
            lambda: self.world.act(self, name, 'do'),
            undo=lambda: self.world.act(self, name, 'undo'),
            **options,
        )

    def go_back(self, step, error):
        if step.id == 'take' and error is NO and len(self.data.get('refused', ())) < 2:
            self.data['refused'] = [*self.data.get('refused', ()), 'this way']
            return 'choose'
        return None


class WaysCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.database = self.useFixture(database.ApiDatabase(threads=16)).database
        self.world = World()
        self.uuid = saga_rows.create(self.database, kind='journey')

    def run_to_end(self):
        """Run, advancing the clock over waits, until the saga has ended."""
        for _attempt in range(50):
            made = engine.Engine(
                sagas.Journal(self.database),
                lambda record: Journey(self.world, record, context.admin()),
                owner='one',
            )
            state = made.run(self.uuid)
            made.stop()
            if state in journal.ENDED:
                return state
            self.clock.advance(31)
        raise AssertionError('the saga did not end')

    def row(self):
        return self.database.read(sagas.get, self.uuid)


class WaysTest(WaysCase):
    def test_turns_back_and_takes_another_way(self):
        self.world.errors['take', 'do'] = [NO]
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(
            ['do choose', 'do take', 'undo take', 'undo choose', 'do choose', 'do take'],
            self.world.log[:6],
        )
        self.assertEqual(['this way'], self.row().data['refused'])

    def test_gives_up_when_no_way_is_left(self):
        self.world.errors['take', 'do'] = [NO, NO, NO]
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(3, self.world.log.count('do choose'))
        self.assertEqual('Conflict: no', self.row().error['message'])

    def test_turn_survives_a_wait(self):
        self.world.errors['take', 'do'] = [NO]
        self.world.errors['take', 'undo'] = [saga.Pending(1.0), LOST]
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(3, self.world.log.count('undo take'))
        self.assertEqual(2, self.world.log.count('do choose'))

    def test_step_of_several_attempts(self):
        self.world.errors['leave', 'do'] = [NO, NO]
        self.assertEqual('done', self.run_to_end())
        keys = [key.partition('/')[2] for key in self.world.keys if 'leave' in key]
        self.assertEqual(['leave', 'leave/1', 'leave/2'], keys)

    def test_attempts_end(self):
        self.world.errors['leave', 'do'] = [NO] * 3
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(3, self.world.log.count('do leave'))

    def test_lost_reply_keeps_the_key(self):
        self.world.errors['leave', 'do'] = [LOST, LOST]
        self.assertEqual('done', self.run_to_end())
        keys = {key.partition('/')[2] for key in self.world.keys if 'leave' in key}
        self.assertEqual({'leave'}, keys)

    def test_step_is_left_after_its_attempts(self):
        self.world.errors['tidy', 'do'] = [NO, NO]
        self.assertEqual('done', self.run_to_end())
        self.assertEqual('Conflict: no', self.row().data['_left']['tidy']['message'])
        self.assertEqual('do tell', self.world.log[-1])

    def test_step_is_left_when_nobody_answers(self):
        self.world.errors['tidy', 'do'] = [LOST] * 20
        self.assertEqual('done', self.run_to_end())
        self.assertEqual(retries.MANY_ATTEMPTS + 1, self.world.log.count('do tidy'))

    def test_pivot_is_asked_for_until_it_answers(self):
        self.world.errors['decide', 'do'] = [LOST] * 20
        self.assertEqual('done', self.run_to_end())

    def test_undo_of_what_was_not_answered_is_of_a_newer_epoch(self):
        self.world.errors['take', 'do'] = [LOST] * 20
        self.assertEqual('undone', self.run_to_end())
        events = self.database.read(sagas.events, self.uuid)
        failed = next(event for event in events if event.what == 'failed')
        undone = next(event for event in events if event.what == 'undone')
        self.assertGreater(undone.epoch, failed.epoch)

    def test_what_had_nothing_to_do_is_not_noted(self):
        self.world.errors['choose', 'do'] = [saga.Skipped()]
        self.world.errors['take', 'do'] = [saga.Skipped(), saga.Skipped()]
        self.world.errors['leave', 'do'] = [LOST, LOST]
        self.assertEqual('done', self.run_to_end())
        noted = [event.step for event in self.database.read(sagas.events, self.uuid)]
        self.assertEqual((1, 3), (self.world.log.count('do choose'), noted.count('leave')))

    def test_undo_waits(self):
        self.world.errors['leave', 'do'] = [NO] * 3
        self.world.errors['take', 'undo'] = [saga.Pending(1.0)]
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual(2, self.world.log.count('undo take'))

    def test_a_wait_is_logged_once_and_counted_where_it_waits(self):
        logger = self.useFixture(fixtures.FakeLogger())
        self.world.errors['take', 'do'] = [saga.Pending(1, 'the host builds'), saga.Pending(1)]
        made = engine.Engine(
            sagas.Journal(self.database),
            lambda record: Journey(self.world, record, context.admin()),
            owner='one',
        )
        for _poll in range(2):
            made.run(self.uuid)
            self.clock.advance(31)
            self.assertEqual(
                [('journey', 'take', 'forward', 'parked', 1)],
                self.database.read(saga_counts.standing),
            )
        made.stop()
        parked = f'Saga {self.uuid} (journey of server {self.row().instance_uuid}) is parked'
        self.assertEqual(1, logger.output.count(parked))
        self.assertIn(f'{parked} at "take": the host builds\n', logger.output)
        self.assertEqual('done', self.run_to_end())
        self.assertEqual([], self.database.read(saga_counts.standing))

    def test_failed_undo_is_remembered(self):
        self.world.errors['leave', 'do'] = [NO] * 3
        self.world.errors['take', 'undo'] = [exception.Conflict(reason='stuck')]
        self.assertEqual('undone', self.run_to_end())
        self.assertEqual('Conflict: stuck', self.row().data['_not_undone']['take']['message'])
        self.assertEqual('undo choose', self.world.log[-1])

    def test_services_that_stay_away_are_one_line_each(self):
        logger = self.useFixture(fixtures.FakeLogger())
        self.world.errors['leave', 'do'] = [NO] * 3
        self.world.errors['take', 'undo'] = [LOST] * 20
        self.assertEqual('undone', self.run_to_end())
        self.assertIn(
            'undo of "take" failed, continuing with the next undo: Timed out', logger.output
        )
        self.assertNotIn('Traceback', logger.output)

    def test_parts_of_a_step_have_another_key_after_it_failed(self):
        self.world.part = '/discard'
        self.world.errors['leave', 'do'] = [NO, NO]
        self.assertEqual('done', self.run_to_end())
        keys = [key.partition('/')[2] for key in self.world.keys if 'leave' in key]
        self.assertEqual(['leave/discard', 'leave/discard/1', 'leave/discard/2'], keys)


class DefectTest(WaysCase):
    """A saga that can go neither forward nor back is tried less and less often, and reported."""

    def setUp(self):
        super().setUp()
        self.logger = self.useFixture(fixtures.FakeLogger())
        self.world.errors['tell', 'do'] = [RuntimeError('a defect')] * 40

    def attempt(self):
        made = engine.Engine(
            sagas.Journal(self.database),
            lambda record: Journey(self.world, record, context.admin()),
            owner='one',
        )
        made.run(self.uuid)
        made.stop()

    def try_often(self, times):
        for _ in range(times):
            self.attempt()
            self.clock.advance(run.LONGEST_DEFECT_PAUSE_S + 1)

    def failing(self):
        return self.database.read(saga_counts.failing)

    def test_its_traceback_is_logged_at_growing_intervals(self):
        self.try_often(16)
        self.assertEqual(16, self.row().attempts)
        self.assertEqual(5, self.logger.output.count('Traceback'))
        self.assertIn('attempt 16; retrying in 600 s', self.logger.output)

    def test_it_is_not_tried_before_its_pause_is_over(self):
        self.try_often(12)
        self.attempt()
        self.clock.advance(run.LONGEST_DEFECT_PAUSE_S - 1)
        self.attempt()
        self.assertEqual(13, self.row().attempts)

    def test_it_is_counted_for_operators(self):
        self.try_often(retries.MANY_ATTEMPTS - 1)
        self.assertEqual([], self.failing())
        self.try_often(1)
        self.assertEqual([('journey', 'tell', 'parked', 1)], self.failing())
        self.world.errors.clear()
        self.try_often(1)
        self.assertEqual(('done', []), (self.row().state, self.failing()))

    def test_pauses_after_any_number_of_attempts(self):
        self.assertEqual([0.5, 1, 2], [run.pause_s(number) for number in range(3)])
        self.assertEqual(30, run.pause_s(5000, LOST))
        self.assertEqual(600, run.pause_s(5000, RuntimeError()))
