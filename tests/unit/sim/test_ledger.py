"""Conclusions of a ledger from requests and their answers."""

import types

import testtools

from tests.sim.oracle import excuses
from tests.sim.workload import caller
from tests.sim.workload import ledger
from tests.sim.workload import owners

SERVER = 'http://api-1.sim/v2.1/servers/uuid'


class CancelledTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.ledger = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
        self.migrate('req-1', 1)

    def ask(self, what, began, *, method, path, **answer):
        url = f'{SERVER}/{path}'
        call = caller.Call('client', what, method, url, began, began + 1, **answer)
        self.ledger.answered(call, 'it is completed.')

    def migrate(self, request_id, began):
        posted = {'method': 'POST', 'path': 'action'}
        self.ask('live migrate to host', began, **posted, request_id=request_id, code=202)

    def abort(self, began, code=202):
        self.ask('abort', began, method='DELETE', path='migrations/1', code=code)

    def cancelled(self, *request_ids):
        return [self.ledger.is_cancelled('uuid', each) for each in request_ids]

    def test_only_an_abort_cancels(self):
        self.assertEqual([False], self.cancelled('req-1'))
        self.abort(5)
        self.assertEqual([True], self.cancelled('req-1'))
        self.assertFalse(self.ledger.is_cancelled('other', 'req-1'))

    def test_a_refused_abort_does_not(self):
        self.abort(5, code=400)
        self.assertEqual([False], self.cancelled('req-1'))

    def test_an_abort_is_of_the_migration_that_was_under_way(self):
        self.migrate('req-2', 4)
        self.abort(7)
        self.migrate('req-3', 9)
        self.assertEqual([False, True, False], self.cancelled('req-1', 'req-2', 'req-3'))

    def test_an_abort_at_the_same_time_may_be_of_either(self):
        self.migrate('req-2', 4)
        self.abort(4.5)
        self.assertEqual([True, True], self.cancelled('req-1', 'req-2'))

    def test_a_migration_whose_answer_was_lost(self):
        self.abort(5)
        self.assertEqual([True], self.cancelled('req-lost'))


class FindingsTestCase(testtools.TestCase):
    def test_an_image_stays_that_could_not_be_deleted(self):
        known = ledger.Ledger(excuses.Excuses(types.SimpleNamespace(injected=[])))
        image = '72d1d8fb-a756-42d9-a015-97303a3abe4d'
        place, what = f"what='image {image}', detail=", 'is not what server s was shelved in'
        self.assertFalse(known.is_protected(f"{place}'(name-shelved) {what}'"))
        change = known.outside.begin(owners.PROTECT, image)
        change.call = caller.Call('owner', owners.PROTECT, 'PATCH', 'url', 1, 2, code=200)
        self.assertTrue(known.is_protected(f"{place}'(name-shelved) {what}'"))
        self.assertTrue(known.is_protected(f"{place}'(name-shelved) is of server s, deleted'"))
        self.assertFalse(known.is_protected(f"{place}'(name-shelved) is missing'"))
        self.assertFalse(known.is_protected(f"what='image another', detail='(name) {what}'"))
