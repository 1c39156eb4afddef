"""Security groups that the API changes while a saga works are there when it has ended."""

from nova_lite.db.cell import instances
from nova_lite.db.cell import network_info
from nova_lite.moves import steps
from nova_lite.moves import unshelve
from nova_lite.moves.parts import cross_cell_revert
from nova_lite.states import transitions
from tests.fixtures import guest_facts
from tests.unit.moves import moves_base

OLD, NEW = ['old'], ['old', 'new']


class ChangedGroupsTest(moves_base.MoveTestCase):
    """Steps that read the ports are given a result from before the change."""

    def setUp(self):
        super().setUp()
        self.vif = guest_facts.vif(security_groups=OLD, groups_version=0, active=False)

    def change_after(self, made, result):
        """Change the groups of ports after the saga has read the ports in a step."""
        made.results[result] = [{**self.vif, 'active': True}]
        self.cell.db.write(network_info.store, self.server, [self.vif])
        self.cell.db.write(self._change)

    def _change(self, connection):
        row = instances.held(connection, self.server)
        network_info.store_groups(connection, row, NEW, {self.vif['id']: NEW})

    def assert_kept(self):
        """The groups are those of the change, and the rest is what the saga has read."""
        expected = {**self.vif, 'active': True, 'security_groups': NEW, 'groups_version': 1}
        self.assertEqual([expected], self.cell.row(self.server).network_info)

    def reach_pivot(self, made):
        """Do the steps before the pivot, and return its step."""
        before = self.before_pivot(made.steps())
        self.do(made, before)
        return made.steps()[len(before)]

    def test_resize(self):
        made = self.resize()
        pivot = self.reach_pivot(made)
        self.change_after(made, steps.ACTIVATE)
        pivot.do()
        self.assertEqual('resized', self.cell.row(self.server).vm_state)
        self.assert_kept()

    def test_revert(self):
        made = self.revert()
        pivot = self.reach_pivot(made)
        self.change_after(made, cross_cell_revert.ACTIVATE)
        pivot.do()
        self.assertEqual(moves_base.SOURCE, self.cell.row(self.server).host)
        self.assert_kept()

    def test_live_migration(self):
        made = self.live_migration()
        self.do(made, made.steps()[:1])
        self.change_after(made, steps.ACTIVATE)
        self.cell.db.write(made.relocation.settle, {})
        self.assertIsNone(self.cell.row(self.server).task_state)
        self.assert_kept()

    def test_unshelve(self):
        values = {'vm_state': 'shelved_offloaded', 'host': None, 'node': None}
        self.cell.db.write(instances.force, self.server, values)
        made = self.make(unshelve.Unshelve, transitions.UNSHELVE, 'unshelve', offloaded=True)
        pivot = self.reach_pivot(made)
        self.change_after(made, unshelve.BIND)
        pivot.do()
        self.assertEqual('active', self.cell.row(self.server).vm_state)
        self.assert_kept()
