"""Daemons that are stopped and killed, over the other database server."""

from tests.fixtures import mariadb
from tests.functional_rabbit import test_cloud


class TestOnMariaDB(test_cloud.TestDaemons):
    database_class = mariadb.MariaDB
