"""Effects of acknowledged actions: on record, in the status, in devices and labels."""

import types

import testtools

from tests.sim.oracle import effects
from tests.sim.oracle import excuses
from tests.sim.oracle import outcomes
from tests.sim.workload import caller
from tests.sim.workload import ledger

PATH = 'http://api-1.sim/v2.1/servers/uuid'


def _call(request_id, began, ended, *, code=202, path='/action', method='POST', **more):
    return caller.Call(
        'client', 'act', method, PATH + path, began, ended, request_id=request_id, code=code, **more
    )


def _answers(answers):
    """A caller that is answered so. answers: {path: decoded answer}"""
    return types.SimpleNamespace(send=lambda _what, _method, path: (200, answers[path]))


def _action(request_id, action, message=None):
    return {'request_id': request_id, 'action': action, 'message': message}


class EffectsTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ledger = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))

    def ask(self, request_id, began, ended, **more):
        made = {'body': {'action': None}, **more}
        self.ledger.answered(_call(request_id, began, ended, **made), '')

    def found(self, *actions, status='ACTIVE', answers=(), **more):
        server = {'id': 'uuid', 'status': status, **more}
        checked = effects.Effects(self.ledger, _answers(dict(answers)))
        return list(checked.findings(server, actions))

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

    def test_a_move_ends_on_the_host_that_was_named(self):
        self.ask('req-1', 1, 2, body={'os-migrateLive': {'host': 'host2'}})
        move = _action('req-1', 'live-migration')
        self.assertEqual([], self.found(move, **{outcomes.HOST: 'host2'}))
        found = self.found(move, **{outcomes.HOST: 'host1'})
        self.assertEqual(['uuid is on host1 after live-migration to host2'], found)
        # It was forced, which its message says.
        move = _action('req-1', 'live-migration', message='Forced to host host2.')
        self.assertEqual(1, len(self.found(move, **{outcomes.HOST: 'host1'})))
        # It was aborted, or ended before.
        self.ask('req-2', 3, 4, path='/migrations/1', method='DELETE')
        cancel = _action('req-2', 'live_migration_cancel')
        self.assertEqual([], self.found(move, cancel, **{outcomes.HOST: 'host1'}))

    def test_a_resize_gives_the_flavor_and_leaves_the_power(self):
        flavors = {'/flavors?is_public=None': {'flavors': [{'id': '2', 'name': 'small'}]}}
        self.ask('req-1', 1, 2)
        self.ask('req-2', 3, 4, body={'resize': {'flavorRef': '2'}})
        self.ask('req-3', 5, 6)
        actions = [
            _action('req-1', 'stop'),
            _action('req-2', 'resize'),
            _action('req-3', 'confirmResize'),
        ]
        small, tiny = ({'original_name': name} for name in ('small', 'tiny'))
        for status, flavor, expected in (
            ('SHUTOFF', small, []),
            ('ACTIVE', small, ['uuid is ACTIVE after confirmResize']),
            ('SHUTOFF', tiny, [f'uuid has the flavor {tiny}, not small']),
        ):
            found = self.found(*actions, status=status, flavor=flavor, answers=flavors)
            self.assertEqual(expected, found)

    def test_a_cold_move_leaves_the_power(self):
        shown = {'id': 'uuid', effects.TASK: None, 'status': 'SHUTOFF'}
        look = caller.Look(shown, 0.5)
        self.ask('req-1', 1, 2, look=look, body={'migrate': None})
        move, moved = _action('req-1', 'migrate'), {'status': 'VERIFY_RESIZE'}
        self.assertEqual([], self.found(move, **moved, **{effects.POWER: 4}))
        found = self.found(move, **moved, **{effects.POWER: 1})
        self.assertEqual(['uuid is VERIFY_RESIZE with power state 1, and was SHUTOFF'], found)
        self.ask('req-2', 3, 4)
        confirm = _action('req-2', 'confirmResize')
        self.assertEqual([], self.found(move, confirm, status='SHUTOFF'))
        self.assertEqual(['uuid is ACTIVE after confirmResize'], self.found(move, confirm))
        # Another request was accepted between the look and the move.
        self.ask('req-0', 0.3, 0.6)
        self.assertEqual([], self.found(_action('req-0', 'start'), move, confirm))
        # It was not at rest.
        self.ledger.promised['uuid'].pop('req-0')
        shown[effects.TASK] = 'powering-on'
        self.assertEqual([], self.found(move, confirm))

    def test_a_rebuilt_server_has_the_image(self):
        self.ask('req-1', 1, 2, body={'rebuild': {'imageRef': 'new'}})
        rebuild = _action('req-1', 'rebuild')
        for image, number in (({'id': 'new'}, 0), ({'id': 'old'}, 1), ('', 0)):
            self.assertEqual(number, len(self.found(rebuild, image=image)))

    def test_devices_are_attached_or_not_as_was_asked_last(self):
        path = '/os-volume_attachments'
        sent = {'body': {'volumeAttachment': {'volumeId': 'new'}}, 'code': 200}
        answered = {'volumeAttachment': {'volumeId': 'old'}}
        self.ask('req-1', 1, 2, path=path, answer=answered, code=200)
        self.ask('req-2', 3, 4, path=f'{path}/old', method='PUT', **sent)
        actions = [_action('req-1', 'attach_volume'), _action('req-2', 'swap_volume')]
        for there, expected in (
            (['old'], []),
            (['new'], ['not attached: old of uuid', 'still attached: new of uuid']),
        ):
            shown = {'volumeAttachments': [{'volumeId': each} for each in there]}
            answers = {f'/servers/uuid{path}': shown}
            self.assertEqual(expected, self.found(*actions, answers=answers))
            # The answer to another request about devices was lost.
            lost = _action('req-3', 'detach_volume')
            self.assertEqual([], self.found(*actions, lost, answers=answers))
