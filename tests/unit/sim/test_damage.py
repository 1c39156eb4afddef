"""A repair needs a fault that may have broken what it is about."""

import types

import testtools

from tests.sim.oracle import damage
from tests.sim.workload import caller
from tests.sim.world import faults

UUID, OTHER = (f'{number}c1f6ab2-59a2-4ba1-9d0c-a27bd8ab1c1a' for number in (1, 2))


def create(uuid, began):
    call = caller.Call('client', 'create', 'POST', '/servers', began, request_id=f'req-{uuid}')
    call.answer = {'server': {'id': uuid}}
    return call


def stop(uuid, began):
    return caller.Call('client', 'stop', 'POST', f'/servers/{uuid}/action', began, request_id='s')


class DamageTestCase(testtools.TestCase):
    def needs(
        self, calls, *, fate='kill', requests=(), moment=200.0, text=f'Removing guest {UUID}'
    ):
        """Return whether a fault from 100 to 110 may be why something is repaired."""
        fault = faults.Fault('nemesis', fate, '', 'super-1', 100.0, 110.0, requests)
        known = types.SimpleNamespace(injected=[fault])
        return damage.Damage(known, calls).may_need(text, moment)

    def test_the_server_was_there(self):
        self.assertTrue(self.needs([create(UUID, 90)]))
        self.assertTrue(self.needs([create(UUID, 130)]))
        self.assertFalse(self.needs([create(UUID, 150)]))
        self.assertFalse(self.needs([create(UUID, 80)], moment=95.0))

    def test_the_fault_met_its_requests(self):
        calls = [create(UUID, 90), create(OTHER, 90)]
        for requests, expected in (
            ([f'req-{UUID}'], True),
            ([f'req-{OTHER}'], False),
            ([f'req-{OTHER}', f'req-{UUID}'], True),
            # Its owner is not known.
            (['req-of-an-audit'], True),
        ):
            self.assertIs(expected, self.needs(calls, requests=tuple(requests)))

    def test_a_server_that_was_created_with_others(self):
        calls = [create(OTHER, 90), stop(UUID, 190)]
        self.assertTrue(self.needs(calls, requests=(f'req-{OTHER}',)))

    def test_what_is_of_no_known_server(self):
        self.assertTrue(self.needs([create(OTHER, 190)]))
        self.assertTrue(self.needs([], text='Corrected the quota usage'))

    def test_a_delay_breaks_nothing(self):
        self.assertFalse(self.needs([create(UUID, 90)], fate='slow'))

    def test_what_may_leave_something(self):
        for fate, expected in (
            ('kill', True),
            ('late', True),
            ('twice', False),
            ('clock leaps by 30 s', False),
            ('power off', False),
        ):
            fault = faults.Fault('nemesis', fate, '', 'super-1', 100.0, 110.0)
            found = damage.Damage(types.SimpleNamespace(injected=[fault]), [])
            self.assertIs(expected, found.may_leave())
