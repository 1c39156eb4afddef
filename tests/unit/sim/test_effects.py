"""What was acknowledged shows: on record, in the status, in the description."""

import types

import testtools

from tests.sim.oracle import effects
from tests.sim.oracle import excuses
from tests.sim.workload import caller
from tests.sim.workload import ledger

PATH = 'http://api-1.sim/v2.1/servers/uuid'


def _call(request_id, began, ended, *, code=202, path='/action'):
    return caller.Call(
        'client', 'act', 'POST', PATH + path, began, ended, request_id=request_id, code=code
    )


def _action(request_id, action, message=None):
    return {'request_id': request_id, 'action': action, 'message': message}


class EffectsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ledger = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))

    def ask(self, request_id, began, ended):
        self.ledger.answered(_call(request_id, began, ended), '')

    def found(self, *actions, status='ACTIVE', description=None):
        server = {'id': 'uuid', 'status': status, 'description': description}
        return list(effects.Effects(self.ledger).findings(server, actions))

    def test_what_was_accepted_is_on_record(self):
        self.ask('req-1', 1, 2)
        self.assertEqual([], self.found(_action('req-1', 'start')))
        self.assertEqual(['accepted and not on record: uuid act req-1'], self.found())

    def test_the_last_action_shows_whatever_the_clocks_say(self):
        self.ask('req-1', 1, 2)
        self.ask('req-2', 3, 4)
        recorded = [_action('req-1', 'stop'), _action('req-2', 'start')]
        for actions in (recorded, recorded[::-1]):
            self.assertEqual([], self.found(*actions))
            self.assertEqual(
                ['uuid is SHUTOFF after start'], self.found(*actions, status='SHUTOFF')
            )

    def test_what_is_not_certain_is_not_judged(self):
        self.ask('req-1', 1, 2)
        stop = _action('req-1', 'stop')
        for more in (
            {'actions': [_action('req-1', 'stop', message='Error')]},
            {'actions': [stop], 'status': 'ERROR'},
            # Its answer was lost: it is not known when it was accepted.
            {'actions': [stop, _action('req-2', 'start')]},
        ):
            self.assertEqual([], self.found(*more.pop('actions'), **more))
        self.ask('req-2', 1.5, 4)
        self.assertEqual([], self.found(stop, _action('req-2', 'pause')))

    def test_a_description_is_one_that_was_written_last(self):
        for text, began, ended, code in (('a', 1, 2, 200), ('b', 3, 5, 200), ('c', 4, 6, 0)):
            call = _call('req', began, ended, code=code, path='')
            self.ledger.described('uuid', text, call)
        for text in ('b', 'c'):
            self.assertEqual([], self.found(description=text))
        for text in ('a', None):
            self.assertEqual(1, len(self.found(description=text)))
