"""Daemons that are stopped and killed, and a broker started again, over MariaDB."""

from tests.fixtures import mariadb
from tests.functional_rabbit import test_cloud


class TestOnMariaDB(test_cloud.TestDaemons):
    database_class = mariadb.MariaDB
    own_brokers = ('cell2',)
