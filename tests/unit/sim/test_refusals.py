"""A refusal needs a reason: states, quota, what was asked, what was deleted."""

import types

import testtools

from tests.sim.oracle import excuses
from tests.sim.oracle import refusals
from tests.sim.workload import caller
from tests.sim.world import faults

UUID = 'c0ffee00-c0ff-c0ff-c0ff-c0ffee00c0ff'
SERVER = {
    'id': UUID,
    'status': 'ACTIVE',
    'OS-EXT-STS:task_state': None,
    'OS-SRV-USG:launched_at': 'T0',
    'updated': 'T1',
}


def call(what, began=100.0, ended=101.0, *, who='client-0', method='POST', **more):
    url = f'http://api-1.sim/v2.1/servers/{UUID}/action'
    return caller.Call(who, what, method, **{'url': url, 'began': began, 'ended': ended, **more})


def judged(refused, *others, text='no', leaving=(), quota=2, injected=()):
    """Return what is wrong with an answer, and the Refusals that found it."""
    made = refusals.Refusals(excuses.Excuses(types.SimpleNamespace(injected=injected)), quota)
    for each in (*others, refused):
        made.began(each)
    return made.answered(refused, text, leaving=leaving), made


def settled(refused, *others, text='no', before=(), after=(), injected=()):
    """Return what is wrong with a 409. before, after: of the server, if not as SERVER"""
    _wrong, made = judged(refused, *others, text=text, injected=injected)
    shown = {**SERVER, **dict(before)}
    return made.settled(refused.who, shown, {**shown, **dict(after)})


class ConflictTestCase(testtools.TestCase):
    def test_an_action_that_the_status_allows(self):
        self.assertIn('refused in status ACTIVE', settled(call('resize', code=409)))

    def test_states_that_allow_no_action_or_change(self):
        task = {'OS-EXT-STS:task_state': 'deleting'}
        self.assertIsNone(settled(call('resize', code=409), before={'status': 'PAUSED'}))
        self.assertIsNone(settled(call('resize', code=409), before=task))
        self.assertIsNone(settled(call('resize', code=409), after={'updated': 'T2'}))

    def test_a_server_that_has_never_run(self):
        failed = {'status': 'ERROR', 'OS-SRV-USG:launched_at': None}
        self.assertIsNone(settled(call('evacuate', code=409), before=failed))
        self.assertIsNotNone(settled(call('evacuate', code=409), before={'status': 'ERROR'}))

    def test_another_request_at_the_same_time(self):
        refused = call('resize', code=409)
        self.assertIsNone(settled(refused, call('stop', 100.5, who='client-1', code=202)))
        self.assertIsNone(settled(refused, call('stop', 50.0, 90.0, code=0)))
        self.assertIsNotNone(settled(refused, call('stop', 50.0, 90.0, code=202)))

    def test_a_saga_that_the_task_state_does_not_show(self):
        refused, text = call('resize', code=409), f'Conflict: {refusals.BUSY[0]}'
        self.assertIsNone(settled(refused, call('confirm', 50.0, 90.0, code=202), text=text))
        self.assertIsNotNone(settled(refused, call('confirm', 50.0, 90.0, code=409), text=text))
        self.assertIsNotNone(settled(refused, call('stop', 50.0, 90.0, code=202), text=text))

    def test_a_host_that_does_not_report(self):
        """It may have kept a guest, too."""
        refused, off = call('start', code=409), {'before': {'status': 'SHUTOFF'}}
        fault = faults.Fault('nemesis', 'power off', '', 'cell1-host1', 90.0, 130.0)
        for text, injected, excused in (
            ('Service nova-compute of host cell1-host1 is not up.', [fault], True),
            ('Server may still run on host cell1-host1 after a move to it failed.', [fault], True),
            ('Server may still run on host cell1-host1 after a move to it failed.', [], False),
            ('Something else', [fault], False),
        ):
            found = settled(refused, text=text, injected=injected, **off)
            self.assertIs(excused, found is None)

    def test_a_saga_that_met_a_fault(self):
        refused, text = call('confirm', code=409), f'Conflict: {refusals.HELD}'
        fault = faults.Fault('commit', 'busy', 'cell1', 'super-1', 60.0, 60.0, ('req-1',))
        more = {'before': {'status': 'VERIFY_RESIZE'}, 'injected': [fault]}
        for number, code, look in (
            ('1', 202, self.assertIsNone),
            ('1', 503, self.assertIsNone),
            ('1', 409, self.assertIsNotNone),
            ('2', 202, self.assertIsNotNone),
        ):
            resize = call('resize', 50.0, 51.0, code=code, request_id=f'req-{number}')
            look(settled(refused, resize, text=text, **more))
        look(settled(refused, resize, **more))

    def test_a_server_that_is_not_shown_again(self):
        refused = call('resize', code=409)
        wrong, made = judged(refused)
        self.assertIsNone(wrong)
        self.assertTrue(made.is_doubtful('client-0'))
        self.assertIsNone(made.settled('client-0', SERVER, None))
        self.assertFalse(made.is_doubtful('client-0'))


class OthersTestCase(testtools.TestCase):
    def test_what_no_client_gives_a_reason_for(self):
        for code in (401, 405, 413, 429):
            self.assertIn('without a reason', judged(call('stop', code=code))[0])
        self.assertIsNone(judged(call('stop', code=202))[0])

    def test_what_is_asked_wrongly(self):
        text = 'When resizing, instances must change flavor!'
        self.assertIsNone(judged(call('resize', code=400), text=text)[0])
        self.assertIn('without a reason', judged(call('migrate', code=400), text=text)[0])
        aborted, text = call('abort', code=400), 'Cannot abort migration 1 of server 2: it is {}.'
        self.assertIsNone(judged(aborted, text=text.format('completed'))[0])
        self.assertIn('without a reason', judged(aborted, text=text.format('running'))[0])

    def test_a_marker_that_no_client_deleted(self):
        refused, text = call('list', code=400, method='GET'), f'marker [{UUID}] not found'
        self.assertIn('without a reason', judged(refused, text=text)[0])
        self.assertIsNone(judged(refused, text=text, leaving={UUID: True})[0])

    def test_a_quota_that_may_have_been_reached(self):
        first, refused = call('create', code=202), call('create', code=403)
        self.assertIsNotNone(judged(refused, first)[0])
        self.assertIsNone(judged(refused, first, first)[0])
        self.assertIsNone(judged(call('create', code=403, count=2), first)[0])
        self.assertIsNotNone(judged(call('resize', code=403), first, first)[0])

    def test_what_was_deleted_before_does_not_count(self):
        first, refused = call('create', code=202), call('create', code=403)
        deleted = call('delete', 80.0, 90.0, method='DELETE', code=204)
        self.assertIsNotNone(judged(refused, first, first, deleted)[0])
        deleted.ended = 100.5
        self.assertIsNone(judged(refused, first, first, deleted)[0])

    def test_a_server_that_no_client_deleted(self):
        refused, text = call('stop', code=404), f'Instance {UUID} could not be found.'
        self.assertIn('without a reason', judged(refused, text=text)[0])
        self.assertIsNone(judged(refused, text=text, leaving={UUID: True})[0])

    def test_a_port_that_somebody_detached(self):
        refused = call('detach interface', code=404)
        text = f'Instance {UUID} does not have a port with id 1'
        self.assertIn('without a reason', judged(refused, text=text)[0])
        self.assertIsNone(judged(refused, call('detach interface', 50.0, 51.0), text=text)[0])
        self.assertIsNotNone(judged(refused, call('stop', 50.0, 51.0), text=text)[0])
