"""What records of servers may say of themselves (I9)."""

import datetime
import types

import testtools

from nova_lite import runtime
from nova_lite.verify import invariants

NOW = runtime.naive_now()
LONG_AGO = NOW - datetime.timedelta(hours=1)


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


class QuotaTest(testtools.TestCase):
    """What quota counts is what there is (I11)."""

    def findings(self, *, queued, sagas=(), **columns):
        values = {
            'uuid': 'a server',
            'project_id': 'p',
            'task_state': None,
            'deleted_at': None,
            'updated_at': LONG_AGO,
            'vcpus': 1,
            'memory_mb': 64,
        }
        row = types.SimpleNamespace(**{**values, **columns})
        mapping = types.SimpleNamespace(
            queued_for_delete=queued, project_id='p', vcpus=1, memory_mb=64
        )
        picture = types.SimpleNamespace(
            mappings={row.uuid: mapping},
            now=NOW,
            build_requests={},
            sagas=[types.SimpleNamespace(instance_uuid=saga, active_for=saga) for saga in sagas],
            visible=lambda: {row.uuid: [('cell', row)]},
        )
        return [finding.what for finding in invariants.quota(picture)]

    def test_what_stays_counts(self):
        self.assertEqual([], self.findings(queued=False))
        self.assertEqual(['server a server'], self.findings(queued=True))

    def test_what_goes_does_not_count(self):
        self.assertEqual([], self.findings(queued=True, task_state='deleting'))
        self.assertEqual([], self.findings(queued=True, deleted_at=1))
        self.assertEqual([], self.findings(queued=True, sagas=['a server']))

    def test_what_an_audit_is_about_to_mend(self):
        self.assertEqual([], self.findings(queued=True, updated_at=NOW))

    def test_sizes(self):
        found = self.findings(queued=False, memory_mb=128)
        self.assertEqual(['project p'], found)
