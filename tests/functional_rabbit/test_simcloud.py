"""simcloud over MariaDB and PostgreSQL: the same rules, and races that end well."""

from nova_lite import runtime
from tests.fixtures import mariadb
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.simcloud import test_attachments
from tests.unit.simcloud import test_bindings
from tests.unit.simcloud import test_concurrency
from tests.unit.simcloud import test_identity
from tests.unit.simcloud import test_images
from tests.unit.simcloud import test_malformed
from tests.unit.simcloud import test_networks
from tests.unit.simcloud import test_ports
from tests.unit.simcloud import test_routers
from tests.unit.simcloud import test_security_groups
from tests.unit.simcloud import test_tokens
from tests.unit.simcloud import test_volumes

CASES = (
    test_attachments.AttachmentTestCase,
    test_bindings.BindingTestCase,
    test_concurrency.ConcurrencyTestCase,
    test_identity.IdentityTestCase,
    test_images.ImageTestCase,
    test_malformed.MalformedTestCase,
    test_networks.NetworkTestCase,
    test_ports.PortTestCase,
    test_routers.RouterTestCase,
    test_security_groups.SecurityGroupTestCase,
    test_tokens.TokenTestCase,
    test_volumes.VolumeTestCase,
)
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

    def new_database(self):
        name = 'simcloud_' + runtime.new_uuid().replace('-', '')
        return _running[self.server_class].create_database(name)


def tearDownModule():
    for server in _running.values():
        server.cleanUp()
    _running.clear()


for _server in (mariadb.MariaDB, postgresql.PostgreSQL):
    for _case in CASES:
        _name = _server.__name__ + _case.__name__
        globals()[_name] = type(
            _name, (OnServer, _case), {'server_class': _server, '__module__': __name__}
        )
