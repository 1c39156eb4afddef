"""Routes below /volume."""

from collections.abc import Callable

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import external_events
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.volume import attachments
from nova_lite.simcloud.volume import backups
from nova_lite.simcloud.volume import encryptions
from nova_lite.simcloud.volume import group_types
from nova_lite.simcloud.volume import microversion
from nova_lite.simcloud.volume import pools
from nova_lite.simcloud.volume import qos_specs
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import snapshots
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import transfers
from nova_lite.simcloud.volume import type_access
from nova_lite.simcloud.volume import volume_actions
from nova_lite.simcloud.volume import volume_metadata
from nova_lite.simcloud.volume import volume_types
from nova_lite.simcloud.volume import volumes

PREFIX = '/volume'
VersionHeaders = microversion.VersionHeaders


ZONES = [{'zoneName': tables.ZONE, 'zoneState': {'available': True}}]
SERVICES = [
    {
        'binary': binary,
        'host': host,
        'zone': tables.ZONE,
        'status': 'enabled',
        'state': 'up',
        'updated_at': None,
        'disabled_reason': None,
    }
    for binary, host in (
        ('cinder-scheduler', 'simcloud'),
        ('cinder-backup', 'simcloud'),
        *(('cinder-volume', host.partition('#')[0]) for host in tables.HOSTS),
    )
]
# {alias: name} of Cinder's extensions that are simulated.
EXTENSIONS = {
    'backups': 'Backups',
    'encryption': 'VolumeTypeEncryption',
    'os-admin-actions': 'AdminActions',
    'os-availability-zone': 'AvailabilityZones',
    'os-extended-snapshot-attributes': 'ExtendedSnapshotAttributes',
    'os-quota-class-sets': 'QuotaClasses',
    'os-quota-sets': 'Quotas',
    'os-services': 'Services',
    'os-types-extra-specs': 'TypesExtraSpecs',
    'os-types-manage': 'TypesManage',
    'os-used-limits': 'UsedLimits',
    'os-vol-host-attr': 'VolumeHostAttribute',
    'os-vol-image-meta': 'VolumeImageMetadata',
    'os-vol-mig-status-attr': 'VolumeMigStatusAttribute',
    'os-vol-tenant-attr': 'VolumeTenantAttribute',
    'os-volume-actions': 'VolumeActions',
    'os-volume-encryption-metadata': 'VolumeEncryptionMetadata',
    'os-volume-transfer': 'VolumeTransfer',
    'os-volume-type-access': 'VolumeTypeAccess',
    'qos-specs': 'Qos_specs_manage',
    'scheduler-stats': 'Scheduler_stats',
}
_UPDATED = '2013-01-01T00:00:00+00:00'


def _services(req: web.Request) -> database.Row:
    wanted = {name: req.get_param(name) for name in ('host', 'binary') if name in req.params}
    return {
        'services': [
            service
            for service in SERVICES
            if all(service[name] == value for name, value in wanted.items())
        ]
    }


# Answers that do not depend on stored data:
# (path, the action in the message for users who are not administrators, answer)
DEPLOYMENT: tuple[
    tuple[str, str | None, bodies.Json | Callable[[web.Request], bodies.Json]], ...
] = (
    ('os-availability-zone', None, {'availabilityZoneInfo': ZONES}),
    ('os-services', 'listing services', _services),
    # Clients list groups of volumes beside the volumes, but there are none.
    *(
        (f'{name}{detail}', None, {name: []})
        for name in ('groups', 'group_snapshots')
        for detail in ('', '/detail')
    ),
    (
        'extensions',
        None,
        {
            'extensions': [
                {
                    'alias': alias,
                    'name': name,
                    'description': name,
                    'updated': _UPDATED,
                    'links': [],
                }
                for alias, name in EXTENSIONS.items()
            ]
        },
    ),
)


def add(app: routing.App, db: database.Database, events: external_events.Sender) -> None:
    """Put the volume service's routes into `app`."""
    v3 = f'{PREFIX}/v3'
    app.add_route(PREFIX, routing.Document(microversion.VERSIONS.document, status=300))
    app.add_route(v3, routing.Document(microversion.VERSIONS.document))
    for name, resource, field in (
        ('volumes', volumes.RESOURCE, 'volume_id'),
        ('snapshots', snapshots.RESOURCE, 'snapshot_id'),
        ('types', volume_types.RESOURCE, 'type_id'),
        ('group_types', group_types.RESOURCE, 'group_type_id'),
        ('qos-specs', qos_specs.RESOURCE, 'specs_id'),
        ('volume-transfers', transfers.RESOURCE, 'transfer_id'),
        ('os-volume-transfer', transfers.OLD, 'transfer_id'),
        ('backups', backups.RESOURCE, 'backup_id'),
    ):
        routing.add_resource(app, db, f'{v3}/{name}', field=field, resource=resource)
    app.add_route(f'{v3}/volumes/summary', volumes.SummaryResource(db))
    app.add_route(f'{v3}/volumes/{{volume_id}}/action', volume_actions.ActionResource(db, events))
    app.add_route(f'{v3}/snapshots/{{snapshot_id}}/action', snapshots.ActionResource(db))
    attachment = attachments.AttachmentResource(db, events)
    routing.add_crud(app, f'{v3}/attachments', attachment, 'attachment_id')
    app.add_route(f'{v3}/attachments/detail', attachment, suffix='detail')
    app.add_route(f'{v3}/attachments/{{attachment_id}}/action', attachment, suffix='action')
    _add_keys(app, db, v3)
    qos_specs.add(app, db, f'{v3}/qos-specs')
    backups.add(app, db, f'{v3}/backups')
    for name in ('volume-transfers', 'os-volume-transfer'):
        app.add_route(f'{v3}/{name}/{{transfer_id}}/accept', transfers.AcceptResource(db))
    encryptions.add(app, db, v3)
    access = type_access.AccessResource(db)
    app.add_route(f'{v3}/types/{{type_id}}/os-volume-type-access', access)
    app.add_route(f'{v3}/types/{{type_id}}/action', access, suffix='action')
    quota = quotas.QuotaResource(db)
    app.add_route(f'{v3}/os-quota-sets/{{project_id}}', quota)
    app.add_route(f'{v3}/os-quota-sets/{{project_id}}/defaults', quota, suffix='defaults')
    app.add_route(f'{v3}/os-quota-class-sets/{{name}}', quota, suffix='class')
    app.add_route(f'{v3}/limits', quotas.LimitsResource(db))
    app.add_route(f'{v3}/scheduler-stats/get_pools', pools.PoolResource(db))
    for path, reserved, answer in DEPLOYMENT:
        app.add_route(f'{v3}/{path}', routing.Document(answer, reserved=reserved))


def _add_keys(app: routing.App, db: database.Database, v3: str) -> None:
    """Add the metadata of volumes and snapshots, and the specs of types and group types."""
    for path, column, get in (
        ('volumes/{volume_id}', tables.volumes.c.metadata, records.get),
        ('snapshots/{snapshot_id}', tables.snapshots.c.metadata, records.get_snapshot),
    ):
        keys = volume_metadata.MetadataResource(db, column, get)
        routing.add_crud(app, f'{v3}/{path}/metadata', keys, 'key')
    specs = volume_metadata.SpecResource(
        db, tables.types.c.extra_specs, volume_types.get, volume_metadata.shown_specs
    )
    routing.add_crud(app, f'{v3}/types/{{type_id}}/extra_specs', specs, 'key')
    specs = volume_metadata.SpecResource(
        db, tables.group_types.c.group_specs, group_types.get, group_types.shown_specs
    )
    routing.add_crud(app, f'{v3}/group_types/{{group_type_id}}/group_specs', specs, 'key')
