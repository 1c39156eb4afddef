"""Log lines of a saga carry the request that asked for it, in whatever thread it runs."""

from oslo_log import log
import testtools

from nova_lite import context
from nova_lite import saga
from nova_lite.db.api import sagas
from nova_lite.saga import engine
from tests.fixtures import clock
from tests.fixtures import contexts
from tests.fixtures import database
from tests.fixtures import saga_rows

LOG = log.getLogger(__name__)


class Talking(saga.Saga):
    kind = 'talking'

    def steps(self):
        return (saga.Step('talk', self.talk), saga.Step('end', self.talk))

    def talk(self):
        LOG.info('saga %s', self.uuid)


class LogContextTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(clock.ManualClock())
        self.database = self.useFixture(database.ApiDatabase(threads=16)).database
        self.engine = engine.Engine(sagas.Journal(self.database), self.make_saga, owner='one')
        self.addCleanup(self.engine.stop)

    def make_saga(self, record):
        return Talking(None, record, context.RequestContext.from_wire(record.context))

    def accepted(self):
        """(uuid, request id) of a saga that a request has asked for."""
        ctxt = context.RequestContext(overwrite=False)
        return saga_rows.create(self.database, kind='talking', ctxt=ctxt), ctxt.request_id

    def test_one_after_another_in_a_thread(self):
        heard = self.useFixture(contexts.Contexts())
        former = context.RequestContext(overwrite=False)
        for uuid, request_id in [self.accepted() for _saga in range(2)]:
            with former.bound():
                self.engine.run(uuid)
                LOG.info('after %s', uuid)
            self.assertEqual([request_id] * 2, heard.of(f'saga {uuid}'))
            self.assertEqual([former.request_id], heard.of(f'after {uuid}'))

    def test_nothing_stays_with_the_thread(self):
        heard = self.useFixture(contexts.Contexts())
        uuid, _request_id = self.accepted()
        with context.bound(None):
            self.engine.run(uuid)
            LOG.info('after %s', uuid)
        self.assertEqual([None], heard.of(f'after {uuid}'))
