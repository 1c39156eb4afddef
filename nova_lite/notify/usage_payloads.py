"""Payloads about the use of hosts and volumes. Objects and versions are those of Nova."""

from collections.abc import Mapping
import datetime
import typing

from oslo_versionedobjects import fields

from nova_lite.notify import payloads

PERCENT = '.percent'
Facts: typing.TypeAlias = Mapping[str, typing.Any]


@payloads.payload
class MetricPayload(payloads.Payload):
    """A metric. numa_membw_values is always null: it is not measured."""

    VERSION = '1.0'
    fields = {
        'name': fields.StringField(),
        'value': fields.IntegerField(),
        'numa_membw_values': fields.DictOfIntegersField(nullable=True),
        'timestamp': fields.DateTimeField(),
        'source': fields.StringField(),
    }


@payloads.payload
class MetricsPayload(payloads.Payload):
    VERSION = '1.0'
    fields = {
        'host': fields.StringField(),
        'host_ip': fields.StringField(nullable=True),
        'nodename': fields.StringField(),
        'metrics': fields.ListOfObjectsField('MetricPayload'),
    }


@payloads.payload
class VolumeUsagePayload(payloads.Payload):
    VERSION = '1.0'
    fields = {
        'volume_id': fields.UUIDField(),
        'project_id': fields.StringField(nullable=True),
        'user_id': fields.StringField(nullable=True),
        'instance_uuid': fields.UUIDField(),
        'availability_zone': fields.StringField(nullable=True),
        'last_refreshed': fields.DateTimeField(),
        'reads': fields.IntegerField(),
        'read_bytes': fields.IntegerField(),
        'writes': fields.IntegerField(),
        'write_bytes': fields.IntegerField(),
    }


def of_metrics(values: Facts) -> MetricsPayload:
    """Return the payload of the metrics of a node, whose record has shares from 0 to 1."""
    return MetricsPayload(**{**values, 'metrics': [*map(_of_metric, values['metrics'])]})


def _of_metric(found: Facts) -> MetricPayload:
    value, name = found['value'], found['name']
    return MetricPayload(
        name=name,
        value=round(value * 100) if name.endswith(PERCENT) else value,
        numa_membw_values=None,
        timestamp=datetime.datetime.fromisoformat(found['timestamp']),
        source=found['source'],
    )
