"""Answers while a service is down name neither its address nor its user."""

from tests.unit.api import base

AWAY = 'mysql+pymysql://agent:hush@127.0.0.1:1/nova_api'


class TestUnavailable(base.ApiTest):
    def test_the_api_database(self):
        database = self.api.api_db
        database.dispose()
        database.url, database._engine = AWAY, None
        answer = self.get('/os-keypairs', status=503)
        self.assertEqual('The database is not available.', answer['serviceUnavailable']['message'])
