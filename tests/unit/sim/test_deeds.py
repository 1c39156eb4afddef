"""What was done to a server is what was asked for, and what was answered."""

import types

import testtools

from tests.sim.oracle import deeds
from tests.sim.oracle import excuses
from tests.sim.workload import ledger

SERVER = {'id': 'uuid', 'status': 'ACTIVE'}


def findings(conflicts=(), **action):
    """What is found of a server with one action."""
    done = {'action': 'stop', 'request_id': 'req-1', 'user_id': 'client', 'message': None, **action}
    book = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
    book.conflicts.update(conflicts)
    caller = types.SimpleNamespace(send=lambda *_args: (200, {'instanceActions': [done]}))
    return list(deeds.Deeds(caller, book).findings(SERVER))


class DeedsTestCase(testtools.TestCase):
    def test_what_a_user_asked_for_is_well(self):
        self.assertEqual([], findings())
        self.assertEqual([], findings(conflicts={'req-2': 'stop'}))

    def test_what_no_user_asked_for(self):
        self.assertEqual(['no user asked for it: uuid stop req-1'], findings(user_id='admin'))

    def test_a_conflict_with_the_request_itself(self):
        found = findings(conflicts={'req-1': 'stop'})
        self.assertEqual(['answered 409, but it was done: uuid stop req-1'], found)

    def test_a_conflict_whose_action_failed(self):
        found = findings(conflicts={'req-1': 'resize'}, action='resize', message='Error')
        self.assertEqual([], found)
