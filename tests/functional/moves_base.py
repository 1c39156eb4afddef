"""Base class of tests of moves, on top of a cloud that a class shares."""

from tests.fixtures import moving
from tests.functional import base

# Settings of clouds that several classes share.
ONE_HOST_EACH = {
    'cells': 2,
    'hosts': 1,
    'options': {'compute': {'stray_grace': 5}, 'quota': {'ram': -1}},
}
ONE_HOST = {
    'cells': 1,
    'hosts': 1,
    'options': {'DEFAULT': {'allow_resize_to_same_host': True}},
}
THREE_HOSTS_EACH = {'cells': 2, 'hosts': 3, 'options': {'compute': {'audit_interval': 600}}}


class MovesTest(base.CloudTest):
    """stage: asks for moves and looks at what they leave."""

    settings = {'cells': 1, 'hosts': 3}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.stage = moving.Moving(cls.cloud)

    def boot(self, name='server', **options):
        """A server without port and volume."""
        return self.cloud.boot(name, **options)

    def boot_full(self, **options):
        """A server with a port and a volume."""
        return self.stage.boot_full(**options)
