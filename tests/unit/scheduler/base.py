"""Base classes of the tests of the scheduler: hosts, specs and answers of placement."""

import testtools

from nova_lite import conf
from nova_lite import runtime
from nova_lite.db.api import aggregates
from nova_lite.objects import flavor
from nova_lite.objects import image
from nova_lite.objects import request_spec
from nova_lite.scheduler import candidates
from nova_lite.scheduler import hosts
from nova_lite.scheduler import scheduling_request
from tests.fixtures import flavor_records

GIB = 1024
CELL1 = '11111111-1111-1111-1111-111111111111'
CELL2 = '22222222-2222-2222-2222-222222222222'


class SchedulerTestCase(testtools.TestCase):
    """A test with a private configuration."""

    def setUp(self):
        super().setUp()
        self.conf = conf.make_conf([], files=[])

    def set(self, group, **options):
        """Configure options of a group."""
        for name, value in options.items():
            self.conf.set_override(name, value, group=group)


def make_flavor(**values):
    """A flavor of 1 vCPU, 512 MiB and 1 GiB, unless told otherwise."""
    return flavor.Flavor(**flavor_records.of(**{'name': 'tiny', **values}))


def make_image(properties=None, **values):
    """An image with these properties."""
    return image.ImageMeta(
        **{
            'id': '99999999-9999-9999-9999-999999999999',
            'name': 'image',
            'status': 'active',
            'owner': 'wonderland',
            'disk_format': 'qcow2',
            'container_format': 'bare',
            'min_disk': 0,
            'min_ram': 0,
            'size': 1,
            'properties': properties or {},
            **values,
        }
    )


def make_spec(extra_specs=None, image_properties=None, *, sizes=None, **values):
    """A request spec; extra_specs are the flavor's, sizes replace its sizes."""
    return request_spec.RequestSpec(
        **{
            'instance_uuid': runtime.new_uuid(),
            'project_id': 'wonderland',
            'user_id': 'alice',
            'flavor': make_flavor(extra_specs=extra_specs or {}, **(sizes or {})),
            'image': make_image(image_properties),
            **values,
        }
    )


def make_request(spec=None, count=1, **options):
    """A Request for so many servers."""
    return scheduling_request.Request(
        spec or make_spec(), [runtime.new_uuid() for _ in range(count)], **options
    )


def make_host(name='host', *, metadata=None, **values):
    """A host with 8 vCPUs, 16 GiB and 100 GiB, in CELL1, unless told otherwise.

    metadata: of the one aggregate it is in
    """
    return hosts.HostState(
        **{
            'host': name,
            'node': name,
            'uuid': uuid_of(name),
            'cell_uuid': CELL1,
            'vcpus_total': 8,
            'memory_mb': 16 * GIB,
            'local_gb': 100,
            'hypervisor_type': 'QEMU',
            'hypervisor_version': 8002002,
            'supported_instances': (('x86_64', 'kvm', 'hvm'),),
            'metadata': {key: frozenset([value]) for key, value in (metadata or {}).items()},
            **values,
        }
    )


def make_aggregate(name, metadata=None, members=()):
    """An aggregate as the API database gives it."""
    return aggregates.Aggregate(
        id=1,
        uuid=uuid_of(name),
        name=name,
        metadata=metadata or {},
        hosts=tuple(members),
        created_at=None,
        updated_at=None,
    )


def uuid_of(name):
    """A uuid that follows from a name."""
    digits = name.encode().hex()[-32:].rjust(32, '0')
    return '-'.join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def make_answer(states, resources=None):
    """Placement's body that offers all these hosts, their total capacity and no use."""
    wanted = resources or {'VCPU': 1, 'MEMORY_MB': 512, 'DISK_GB': 1}
    return {
        'allocation_requests': [
            {
                'allocations': {state.uuid: {'resources': wanted}},
                'mappings': {'': [state.uuid]},
            }
            for state in states
        ],
        'provider_summaries': {
            state.uuid: {
                'resources': {
                    'VCPU': {'capacity': state.vcpus_total, 'used': 0},
                    'MEMORY_MB': {'capacity': state.memory_mb, 'used': 0},
                    'DISK_GB': {'capacity': state.local_gb, 'used': 0},
                },
                'traits': [],
                'parent_provider_uuid': None,
                'root_provider_uuid': state.uuid,
            }
            for state in states
        },
    }


def make_candidates(states, resources=None):
    """Return what placement offers, read."""
    return candidates.Candidates(make_answer(states, resources))
