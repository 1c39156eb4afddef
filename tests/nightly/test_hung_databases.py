"""Answers of the API for servers in a cell whose PostgreSQL database is paused."""

from tests.fixtures import postgresql
from tests.functional_rabbit import test_hung_databases as there


class RequestsOnPostgreSQL(there.Requests, there.Case):
    server_class = postgresql.PostgreSQL
