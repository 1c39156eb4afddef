"""The placement application on MariaDB and PostgreSQL, with more requests side by side."""

from tests.functional_rabbit import test_placement as there


class MariaDBTest(there.MariaDBTest):
    turns = 10


class PostgreSQLTest(there.PostgreSQLTest):
    turns = 10
