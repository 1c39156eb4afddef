"""States of sagas in words, and the table of sagas in 80 columns."""

import collections
import contextlib
import datetime
import io
import re

import testtools

from nova_lite import runtime
from nova_lite.lab.timeline import listing
from nova_lite.lab.timeline import saga_states
from nova_lite.moves import resize
from nova_lite.moves.parts import cross_cell
from nova_lite.saga import journal
from nova_lite.saga import step

DEFAULTS = {
    'uuid': '3f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10',
    'kind': 'cross-cell-migrate',
    'active_for': None,
    'instance_uuid': '8f0c7c5e-7f8e-4a55-9f0d-3b1c1f6a2d10',
    'state': journal.PARKED,
    'direction': journal.FORWARD,
    'step': 'copy',
    'waits_on': None,
    'attempts': 0,
    'epoch': 1,
    'owner': None,
    'error': None,
    'data': {},
    'created_at': datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC),
    'finished_at': None,
}
Saga = collections.namedtuple('Saga', DEFAULTS)
Event = collections.namedtuple('Event', 'what detail')
LEFT = {step.LEFT_AS: {'name': 'resize-no-host', 'step': 'copy', 'keeps': []}}
REFUSED = {'type': 'NoValidHost'}
# Rows of (what differs, events, text).
STATES = (
    ({'epoch': 0}, (), 'waits for a super-conductor'),
    ({'state': journal.RUNNING, 'owner': 'top'}, (), 'runs copy'),
    ({'owner': 'top', 'direction': journal.UNDO}, (), 'runs undo of copy'),
    ({'waits_on': 'copy'}, [('waits', 'cell1-host3 works')], 'waits in copy: cell1-host3 works'),
    ({}, [('waits', 'old'), ('retries', 'new'), ('done', '')], 'waits in copy: new'),
    ({}, [('queued', None)], 'waits in copy: queued'),
    ({}, (), 'waits in copy'),
    ({'step': None}, (), 'waits'),
    ({'state': journal.DONE}, (), 'done'),
    ({'state': journal.UNDONE}, (), 'undone'),
    ({'state': journal.UNDONE, 'error': REFUSED}, (), 'undone: NoValidHost'),
    ({'state': journal.UNDONE, 'data': LEFT}, (), 'left as nova'),
    ({'state': journal.UNDONE, 'data': LEFT, 'error': REFUSED}, (), 'left as nova: NoValidHost'),
    ({'state': journal.DONE, 'data': LEFT}, (), 'left as nova'),
    (
        {'state': journal.CLEANING, 'direction': journal.UNDO, 'data': LEFT, 'error': REFUSED},
        (),
        'left as nova: NoValidHost, cleans up',
    ),
    ({'state': journal.CLEANING}, (), 'done, cleans up'),
    ({'state': journal.CLEANING, 'direction': journal.UNDO}, (), 'undone, cleans up'),
)
AGES = ((-5, '0s'), (0, '0s'), (119, '119s'), (120, '2m'), (7200, '2h'), (200_000, '2d'))
# What a terminal does not show.
STYLE = re.compile(r'\x1b\[[0-9;]*m')


class Terminal(io.StringIO):
    def isatty(self):
        return True


class SagaStatesTest(testtools.TestCase):
    def test_states(self):
        for different, events, text in STATES:
            saga = Saga(**{**DEFAULTS, **different})
            found = saga_states.text_of(saga, [Event(*each) for each in events])
            self.assertEqual(text, found)

    def test_kinds(self):
        """A move that has chosen a host of its own cell is shown as a move within the cell."""
        chosen, across = {resize.CHOSEN: {}}, [str(cross_cell.SPAWN)]
        for kind, data, crosses, shown in (
            ('cross-cell-migrate', {}, None, 'cross-cell-migrate'),
            ('cross-cell-resize', {**chosen, step.PLAN: {'steps': across}}, True, None),
            ('cross-cell-resize', {**chosen, step.PLAN: {'steps': ['x']}}, False, 'resize'),
            ('cross-cell-migrate', {**chosen, step.PLAN: {'steps': []}}, False, 'migrate'),
            ('live-migration', {**chosen, step.PLAN: {'steps': []}}, None, 'live-migration'),
        ):
            saga = Saga(**{**DEFAULTS, 'kind': kind, 'data': data})
            self.assertEqual(crosses, saga_states.crosses(saga))
            self.assertEqual(shown or kind, saga_states.kind_of(saga))

    def test_ages(self):
        now = DEFAULTS['created_at']
        for seconds, text in AGES:
            since = now - datetime.timedelta(seconds=seconds)
            self.assertEqual(text, saga_states.age(since, now))

    def test_it_fits_a_terminal(self):
        """The widest kind, a long name and a long state take further lines, not columns."""
        shown = {
            **DEFAULTS,
            'crosses': True,
            'server': 'a-server-with-a-long-name',
            'status': 'waits in claim-on-destination: cell1-host3 works',
            'created_at': runtime.now().isoformat(),
        }
        out = Terminal()
        with contextlib.redirect_stdout(out):
            listing._show_list([shown] * 3)
        lines = STYLE.sub('', out.getvalue()).splitlines()
        self.assertLessEqual(max(map(len, lines)), 80, out.getvalue())
        self.assertIn('3f0c7c5e', lines[3])
