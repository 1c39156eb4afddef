"""Payload of a request spec, with the NUMA nodes and the PCI devices that a server asks for.

Objects and versions are those of Nova, see `payloads`. `lifecycle.guests.spec_parts` makes them.
"""

import typing

from oslo_versionedobjects import fields

from nova_lite.notify import payloads


@payloads.payload
class InstanceNUMACellPayload(payloads.Payload):
    """A NUMA node of a server, before a host was chosen."""

    VERSION = '1.2'
    fields = {
        'id': fields.IntegerField(),
        'cpuset': fields.SetOfIntegersField(),
        'pcpuset': fields.SetOfIntegersField(),
        'cpuset_reserved': fields.SetOfIntegersField(nullable=True),
        'memory': fields.IntegerField(),
        'pagesize': fields.IntegerField(nullable=True),
        'cpu_topology': fields.StringField(nullable=True),
        'cpu_pinning_raw': fields.DictOfIntegersField(nullable=True),
        'cpu_policy': fields.StringField(nullable=True),
        'cpu_thread_policy': fields.StringField(nullable=True),
    }


@payloads.payload
class InstanceNUMATopologyPayload(payloads.Payload):
    VERSION = '1.0'
    fields = {
        'instance_uuid': fields.UUIDField(),
        'cells': fields.ListOfObjectsField('InstanceNUMACellPayload'),
        'emulator_threads_policy': fields.StringField(nullable=True),
    }


@payloads.payload
class InstancePCIRequestPayload(payloads.Payload):
    VERSION = '1.1'
    fields = {
        'count': fields.IntegerField(),
        'spec': fields.ListOfDictOfNullableStringsField(),
        'alias_name': fields.StringField(nullable=True),
        'request_id': fields.UUIDField(nullable=True),
        'numa_policy': fields.StringField(nullable=True),
    }


@payloads.payload
class InstancePCIRequestsPayload(payloads.Payload):
    VERSION = '1.0'
    fields = {
        'instance_uuid': fields.UUIDField(),
        'requests': fields.ListOfObjectsField('InstancePCIRequestPayload'),
    }


@payloads.payload
class RequestSpecPayload(payloads.Payload):
    """The request spec of a server. Nova's image is always null."""

    VERSION = '1.1'
    fields = {
        'instance_uuid': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'availability_zone': fields.StringField(nullable=True),
        'flavor': fields.ObjectField('FlavorPayload', nullable=True),
        'image': fields.StringField(nullable=True),
        'numa_topology': fields.ObjectField('InstanceNUMATopologyPayload', nullable=True),
        'pci_requests': fields.ObjectField('InstancePCIRequestsPayload', nullable=True),
        'num_instances': fields.IntegerField(),
        'ignore_hosts': fields.ListOfStringsField(nullable=True),
        'force_hosts': fields.ListOfStringsField(nullable=True),
        'force_nodes': fields.ListOfStringsField(nullable=True),
        'scheduler_hints': fields.DictOfListOfStringsField(),
        'security_groups': fields.ListOfStringsField(),
        'instance_group': fields.StringField(nullable=True),
        'requested_destination': fields.StringField(nullable=True),
        'retry': fields.StringField(nullable=True),
    }


class Parts(typing.NamedTuple):
    """Fields of a request spec that are null for most servers."""

    numa_topology: InstanceNUMATopologyPayload | None = None
    pci_requests: InstancePCIRequestsPayload | None = None
