"""simcloud over MariaDB and PostgreSQL: races, and values they refuse.

Clouds of processes keep their neighbours there too; tests/nightly has the other cases.
"""

import collections

from nova_lite import runtime
from nova_lite.simcloud import database
from tests.fixtures import database as database_fixture
from tests.fixtures import mariadb
from tests.fixtures import on_servers
from tests.fixtures import postgresql
from tests.fixtures import servers
from tests.unit.simcloud import test_application_credentials
from tests.unit.simcloud import test_attachments
from tests.unit.simcloud import test_bindings
from tests.unit.simcloud import test_catalog
from tests.unit.simcloud import test_concurrency
from tests.unit.simcloud import test_identity
from tests.unit.simcloud import test_images
from tests.unit.simcloud import test_malformed
from tests.unit.simcloud import test_metadefs
from tests.unit.simcloud import test_networks
from tests.unit.simcloud import test_ports
from tests.unit.simcloud import test_qos
from tests.unit.simcloud import test_rbac
from tests.unit.simcloud import test_routers
from tests.unit.simcloud import test_security_groups
from tests.unit.simcloud import test_tokens
from tests.unit.simcloud import test_trunks
from tests.unit.simcloud import test_user_groups
from tests.unit.simcloud import test_volume_encryption
from tests.unit.simcloud import test_volume_migrations
from tests.unit.simcloud import test_volume_offers
from tests.unit.simcloud import test_volumes

# Where threads race with every commit, and where at night.
RACES_HERE, RACES_AT_NIGHT = (mariadb.MariaDB,), (postgresql.PostgreSQL,)
# {class of a server: [URL of a database that no test uses just now]}
_idle = collections.defaultdict(list)


def races():
    """The cases that run over one server with every commit, and over the other at night."""
    return (test_concurrency.ConcurrencyTestCase,)


def here():
    """The cases that run with every commit."""
    return (test_malformed.MalformedTestCase,)


def others():
    """The cases that run at night."""
    return (
        test_application_credentials.ApplicationCredentialsTest,
        test_attachments.AttachmentTestCase,
        test_bindings.BindingTestCase,
        test_catalog.CatalogTest,
        test_identity.IdentityTestCase,
        test_images.ImageTestCase,
        test_metadefs.MetadefsTest,
        test_volume_migrations.MigrationsTestCase,
        test_networks.NetworkTestCase,
        test_ports.PortTestCase,
        test_qos.QosTestCase,
        test_rbac.RbacTest,
        test_routers.RouterTestCase,
        test_security_groups.SecurityGroupTestCase,
        test_tokens.TokenTestCase,
        test_trunks.TrunksTest,
        test_user_groups.GroupsTest,
        test_volume_encryption.EncryptionTest,
        test_volume_offers.BackupsTest,
        test_volume_offers.QosSpecsTest,
        test_volume_offers.TransfersTest,
        test_volumes.VolumeTestCase,
    )


class OnServer(on_servers.OnServer):
    """As of the fixtures, for simcloud's own tables."""

    # Of malformed values: nearly all are refused before there is a statement.
    shares = 15
    is_new = True

    def new_database(self):
        """One that another test has left, with empty tables: making them takes a second."""
        idle = _idle[self.server_class]
        if idle:
            url = idle.pop()
            _empty(url)
        else:
            name = 'simcloud_' + runtime.new_uuid().replace('-', '')
            url = servers.shared(self.server_class).create_database(name)
        self.addCleanup(idle.append, url)
        return url


def _empty(url):
    found = database.Database(url)
    try:
        with found.engine.begin() as connection:
            database_fixture.empty(connection, database.METADATA)
    finally:
        found.close()


globals().update(on_servers.classes(here(), OnServer, module=__name__))
globals().update(on_servers.classes(races(), OnServer, module=__name__, on=RACES_HERE))
