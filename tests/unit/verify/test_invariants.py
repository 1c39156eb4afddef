"""Contradicting fields of records of servers (I9), and usage (I11)."""

import types

import testtools

from nova_lite.saga import cleaning
from nova_lite.verify import invariants
from tests.unit.verify import base


class TransitionsTest(testtools.TestCase):
    def details(self, **columns):
        """Return what is found of a server that is active on a host, but for `columns`."""
        values = {
            'uuid': 'a server',
            'host': 'h',
            'hidden': False,
            'vm_state': 'active',
            'task_state': None,
        }
        row = types.SimpleNamespace(**{**values, **columns})
        cell = types.SimpleNamespace(name='cell1')
        snapshot = types.SimpleNamespace(instances=lambda: [(cell, row)])
        return [finding.detail for finding in invariants.transitions(snapshot)]

    def test_states_are_known(self):
        self.assertEqual([], self.details(task_state='spawning'))
        self.assertEqual(['has the vm state odd'], self.details(vm_state='odd'))
        self.assertEqual(['has the vm state odd'], self.details(vm_state='odd', hidden=True))

    def test_states_that_no_action_leads_to(self):
        odd = 'is active with the task odd, which no action leads to'
        self.assertEqual([odd], self.details(task_state='odd'))
        found = self.details(vm_state='shelved', task_state='rescuing')
        self.assertEqual(['is shelved with the task rescuing, which no action leads to'], found)

    def test_only_hidden_copies_are_active_on_no_host(self):
        self.assertEqual(['is active in cell1 on no host'], self.details(host=None))
        self.assertEqual([], self.details(host=None, hidden=True))


class SoftDeletionsTest(base.VerifyTest):
    def have(self, **columns):
        self.set(**columns)
        return [finding.detail for finding in invariants.soft_deletions(self.snapshot)]

    def test_dates(self):
        self.assertEqual([], self.have(vm_state='active', deleted_at=None))
        self.assertEqual([], self.have(vm_state='soft-delete', deleted_at=1))
        self.assertEqual(
            ['is soft-delete, its date of deletion is None'],
            self.have(vm_state='soft-delete', deleted_at=None),
        )
        self.assertEqual(
            ['is active, its date of deletion is 1'],
            self.have(vm_state='active', deleted_at=1),
        )

    def test_at_work(self):
        self.assertEqual([], self.have(task_state='soft-deleting', deleted_at=1))


class HeldTest(base.VerifyTest):
    def have(self, **columns):
        """Return what is found where an attachment that the server does not use is held."""
        self.snapshot.attachments.append(
            {'id': 'held', 'volume_id': 'v', 'instance': base.SERVER, 'status': 'attached'}
        )
        self.snapshot.sagas = [base.saga(active_for=None, finished_at=base.NOW, **columns)]
        return self.found()

    def test_held_until_the_bound(self):
        held = {cleaning.HELD: {'a step': {'attachments': ['held']}}}
        self.assertEqual([], self.have(state='cleaning', data=held))

    def test_held_by_nobody(self):
        wanted = [f'I5 attachment held: is not used by its server {base.SERVER}']
        self.assertEqual(wanted, self.have(state='undone', data={}))


class QuotaTest(base.VerifyTest):
    """The usage counted for the quota equals that of the servers (I11)."""

    def have(self, *, queued, sagas=(), **columns):
        self.set(**columns)
        self.snapshot.sagas = list(sagas)
        self.snapshot.mappings[base.SERVER].queued_for_delete = queued
        return [each for each in self.found() if each.startswith('I11')]

    def test_what_stays_counts(self):
        self.assertEqual([], self.have(queued=False))
        self.assertEqual(
            ['I11 server a server: exists and does not count in quotas'], self.have(queued=True)
        )

    def test_what_goes_does_not_count(self):
        self.assertEqual([], self.have(queued=True, sagas=[base.saga()]))
        self.assertEqual([], self.have(queued=True, deleted_at=1))
        self.assertEqual([], self.have(queued=True, task_state='deleting', deleted_at=None))

    def test_what_an_audit_is_about_to_mend(self):
        self.assertEqual([], self.have(queued=True, updated_at=base.NOW))

    def test_sizes(self):
        self.assertEqual(
            ['I11 project a project: ram: quota counts 64, there are 128'],
            self.have(queued=False, memory_mb=128),
        )


class DocumentationTest(testtools.TestCase):
    """The documentation lists the checks by their docstrings."""

    def test_each_check_says_which_invariant_it_is_of(self):
        for check in invariants.every():
            self.assertRegex(check.__doc__, r'^I\d+(, I\d+)*: \S', check.__qualname__)
