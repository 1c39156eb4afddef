"""Log lines of deletions that are taken up above the cells."""

from nova_lite import context
from nova_lite import exception
from nova_lite.db.api import build_requests
from nova_lite.superconductor.audits import disposals
from tests.fixtures import contexts
from tests.unit.superconductor import build_base


class Refusing(build_base.Placement):
    """A placement service that does not answer."""

    def delete_allocations(self, ctxt, consumer, *, force=False):
        raise exception.Unavailable(service='placement', reason='test')


class LogContextTest(build_base.BuildTestCase):
    def test_withdrawn_builds_are_logged_with_their_requests(self):
        """Not with that of the periodic that looks for them."""
        self.world.placement = Refusing()
        wanted = {}
        for uuid in (self.uuid, self.accept('r-2')):
            request = self.api_db.write(build_requests.withdraw, uuid, 0)
            self.api_db.write(build_requests.expire, {uuid: request.epoch})
            wanted[uuid] = [request.request_id]
        heard = self.useFixture(contexts.Contexts())
        with context.admin().bound():
            disposals.Disposals(self.world).run()
        found = {uuid: heard.of(f'Cannot clean up after server {uuid}') for uuid in wanted}
        self.assertEqual(wanted, found)
