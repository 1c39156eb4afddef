"""Databases with hosts in two cells, and the real placement, for tests of the scheduler."""

from nova_lite import cells
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.db.api import aggregates
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import server_groups
from nova_lite.db.api import stamps
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import instances
from nova_lite.db.cell import migrations
from nova_lite.db.cell import models
from nova_lite.db.cell import services
from nova_lite.scheduler import manager
from tests.fixtures import database
from tests.fixtures import placement as placement_fixture
from tests.unit.scheduler import base


class CloudTestCase(base.SchedulerTestCase):
    """A test with an API database, cell0 and two cells without hosts."""

    def setUp(self):
        super().setUp()
        self.api_db = self.useFixture(database.ApiDatabase()).database
        self.cell_dbs = {}
        for name, uuid in (
            ('cell0', cell_mappings.CELL0_UUID),
            ('cell1', base.CELL1),
            ('cell2', base.CELL2),
        ):
            self.cell_dbs[uuid] = self.useFixture(database.CellDatabase())
            self.api_db.write(
                cell_mappings.create,
                {
                    'uuid': uuid,
                    'name': name,
                    'transport_url': 'none:///',
                    'database_connection': self.cell_dbs[uuid].url,
                    'disabled': False,
                },
            )
        # A machine that stands still for seconds is no cell that does not answer.
        self.set('api', cell_timeout=60)
        self.cells = cells.Cells(self.conf, self.api_db)
        self.addCleanup(self.cells.close)
        self.ctxt = context.RequestContext(
            user_id='alice', project_id='wonderland', roles=['member'], overwrite=False
        )

    def add_host(self, name, cell=base.CELL1, **values):
        """A host with a node and a service that is up; returns the node's uuid."""
        uuid = base.uuid_of(name)
        node = {
            'uuid': uuid,
            'host': name,
            'hypervisor_hostname': name,
            'hypervisor_type': 'QEMU',
            'hypervisor_version': 8002002,
            'host_ip': '127.0.0.1',
            'vcpus': 4,
            'memory_mb': 8192,
            'local_gb': 40,
            'cpu_allocation_ratio': 1.0,
            'supported_instances': [['x86_64', 'kvm', 'hvm']],
            'mapped': True,
            **values,
        }
        self.cell_dbs[cell].write(compute_nodes.report, [node])
        self.cell_dbs[cell].write(services.beat, [name], services.COMPUTE, 'compute')
        cell_id = self.cells.get(cell).id
        self.api_db.write(host_mappings.create_missing, cell_id, [name])
        return uuid

    def set_service(self, name, cell=base.CELL1, **values):
        """Change the service of a host, as who bumps the stamp for hosts would."""
        row = self.cell_dbs[cell].read(services.find, name)
        self.cell_dbs[cell].write(services.update, row.uuid, values)
        self.api_db.write(stamps.bump, stamps.HOSTS)

    def add_server(self, host=None, cell=base.CELL1, **values):
        """A server's record and mapping; returns its uuid."""
        uuid = values.pop('uuid', None) or runtime.new_uuid()
        row = {
            'uuid': uuid,
            'project_id': 'wonderland',
            'user_id': 'alice',
            'display_name': 'server',
            'host': host,
            'node': host,
            'vm_state': 'active',
            'vcpus': 1,
            'memory_mb': 512,
            'root_gb': 1,
            'ephemeral_gb': 0,
            'flavor': base.make_flavor().as_dict(),
            **values,
        }
        self.cell_dbs[cell].write(instances.create, [row])
        self.add_mapping(uuid, cell)
        return uuid

    def add_mapping(self, uuid, cell=None):
        """The mapping of a server, into a cell or into none yet."""
        cell_id = self.cells.get(cell).id if cell else None
        self.api_db.write(
            instance_mappings.create,
            [
                {
                    'instance_uuid': uuid,
                    'cell_id': cell_id,
                    'project_id': 'wonderland',
                    'user_id': 'alice',
                }
            ],
        )

    def add_migration(self, server, source, dest, cell=base.CELL1, **values):
        """A migration in progress."""
        self.cell_dbs[cell].write(
            migrations.create,
            {
                'uuid': runtime.new_uuid(),
                'instance_uuid': server,
                'migration_type': 'resize',
                'status': 'migrating',
                'source_compute': source,
                'source_node': source,
                'dest_compute': dest,
                'dest_node': dest,
                **values,
            },
        )

    def change_server(self, uuid, cell=base.CELL1, **values):
        """Change a server's record."""
        table = models.Instance.__table__

        def change(connection):
            connection.execute(table.update().where(table.c.uuid == uuid).values(**values))

        self.cell_dbs[cell].write(change)

    def add_aggregate(self, name, metadata=None, members=()):
        """An aggregate with hosts; returns it."""
        made = self.api_db.write(
            aggregates.create, uuid=base.uuid_of(name), name=name, metadata=metadata or {}
        )
        for host in members:
            self.api_db.write(aggregates.add_host, made.id, host)
        return made

    def add_group(self, policy, members=(), **rules):
        """A server group; returns its uuid."""
        uuid = runtime.new_uuid()
        row = self.api_db.write(
            server_groups.create,
            {
                'uuid': uuid,
                'name': 'group',
                'policy': policy,
                'rules': rules,
                'user_id': 'alice',
                'project_id': 'wonderland',
            },
        )
        self.api_db.write(server_groups.add_members, row, list(members))
        return uuid


class PlacementCloudTestCase(CloudTestCase):
    """The same with the real placement, where hosts have inventories."""

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(placement_fixture.Placement())
        self.set('placement', auth_type='none', endpoint_override=self.server.url)
        self.placement = placement.Placement(auth.Credentials(self.conf))
        self.providers = self.placement.providers
        self.admin = context.admin()

    def add_host(self, name, cell=base.CELL1, *, traits=(), **values):
        uuid = super().add_host(name, cell, **values)
        totals = {
            'VCPU': values.get('vcpus', 4),
            'MEMORY_MB': values.get('memory_mb', 8192),
            'DISK_GB': values.get('local_gb', 40),
        }
        made = self.providers.ensure(self.admin, uuid, name)
        wanted = {
            resource: {'total': total, 'max_unit': max(total, 1)}
            for resource, total in totals.items()
            if total
        }
        generation = self.providers.set_inventories(
            self.admin, uuid, wanted, generation=made.generation
        )
        self.providers.set_traits(self.admin, uuid, ['OWNER_NOVA', *traits], generation=generation)
        return uuid

    def add_aggregate(self, name, metadata=None, members=()):
        made = super().add_aggregate(name, metadata, members)
        for host in members:
            self.providers.add_to_aggregate(self.admin, base.uuid_of(host), made.uuid)
        self.api_db.write(stamps.bump, stamps.AGGREGATES)
        return made

    def held(self, uuid):
        """{host uuid: resources} that a consumer holds."""
        return self.placement.holding(self.admin, uuid).allocations


class ManagerTestCase(PlacementCloudTestCase):
    """The same with a scheduler that keeps what it reads until a stamp moves."""

    def setUp(self):
        super().setUp()
        self.set('scheduler', candidates_reuse_s=60, host_state_reuse_s=60)
        self.start()

    def start(self):
        """A scheduler that has read nothing yet, with the options of now."""
        self.scheduler = manager.SchedulerManager(self.conf, self.cells, self.placement, None)

    def decide(self, spec=None, count=1, **options):
        """Selections for new servers: {uuid: [Selection, ...]}."""
        self.uuids = [runtime.new_uuid() for _ in range(count)]
        found = self.scheduler.select_destinations(
            self.ctxt, spec or base.make_spec(), self.uuids, **options
        )
        return dict(zip(self.uuids, found, strict=True))

    def chosen(self, *args, **options):
        """Names of the hosts chosen."""
        found = self.decide(*args, **options)
        return [selections[0].service_host for selections in found.values()]

    def refused(self, *args, **options):
        """The message of the refusal."""
        return self.assertRaises(exception.NoValidHost, self.decide, *args, **options).message

    def asked(self):
        """Return what placement was asked since the last call."""
        found = [' '.join(one).replace('/placement', '') for one in self.server.requests]
        self.server.requests.clear()
        return found
