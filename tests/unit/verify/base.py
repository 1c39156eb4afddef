"""A snapshot of a small cloud in which everything is well, for tests to spoil."""

import datetime
import types

import testtools

from nova_lite import runtime
from nova_lite.db.api import models as api_models
from nova_lite.db.cell import models as cell_models
from nova_lite.verify import age_limits
from nova_lite.verify import invariants
from nova_lite.verify import observed
from nova_lite.virt import model
from nova_lite.virt.sim import census

SERVER, OTHER, PROJECT = 'a server', 'another server', 'a project'
NODE, HOST = 'the uuid of host-1', 'host-1'
VOLUME, ATTACHMENT, PORT = 'a volume', 'an attachment', 'a port'
NOW = runtime.naive_now()
LONG_AGO = NOW - datetime.timedelta(hours=1)
FLAVOR = {'name': 'm1', 'vcpus': 1, 'memory_mb': 64, 'root_gb': 0, 'ephemeral_gb': 0, 'swap': 0}


def row(model, **columns):
    """Return a row of a model's table: all its columns, None unless they are given."""
    names = (column.name for column in model.__table__.columns)
    return types.SimpleNamespace(**{**dict.fromkeys(names), **columns})


def server(uuid=SERVER, **columns):
    """A record of a server that is ACTIVE on host-1."""
    return row(
        cell_models.Instance,
        **{
            'uuid': uuid,
            'project_id': PROJECT,
            'display_name': 'name',
            'host': HOST,
            'node': HOST,
            'vm_state': 'active',
            'power_state': 1,
            'hidden': False,
            'sealed': False,
            'vcpus': 1,
            'memory_mb': 64,
            'flavor': {**FLAVOR, 'extra_specs': {}},
            'network_info': [
                {
                    'id': PORT,
                    'address': 'fa:16:3e:00:00:01',
                    'network': {'subnets': [{'ips': [{'address': '10.0.0.2', 'type': 'fixed'}]}]},
                }
            ],
            'system_metadata': {},
            'created_at': LONG_AGO,
            'updated_at': LONG_AGO,
            **columns,
        },
    )


def guest(uuid=SERVER, node=HOST, devices=None, **values):
    """A guest that runs, with the volume and the port of the server."""
    if devices is None:
        devices = (
            model.Device(model.DeviceKind.VOLUME, VOLUME),
            model.Device(model.DeviceKind.INTERFACE, PORT),
        )
    spec = model.GuestSpec(
        uuid=uuid, name='n', flavor='m1', vcpus=1, memory_mb=64, disk_gb=0, devices=devices
    )
    return census.Row(
        **{
            'uuid': uuid,
            'node': node,
            'role': model.Role.RESIDENT,
            'power_state': 1,
            'move': None,
            'spec': spec,
            **values,
        }
    )


def saga(**columns):
    """A saga that works at the server."""
    values = {'uuid': 'a saga', 'kind': 'resize', 'step': 's', 'state': 'running', 'data': {}}
    owned = {'instance_uuid': SERVER, 'active_for': SERVER, 'created_at': NOW}
    return row(api_models.Saga, **{**values, **owned, **columns})


def migration(**columns):
    """A live migration of the server to host-2 that has ended."""
    return row(
        cell_models.Migration,
        **{
            'id': 1,
            'uuid': 'a move',
            'instance_uuid': SERVER,
            'migration_type': 'live-migration',
            'status': 'completed',
            'source_compute': 'host-2',
            'source_node': 'host-2',
            'dest_compute': HOST,
            'dest_node': HOST,
            'cross_cell_move': False,
            'hidden': False,
            'forced': False,
            **columns,
        },
    )


def image(**values):
    """An image that was made of the server."""
    return {
        'id': 'an image',
        'name': 'name-shelved',
        'status': 'active',
        'created_at': LONG_AGO.isoformat() + 'Z',
        'properties': {'instance_uuid': SERVER},
        **values,
    }


def block_device(**columns):
    """The block device of the server's volume."""
    return row(
        cell_models.BlockDevice,
        **{
            'uuid': 'a device',
            'instance_uuid': SERVER,
            'source_type': 'blank',
            'volume_id': VOLUME,
            'attachment_id': ATTACHMENT,
            **columns,
        },
    )


def build_request(uuid, **columns):
    """Return the build request of a server, whose build is under way."""
    return row(api_models.BuildRequest, instance_uuid=uuid, lease_until=NOW, **columns)


def service(host=HOST):
    """Return the service of a compute."""
    return row(cell_models.Service, host=host, binary='nova-compute', disabled=False)


def node(host=HOST, uuid=NODE):
    """Return the compute node of a host."""
    return row(
        cell_models.ComputeNode,
        uuid=uuid,
        host=host,
        hypervisor_hostname=host,
        vcpus=8,
        memory_mb=1024,
        local_gb=10,
    )


def host_mapping(host=HOST):
    """Return the mapping of a host to the one cell."""
    return row(api_models.HostMapping, host=host, cell_id=1)


def cell():
    """The one cell, with host-1 and the server on it."""
    return observed.CellSnapshot(
        name='cell1',
        id=1,
        instances=[server()],
        migrations=[],
        block_devices=[block_device()],
        nodes=[node()],
        services=[service()],
    )


def sound():
    """The snapshot."""
    mapping = row(
        api_models.InstanceMapping,
        cell_id=1,
        project_id=PROJECT,
        queued_for_delete=False,
        vcpus=1,
        memory_mb=64,
    )
    return observed.Snapshot(
        now=NOW,
        mappings={SERVER: mapping},
        build_requests={},
        specs={SERVER: {}},
        sagas=[],
        groups={},
        aggregates=[(types.SimpleNamespace(uuid='an aggregate', metadata={}), {HOST})],
        cells=[cell()],
        allocations={SERVER: {NODE: {'VCPU': 1, 'MEMORY_MB': 64}}},
        guests=[guest()],
        ports=[
            {
                'id': PORT,
                'device_id': SERVER,
                'device_owner': 'compute:nova',
                'mac_address': 'fa:16:3e:00:00:01',
                'fixed_ips': [{'ip_address': '10.0.0.2'}],
            }
        ],
        attachments=[
            {'id': ATTACHMENT, 'volume_id': VOLUME, 'instance': SERVER, 'status': 'attached'}
        ],
        volumes=[{'id': VOLUME, 'status': 'in-use', 'metadata': {}}],
        bindings={PORT: [(HOST, 'ACTIVE')]},
        host_mappings=[host_mapping()],
        providers={
            NODE: observed.Provider(
                HOST,
                {'VCPU': {'total': 8}, 'MEMORY_MB': {'total': 1024}, 'DISK_GB': {'total': 10}},
                frozenset(('OWNER_NOVA',)),
                frozenset(('an aggregate',)),
            )
        },
        limits={PROJECT: {'instances': 1, 'cores': 1, 'ram': 64}},
    )


class VerifyTest(testtools.TestCase):
    """self.snapshot is sound to begin with; self.row is the server's record."""

    def setUp(self):
        super().setUp()
        self.snapshot = sound()
        self.cell = self.snapshot.cells[0]
        self.row = self.cell.instances[0]

    def found(self, **limits):
        """Return what is found, as `invariant what: detail`, in alphabetical order."""
        within = age_limits.AgeLimits(**{'limits': True, **limits})
        return sorted(
            f'{each.invariant} {each.what}: {each.detail}'
            for each in invariants.check(self.snapshot, within)
        )

    def set(self, **columns):
        """Change the server's record."""
        vars(self.row).update(columns)
