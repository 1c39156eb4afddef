"""Everything under /volume."""

from nova_lite.simcloud import routing
from nova_lite.simcloud.volume import actions
from nova_lite.simcloud.volume import attachments
from nova_lite.simcloud.volume import metadata
from nova_lite.simcloud.volume import microversion
from nova_lite.simcloud.volume import quotas
from nova_lite.simcloud.volume import records
from nova_lite.simcloud.volume import snapshots
from nova_lite.simcloud.volume import tables
from nova_lite.simcloud.volume import types
from nova_lite.simcloud.volume import views
from nova_lite.simcloud.volume import volumes

PREFIX = '/volume'
VersionHeaders = microversion.VersionHeaders


class Versions:
    """The version documents; no token needed."""

    @staticmethod
    def _document(req):
        return {
            'versions': [
                {
                    'id': 'v3.0',
                    'status': 'CURRENT',
                    'updated': '2023-08-31T00:00:00Z',
                    'version': f'3.{microversion.MAXIMUM}',
                    'min_version': f'3.{microversion.MINIMUM}',
                    'links': [{'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v3/'}],
                    'media-types': [
                        {
                            'base': 'application/json',
                            'type': 'application/vnd.openstack.volume+json;version=3',
                        }
                    ],
                }
            ]
        }

    def on_get(self, req, resp):
        resp.status = 300
        resp.media = self._document(req)

    def on_get_v3(self, req, resp):
        resp.media = self._document(req)


class Deployment:
    """What operators ask about the service itself: one simulated backend."""

    def on_get_zones(self, req, resp):
        resp.media = {
            'availabilityZoneInfo': [{'zoneName': records.ZONE, 'zoneState': {'available': True}}]
        }

    def on_get_services(self, req, resp):
        req.context.caller.require_admin('listing services')
        resp.media = {
            'services': [
                {
                    'binary': binary,
                    'host': host,
                    'zone': records.ZONE,
                    'status': 'enabled',
                    'state': 'up',
                    'updated_at': None,
                    'disabled_reason': None,
                }
                for binary, host in (
                    ('cinder-scheduler', 'simcloud'),
                    ('cinder-volume', views.HOST.partition('#')[0]),
                )
            ]
        }

    def on_get_pools(self, req, resp):
        req.context.caller.require_admin('listing pools')
        resp.media = {
            'pools': [
                {
                    'name': views.HOST,
                    'capabilities': {
                        'volume_backend_name': 'sim',
                        'total_capacity_gb': 'infinite',
                        'free_capacity_gb': 'infinite',
                        'reserved_percentage': 0,
                        'driver_version': '1.0',
                        'storage_protocol': 'fake',
                        'multiattach': True,
                    },
                }
            ]
        }

    def on_get_extensions(self, req, resp):
        resp.media = {'extensions': []}


def add(app, db, events):
    """Put the volume service's routes into `app`."""
    v3 = f'{PREFIX}/v3'
    versions = Versions()
    app.add_route(PREFIX, versions)
    app.add_route(v3, versions, suffix='v3')
    for name, resource, field in (
        ('volumes', volumes.VolumeResource(db), 'volume_id'),
        ('attachments', attachments.AttachmentResource(db, events), 'attachment_id'),
        ('snapshots', snapshots.SnapshotResource(db), 'snapshot_id'),
    ):
        routing.add_crud(app, f'{v3}/{name}', resource, field)
        app.add_route(f'{v3}/{name}/detail', resource, suffix='detail')
        if name == 'volumes':
            app.add_route(f'{v3}/volumes/summary', resource, suffix='summary')
        if name == 'attachments':
            app.add_route(f'{v3}/attachments/{{attachment_id}}/action', resource, suffix='action')
    app.add_route(f'{v3}/volumes/{{volume_id}}/action', actions.ActionResource(db, events))
    for name, field, table, get in (
        ('volumes', 'volume_id', tables.volumes, records.get),
        ('snapshots', 'snapshot_id', tables.snapshots, snapshots.get),
    ):
        routing.add_crud(
            app,
            f'{v3}/{name}/{{{field}}}/metadata',
            metadata.MetadataResource(db, table, get),
            'key',
        )
    routing.add_crud(app, f'{v3}/types', types.TypeResource(db), 'type_id')
    routing.add_crud(app, f'{v3}/types/{{type_id}}/extra_specs', types.SpecResource(db), 'key')
    quota = quotas.QuotaResource(db)
    app.add_route(f'{v3}/os-quota-sets/{{project_id}}', quota)
    app.add_route(f'{v3}/os-quota-sets/{{project_id}}/defaults', quota, suffix='defaults')
    app.add_route(f'{v3}/os-quota-class-sets/{{name}}', quota, suffix='class')
    app.add_route(f'{v3}/limits', quotas.LimitsResource(db))
    deployment = Deployment()
    app.add_route(f'{v3}/os-availability-zone', deployment, suffix='zones')
    app.add_route(f'{v3}/os-services', deployment, suffix='services')
    app.add_route(f'{v3}/scheduler-stats/get_pools', deployment, suffix='pools')
    app.add_route(f'{v3}/extensions', deployment, suffix='extensions')
