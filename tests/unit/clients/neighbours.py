"""Fixtures of tests of the image, network and volume clients."""

import dataclasses

from nova_lite import context
from nova_lite import runtime
from tests.fixtures import simcloud
from tests.unit.clients import base

GROUPS = {
    'glance': '/image',
    'neutron': '/network',
    'cinder': '/volume',
    'manila': '/share',
    'keystone': '/identity',
}


@dataclasses.dataclass(frozen=True)
class Server:
    """The server that ports are for."""

    uuid: str
    project_id: str
    availability_zone: str | None = None
    hostname: str | None = None


class NeighbourTestCase(base.ClientTestCase):
    """A test with simulated services that believe headers.

    member: a context of a project without networks of its own
    operator: a context of an administrator in another project
    """

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud(auth='noauth'))
        for group, path in GROUPS.items():
            self.point(group, self.cloud.url + path)
        self.operator = self.context_of('root', 'operators', 'admin')

    def context_of(self, user_id, project_id, *roles):
        return context.RequestContext(
            user_id=user_id, project_id=project_id, roles=list(roles), overwrite=False
        )

    def server(self, project_id='wonderland'):
        """Whom ports, volumes and snapshots are for."""
        return Server(runtime.new_uuid(), project_id, 'nova', 'alice-1')

    def count_requests(self, function, *args, **kwargs):
        """(result, requests that the services got) of a call."""
        self.cloud.requests.clear()
        return function(*args, **kwargs), list(self.cloud.requests)
