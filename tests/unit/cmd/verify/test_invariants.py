"""What records of servers may say of themselves (I9)."""

import types

import testtools

from nova_lite.cmd.verify import invariants


class TransitionsTest(testtools.TestCase):
    def details(self, **columns):
        """What is found of a server that is active on a host, but for `columns`."""
        values = {
            'uuid': 'a server',
            'host': 'h',
            'hidden': False,
            'vm_state': 'active',
            'task_state': None,
        }
        row = types.SimpleNamespace(**{**values, **columns})
        cell = types.SimpleNamespace(name='cell1')
        picture = types.SimpleNamespace(instances=lambda: [(cell, row)])
        return [finding.detail for finding in invariants.transitions(picture)]

    def test_states_are_known(self):
        self.assertEqual([], self.details(task_state='spawning'))
        self.assertEqual(['has the vm state odd'], self.details(vm_state='odd'))
        self.assertEqual(['has the task state odd'], self.details(task_state='odd'))
        self.assertEqual(['has the vm state odd'], self.details(vm_state='odd', hidden=True))

    def test_only_hidden_copies_are_active_on_no_host(self):
        self.assertEqual(['is active in cell1 on no host'], self.details(host=None))
        self.assertEqual([], self.details(host=None, hidden=True))
