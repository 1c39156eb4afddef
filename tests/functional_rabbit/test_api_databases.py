"""Unit tests of what the API stores, over MariaDB and PostgreSQL."""

from tests.fixtures import database
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.api.servers import test_actions
from tests.unit.api.servers import test_bad_input
from tests.unit.api.servers import test_create
from tests.unit.api.servers import test_create_devices
from tests.unit.api.servers import test_create_limits
from tests.unit.api.servers import test_list
from tests.unit.api.servers import test_resize_quota
from tests.unit.db.api import test_saga_events

MODULES = (
    test_actions,
    test_bad_input,
    test_create,
    test_create_devices,
    test_create_limits,
    test_list,
    test_resize_quota,
    test_saga_events,
)
# Makes a SQLite file unreachable.
ONLY_SQLITE = ('TestDownCell',)
_running = {}


class OnServer:
    """Makes a case of the unit tests run over a database server."""

    server_class = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        servers.require(cls.server_class)
        if cls.server_class not in _running:
            server = cls.server_class()
            server.setUp()
            _running[cls.server_class] = server
        database.server = _running[cls.server_class]

    @classmethod
    def tearDownClass(cls):
        database.server = None
        super().tearDownClass()


def tearDownModule():
    for server in _running.values():
        server.cleanUp()
    _running.clear()


def _declare():
    """One class per case and server."""
    found = {}
    for server in (mariadb.MariaDB, postgresql.PostgreSQL):
        for module in MODULES:
            for name, case in vars(module).items():
                if name.startswith('Test') and name not in ONLY_SQLITE:
                    full = f'{name}On{server.__name__}'
                    found[full] = type(full, (OnServer, case), {'server_class': server})
    return found


globals().update(_declare())
