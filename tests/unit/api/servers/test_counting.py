"""A change of a server that is made succeeds, although quotas cannot follow it at once."""

import testscenarios

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import instance_mappings
from tests.unit.api.servers import base

KEPT_S = 3600
DELETED = {'vm_state': 'soft-delete', 'deleted_at': runtime.naive_now()}
LOST = {'host': None, 'node': None, 'vm_state': 'error'}


class CountingTest(testscenarios.WithScenarios, base.Case):
    """values: of the server; reset: whether its state is reset; otherwise it is deleted

    kept_s: seconds for which deleted servers are kept; after: columns of the server
    """

    scenarios = [
        (
            'deleted by its host',
            {'values': {}, 'reset': False, 'kept_s': 0, 'after': {'task_state': 'deleting'}},
        ),
        (
            'deleted without a host',
            {'values': LOST, 'reset': False, 'kept_s': 0, 'after': {'deleted': True}},
        ),
        (
            'kept',
            {
                'values': {},
                'reset': False,
                'kept_s': KEPT_S,
                'after': {'task_state': 'soft-deleting'},
            },
        ),
        (
            'reset',
            {
                'values': DELETED,
                'reset': True,
                'kept_s': KEPT_S,
                'after': {'vm_state': 'active', 'deleted_at': None},
            },
        ),
    ]

    def test_database_does_not_answer(self):
        self.api.conf.set_override('reclaim_instance_interval', self.kept_s)
        uuid = self.api.add_server(**{'launched_at': runtime.naive_now(), **self.values})

        def away(*_args, **_options):
            raise exception.Unavailable(service='The database', reason='it does not answer')

        self.patch(instance_mappings, 'set_queued_for_delete', away)
        if self.reset:
            self.act(uuid, 'os-resetState', {'state': 'active'}, who=base.ADMIN)
        else:
            self.ok('DELETE', f'/servers/{uuid}', code=204)
        row = self.api.row(uuid)
        found = {
            name: bool(row.deleted) if name == 'deleted' else getattr(row, name)
            for name in self.after
        }
        self.assertEqual(self.after, found)
