"""Base classes of the tests of the clients."""

import testtools

from nova_lite import conf
from nova_lite import context
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from tests.fixtures import placement as placement_fixture

GIB = 1024


class ClientTestCase(testtools.TestCase):
    """A test with a private configuration and a context of a member of a project."""

    def setUp(self):
        super().setUp()
        self.conf = conf.make_conf([], files=[])
        self.admin = context.admin()
        self.member = context.RequestContext(
            user_id='alice', project_id='wonderland', roles=['member'], overwrite=False
        )

    @property
    def credentials(self):
        """Our own, as they are configured now."""
        return auth.Credentials(self.conf)

    def point(self, group, url, **options):
        """Reach the service of a group at `url`, with identity given by headers."""
        options = {'auth_type': 'none', 'endpoint_override': url, **options}
        for name, value in options.items():
            self.conf.set_override(name, value, group=group)


class PlacementClientTestCase(ClientTestCase):
    """A test of placement, wherever that is."""

    def connect(self, url):
        """Make the clients."""
        self.point('placement', url)
        self.placement = placement.Placement(self.credentials)
        self.providers = self.placement.providers

    def add_host(self, name, *, vcpus=4, ram_mb=8 * GIB, disk_gb=40, traits=()):
        """A provider with inventory; returns its uuid."""
        uuid = runtime.new_uuid()
        made = self.providers.ensure(self.admin, uuid, name)
        generation = self.providers.set_inventories(
            self.admin, uuid, inventories(vcpus, ram_mb, disk_gb), generation=made.generation
        )
        if traits:
            self.providers.set_traits(self.admin, uuid, traits, generation=generation)
        return uuid


class PlacementTestCase(PlacementClientTestCase):
    """A test with the real placement."""

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(placement_fixture.Placement())
        self.connect(self.server.url)

    def count_requests(self, function, *args, **kwargs):
        """(result, requests that placement got) of a call."""
        self.server.requests.clear()
        return function(*args, **kwargs), list(self.server.requests)


def inventories(vcpus=4, ram_mb=8 * GIB, disk_gb=40):
    """Inventories of a compute node."""
    totals = {'VCPU': vcpus, 'MEMORY_MB': ram_mb, 'DISK_GB': disk_gb}
    return {name: {'total': total, 'max_unit': total} for name, total in totals.items()}


def consumer():
    """A consumer that placement does not know yet."""
    return placement.Consumer(runtime.new_uuid(), 'wonderland', 'alice')


def request(provider, vcpus=1, ram_mb=512, disk_gb=1):
    """An allocation request on one provider."""
    resources = {'VCPU': vcpus, 'MEMORY_MB': ram_mb, 'DISK_GB': disk_gb}
    return {'allocations': {provider: {'resources': resources}}, 'mappings': {'': [provider]}}
