"""The cost of moves in transactions, messages and requests: counts, not times.

The budgets are those that the documentation shows. A server without ports and
volumes is moved, in a cloud that has moved one before, over hosts that need no time.
What notifications need to read is among them.
"""

import pathlib

import yaml

from nova_lite.compute import replies
from tests.fixtures import budget
from tests.fixtures import live_moving
from tests.functional import base
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

BUDGETS = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'reference' / 'budgets.yaml'
NOTIFYING = {'oslo_messaging_notifications': {'driver': ['messagingv2']}}
HERE, THERE = 'cell1-host1', 'cell2-host1'


class BudgetTestCase(base.CloudTest):
    settings = {'cells': 2, 'hosts': 2, 'options': {**budget.QUIET, **NOTIFYING}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.budgets = yaml.safe_load(BUDGETS.read_text())
        cls.stage = live_moving.LiveMoving(cls.cloud)

    def setUp(self):
        super().setUp()
        # On a slow machine answers that are not there in time would be asked for once more.
        self.patch(replies, 'SHORT_S', 60.0)
        self.server = self.cloud.boot(availability_zone=f'nova:{HERE}')
        for ask in (lambda: self.resize('m1.small'), self.to_other_cell):
            ask()
            self.reach('VERIFY_RESIZE')
            self.revert()
            self.reach('ACTIVE')
        self.spent = self.useFixture(budget.Spent())

    def act(self, action, content=None, **options):
        self.stage.act(self.server, action, content, **options)

    def to_other_cell(self):
        self.act('migrate', {'host': THERE})

    def reach(self, status):
        self.cloud.wait(self.server, status)
        self.stage.wait_idle(self.server)

    def check(self, name, ask, *, status='ACTIVE'):
        """Ask for a move and hold it to its budget."""
        # What a request has done is counted when it has been answered, and its saga has ended.
        self.spent.take()
        ask()
        self.stage.wait_idle(self.server)
        spent = self.spent.take()
        self.reach(status)
        allowed = self.budgets[name]
        self.assertEqual(allowed['writes'], spent.writes, name)
        self.assertEqual(allowed['messages'], sorted(spent.messages.elements()), name)
        for kind in ('reads', 'statements', 'placement', 'neighbours'):
            for what, count in getattr(spent, kind).items():
                self.assertLessEqual(count, allowed[kind].get(what, 0), f'{name}: {kind} {what}')

    def resize(self, flavor):
        self.stage.resize(self.server, flavor)

    def revert(self):
        self.act('revertResize')

    def evacuate(self):
        # Later versions leave the server stopped.
        self.act('evacuate', {}, status=200, version='2.94')

    def confirm(self):
        self.act('confirmResize', status=204)


@sample.in_turns(2)
class MoveBudgetTest(BudgetTestCase):
    def test_resize(self):
        self.check('resize', lambda: self.resize('m1.small'), status='VERIFY_RESIZE')
        self.check('confirm', self.confirm)
        self.check('resize', lambda: self.resize('m1.tiny'), status='VERIFY_RESIZE')
        self.check('revert', self.revert)

    def test_migrate(self):
        self.check('migrate', lambda: self.act('migrate'), status='VERIFY_RESIZE')
        self.check('confirm', self.confirm)

    def test_live_migrate(self):
        content = {'host': None, 'block_migration': 'auto'}
        self.check('live migrate', lambda: self.act('os-migrateLive', content))

    def test_cross_cell(self):
        self.check('cross-cell migrate', self.to_other_cell, status='VERIFY_RESIZE')
        self.check('cross-cell revert', self.revert)
        self.check('cross-cell migrate', self.to_other_cell, status='VERIFY_RESIZE')
        self.check('cross-cell confirm', self.confirm)


class EvacuationBudgetTest(BudgetTestCase):
    def test_evacuate(self):
        self.stage.fail(HERE)
        self.check('evacuate', self.evacuate)
        self.stage.come_back(HERE)
