"""Requests to placement that are one transaction each."""

import re

import fixtures
from oslo_db import exception as db_exception
from placement import context as contexts
from placement import db_api
import sqlalchemy as sa
import testtools

from nova_lite.daemons.wsgi import placement
from nova_lite.lab import tuned_placement
from nova_lite.lab.tuned_placement import request_transactions
from tests.fixtures import templates

PATHS = re.compile('/parts$')
OK, REFUSED = '200 OK', '409 Conflict'


@db_api.placement_context_manager.writer
def add(context, name):
    """Add a trait, as a function of placement does."""
    context.session.execute(sa.text('INSERT INTO traits (name) VALUES (:name)'), {'name': name})


@db_api.placement_context_manager.reader
def connection_of(context):
    """Return the driver's connection of a transaction that reads."""
    return context.session.connection().connection.driver_connection


class Application:
    """Adds traits one by one, and answers. names: of the traits; error: raised instead, or None"""

    def __init__(self, names, status=OK, *, error=None):
        self._names, self._status, self._error = names, status, error
        self.connections = []

    def __call__(self, environ, start_response):
        context = environ['placement.context']
        for name in self._names:
            add(context, name)
            self.connections.append(connection_of(context))
        if self._error is not None:
            raise self._error
        start_response(self._status, [('X-Answer', 'a header')])
        return [b'the body']


class WholeTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        path = self.useFixture(fixtures.TempDir()).join('placement.sqlite')
        url = templates.write(path, templates.placement)
        tuning = tuned_placement.of(is_wanted=True)
        placement.use(placement.make_conf(url, 'noauth', keystone={}), tuning)
        self.engine = db_api.get_placement_engine()
        self.addCleanup(self.engine.dispose)
        self.begun, self.started = [], []
        sa.event.listen(self.engine, 'begin', self.begun.append)

    def send(self, application, *, method='PUT', path='/parts'):
        """Send a request. Return the body of the response."""
        context = contexts.RequestContext(user_id='user', project_id='project')
        environ = {'REQUEST_METHOD': method, 'PATH_INFO': path, 'placement.context': context}
        return request_transactions.RequestTransactions(application, PATHS)(environ, self.start)

    def start(self, status, headers):
        """Note the status, the headers, and what is in the database when they are sent."""
        self.started.append((status, headers, self.added()))

    def added(self):
        """Return the names of the traits that were added."""
        with self.engine.connect() as connection:
            found = connection.scalars(sa.text("SELECT name FROM traits WHERE name LIKE 'N%'"))
            names = found.all()
            connection.rollback()
        return names

    def assert_free(self):
        """The pool has connections, and none of them is in a transaction."""
        with self.engine.connect() as connection:
            self.assertFalse(connection.connection.driver_connection.in_transaction)

    def test_one_transaction_ends_before_the_response(self):
        for method, path in (('PUT', '/parts'), ('GET', '/any')):
            names = [f'N{method}{number}' for number in range(3)]
            self.begun.clear()
            self.started.clear()
            self.assertEqual([b'the body'], self.send(Application(names), method=method, path=path))
            ((status, headers, added),) = self.started
            self.assertEqual((OK, [('X-Answer', 'a header')]), (status, headers))
            self.assertEqual(names, [name for name in added if name in names])
            # That of the request, and that of `start`.
            self.assertEqual(2, len(self.begun))
        self.assert_free()

    def test_a_request_that_may_try_again_has_those_of_placement(self):
        self.send(Application(['N1', 'N2'], REFUSED), path='/allocations')
        self.assertEqual(['N1', 'N2'], self.added())

    def test_a_refused_one_is_rolled_back_and_gets_its_response(self):
        self.assertEqual([b'the body'], self.send(Application(['N1', 'N2'], REFUSED)))
        self.assertEqual([(REFUSED, [('X-Answer', 'a header')], [])], self.started)
        self.assert_free()

    def test_one_that_fails_is_rolled_back(self):
        failing = Application(['N1', 'N2'], error=ValueError('a defect'))
        self.assertRaises(ValueError, self.send, failing)
        self.assertEqual(([], []), (self.started, self.added()))
        self.assert_free()
        self.send(Application(['N3']))
        self.assertEqual(['N3'], self.added())

    def test_a_statement_that_fails_is_no_end(self):
        """Placement has handled the error, and the request goes on."""
        traits = Application(['N1'])

        def answer(environ, start_response):
            first = traits(environ, lambda *_ignored: None)
            self.assertRaises(
                db_exception.DBDuplicateEntry, add, environ['placement.context'], 'N1'
            )
            start_response(REFUSED, [])
            return first

        self.send(answer)
        self.assertEqual([(REFUSED, [], [])], self.started)
        self.assert_free()

    def test_a_connection_that_dies_within_a_request_takes_all_of_it(self):
        """No part of the request is written by another connection."""
        dying = Application(['N1'])

        def answer(environ, start_response):
            body = dying(environ, lambda *_ignored: None)
            dying.connections[0].close()
            add(environ['placement.context'], 'N2')
            start_response(OK, [])
            return body

        # From oslo.db's own events for SQLite; from a server it is a DBConnectionError.
        self.assertRaises(sa.exc.PendingRollbackError, self.send, answer)
        self.assertEqual(([], []), (self.started, self.added()))
        self.send(Application(['N3']))
        self.assertEqual(['N3'], self.added())
