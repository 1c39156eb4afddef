"""A cell's database with servers in given states, and its conductor."""

import testtools

from nova_lite import context
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import reset_builds
from tests.fixtures import cell
from tests.fixtures import clock


class CellConductorTestCase(testtools.TestCase):
    """State in, one call, state out. Messages to computes are kept in `sent`."""

    def setUp(self):
        super().setUp()
        self.clock = self.useFixture(clock.ManualClock())
        self.cell = self.useFixture(cell.Cell())
        self.cell.casts.hold()
        self.conductor = self.cell.conductor

    @property
    def sent(self):
        """[(method, host), ...] of the messages to computes."""
        return [(name, host) for name, host, _arguments in self.cell.casts.held]

    def server(self, hosts=('host-1',), **columns):
        """A server with these columns; (context of its creation, uuid)."""
        return self.cell.accept(hosts, **columns)

    def change(self, uuid, **columns):
        """Someone else changes a server."""
        self.cell.db.write(instances.force, uuid, columns)

    def reset(self, uuid, state='active'):
        """Change a server as os-resetState does."""
        build = reset_builds.arguments(self.cell.row(uuid))
        self.change(uuid, vm_state=state, task_state=None, build=build)

    def context(self):
        """The context of another request."""
        return context.RequestContext(user_id='user', project_id='project', overwrite=False)

    def node(self, host='host-1'):
        """Make the host's node known; a function that reads its record."""
        values = {
            'host': host,
            'hypervisor_hostname': host,
            'hypervisor_type': 'QEMU',
            'hypervisor_version': 1,
            'vcpus': 1,
            'memory_mb': 1,
            'local_gb': 1,
        }
        self.conductor.beat(context.admin(), [host], 1)
        self.conductor.report_nodes(context.admin(), [values])
        return lambda: self.cell.db.read(compute_nodes.first_of_host, host)
