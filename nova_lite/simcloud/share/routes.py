"""Routes below /share."""

from nova_lite.simcloud import database
from nova_lite.simcloud import routing
from nova_lite.simcloud.share import access
from nova_lite.simcloud.share import locations
from nova_lite.simcloud.share import locks
from nova_lite.simcloud.share import microversion
from nova_lite.simcloud.share import share_types
from nova_lite.simcloud.share import shares

PREFIX = '/share'
VersionHeaders = microversion.VersionHeaders


def add(app: routing.App, db: database.Database) -> None:
    """Put the shared file system service's routes into `app`."""
    v2 = f'{PREFIX}/v2'
    app.add_route(PREFIX, routing.Document(microversion.VERSIONS.document, status=300))
    app.add_route(v2, routing.Document(microversion.VERSIONS.document))
    for name, resource, field in (
        ('shares', shares.RESOURCE, 'share_id'),
        ('resource-locks', locks.RESOURCE, 'lock_id'),
    ):
        routing.add_resource(app, db, f'{v2}/{name}', field=field, resource=resource)
    app.add_route(f'{v2}/shares/{{share_id}}/action', access.ActionResource(db))
    for path, responder, field in (
        ('types', share_types.TypeResource(), 'type_id'),
        ('shares/{share_id}/export_locations', locations.LocationResource(db), 'location_id'),
        ('share-access-rules', access.RuleResource(db), 'access_id'),
    ):
        routing.add_crud(app, f'{v2}/{path}', responder, field)
