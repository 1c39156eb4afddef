"""Findings explained by a failure that was left as in nova."""

import datetime

from nova_lite import states
from nova_lite.saga import step
from nova_lite.states import nova_failures
from nova_lite.verify import findings
from nova_lite.verify import left_failures
from tests.unit.verify import base

SERVER = f'server {base.SERVER}'
GUEST = findings.Finding('I5', f'guest {base.SERVER}', 'is on a node without a record')
HELD = findings.Finding('I4', f'consumer {base.SERVER}', 'holds too much')


class LeftFailuresTest(base.VerifyTest):
    def explain(self, name, *found, **columns):
        """Return (findings, explained) of a server that has failed as a row says."""
        left = {'name': name, 'step': 'a-step', 'keeps': []}
        data = {} if name is None else {step.LEFT_AS: left}
        self.snapshot.sagas = [base.saga(data=data, arguments={}, active_for=None)]
        vars(self.snapshot.cells[0].instances[0]).update(columns)
        return left_failures.explain(self.snapshot, found)

    def test_objects_of_the_row(self):
        name = 'resize-on-destination'
        others = [
            findings.Finding('I5', 'guest another', 'is on a node without a record'),
            findings.Finding('I3', SERVER, 'runs on two hosts'),
            findings.Finding('I5', f'port of {SERVER}', 'is bound elsewhere'),
        ]
        kept, explained = self.explain(name, GUEST, HELD, *others)
        self.assertEqual((others, [GUEST, HELD]), (kept, explained))

    def test_objects_of_a_deleted_server(self):
        self.snapshot.cells[0].instances = []
        left = {'name': 'resize-on-destination', 'step': 'a-step', 'keeps': []}
        self.snapshot.sagas = [base.saga(data={step.LEFT_AS: left}, arguments={}, active_for=None)]
        self.assertEqual(([], [GUEST]), left_failures.explain(self.snapshot, [GUEST]))

    def test_another_saga_since(self):
        left = {'name': 'resize-on-destination', 'step': 'a-step', 'keeps': []}
        failed = base.saga(data={step.LEFT_AS: left}, arguments={}, active_for=None)
        later = base.NOW + datetime.timedelta(minutes=1)
        self.snapshot.sagas = [
            base.saga(uuid='another', created_at=later, arguments={}, active_for=None),
            failed,
        ]
        self.assertEqual(([GUEST], []), left_failures.explain(self.snapshot, [GUEST]))

    def test_nothing_without_a_failure(self):
        self.assertEqual(([GUEST], []), self.explain(None, GUEST))
        self.assertEqual(([GUEST], []), self.explain('of another release', GUEST))

    def test_the_states_that_are_left(self):
        kept, explained = self.explain('resize-on-source', vm_state=states.VmState.ERROR)
        self.assertEqual([], kept)
        self.assertEqual([SERVER], [each.what for each in explained])
        self.assertIn(nova_failures.BY_NAME['resize-on-source'].title, explained[0].detail)
        self.assertEqual(([], []), self.explain('rebuild-on-lost-host', task_state=None))
        _kept, explained = self.explain('rebuild-on-lost-host', task_state='rebuilding')
        self.assertEqual([SERVER], [each.what for each in explained])
