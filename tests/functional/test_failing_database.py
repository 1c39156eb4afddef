"""A database that fails in the calls of operations: what users and administrators read of it."""

import contextlib
import sqlite3

from tests.functional import base

TABLE = 'services'


class FailingDatabaseTest(base.CloudTest):
    settings = {'cells': 1, 'hosts': 2}

    @contextlib.contextmanager
    def without(self, table):
        """A cell's database lacks a table."""
        path = self.cloud.cloud.places.path('db', 'cell1.sqlite')

        def rename(old, new):
            with contextlib.closing(sqlite3.connect(path, timeout=30)) as database, database:
                database.execute(f'ALTER TABLE {old} RENAME TO {new}')

        rename(table, f'{table}_away')
        try:
            yield
        finally:
            rename(f'{table}_away', table)

    def test_no_statement_is_shown(self):
        """Neither in answers, nor in faults, nor in events, whose traceback names the place."""
        server = self.cloud.boot()
        action = f'/servers/{server.id}/action'
        with self.without(TABLE), self.cloud.server_errors.announced(500):
            answer = self.refused(500, 'POST', action, {'resize': {'flavorRef': '2'}})
            self.assertIn('DBNonExistentTable', answer)
            self.api('POST', action, {'shelve': None}, status=202)
            events = self.cloud.wait_for(lambda: self.failed(server), 'events that failed')
        self.api('POST', action, {'os-resetState': {'state': 'error'}}, status=202)
        fault = self.api('GET', f'/servers/{server.id}')['server']['fault']
        self.assertEqual('Unexpected error: DBNonExistentTable', fault['message'])
        for event in events:
            self.assertIn(f'no such table: {TABLE}', event['traceback'])
        for text in (answer, fault['details'], *(event['traceback'] for event in events)):
            self.assertNotIn('SELECT', text)
            self.assertNotIn('[SQL', text)

    def failed(self, server):
        """The events of the server that have a traceback."""
        url = f'/servers/{server.id}/os-instance-actions'
        requests = [each['request_id'] for each in self.api('GET', url)['instanceActions']]
        shown = [self.api('GET', f'{url}/{request}')['instanceAction'] for request in requests]
        return [each for action in shown for each in action['events'] if each['traceback']]
