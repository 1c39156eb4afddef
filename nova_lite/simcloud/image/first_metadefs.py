"""The metadata definitions of a new cloud: a namespace for each type of resource.

Dashboards offer their properties in the forms of flavors, images, volumes and servers.
"""

from nova_lite.simcloud import bodies


def _of(kind: str, **more: str) -> dict[str, str]:
    return {'name': kind, **more}


def _text(title: str, description: str, *values: str) -> bodies.Json:
    one = {'title': title, 'type': 'string', 'description': description}
    return one | ({'enum': list(values)} if values else {})


def _texts(title: str, description: str) -> bodies.Json:
    return {
        'title': title,
        'type': 'array',
        'description': description,
        'items': {'type': 'string'},
    }


_SERVER = 'OS::Nova::Server'
NAMESPACES = (
    {
        'namespace': 'OS::Compute::FlavorPlacement',
        'display_name': 'Placement of a flavor',
        'description': 'Requirements of the servers of a flavor on their host.',
        'resource_type_associations': [_of('OS::Nova::Flavor', prefix='hw:')],
        'properties': {
            'cpu_policy': _text(
                'CPU policy', 'Whether each CPU has a host CPU of its own.', 'dedicated', 'shared'
            ),
            'mem_page_size': _text(
                'Memory page size', 'A size in KiB, or a word.', 'any', 'large', 'small'
            ),
        },
    },
    {
        'namespace': 'OS::Glance::ImageDevices',
        'display_name': 'Devices of an image',
        'description': 'Models of the devices of servers that are created from an image.',
        'resource_type_associations': [
            _of('OS::Glance::Image'),
            _of('OS::Cinder::Volume', properties_target='image'),
        ],
        'properties': {
            'hw_disk_bus': _text(
                'Disk bus', 'The bus to which disks are attached.', 'sata', 'scsi', 'virtio'
            ),
            'hw_vif_model': _text(
                'Interface model', 'The model of network interfaces.', 'e1000', 'virtio'
            ),
        },
    },
    {
        'namespace': 'OS::Cinder::VolumePurpose',
        'display_name': 'Purpose of a volume',
        'description': 'Metadata that describe the use of a volume.',
        'resource_type_associations': [_of('OS::Cinder::Volume')],
        'properties': {'purpose': _text('Purpose', 'The use of the volume.')},
    },
    {
        'namespace': 'OS::Nova::ServerPurpose',
        'display_name': 'Purpose of a server',
        'description': 'Metadata that describe the use of a server.',
        'resource_type_associations': [_of(_SERVER, properties_target='metadata')],
        'properties': {'purpose': _text('Purpose', 'The use of the server.')},
    },
    {
        'namespace': 'OS::Nova::SchedulerHints',
        'display_name': 'Scheduler hints',
        'description': 'Hints for the choice of the host of a new server.',
        'resource_type_associations': [_of(_SERVER, properties_target='scheduler_hints')],
        'properties': {
            'group': _text('Server group', 'Id of the group that the server joins.'),
            'same_host': _texts('Same host', 'Ids of servers on whose host the server runs.'),
            'different_host': _texts('Different host', 'Ids of servers that it runs apart from.'),
        },
    },
)
