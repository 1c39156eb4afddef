"""Routes below /image."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import routing
from nova_lite.simcloud import web
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import images
from nova_lite.simcloud.image import members
from nova_lite.simcloud.image import metadef_schemas
from nova_lite.simcloud.image import metadefs

PREFIX = '/image'
CURRENT = 'v2.17'
# Without versions of optional features. The order is Glance's.
VERSIONS = bodies.words(f'v2.15 v2.9 {CURRENT} v2.7 v2.6 v2.5 v2.4 v2.3 v2.2 v2.1 v2.0')
# There is no import, only one store, and no limit of usage.
IMPORT = {
    'import-methods': {'description': 'Import methods available.', 'type': 'array', 'value': []}
}


def _versions(req: web.Request) -> dict[str, list[database.Row]]:
    links = [{'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v2/'}]
    return {
        'versions': [
            {'id': name, 'links': links, 'status': 'CURRENT' if name == CURRENT else 'SUPPORTED'}
            for name in VERSIONS
        ]
    }


def _stores(_req: web.Request) -> bodies.Json:
    raise faults.NotFound('Multi backend is not supported at this site.')


class Schemas:
    """JSON schemas of images and members: /v2/schemas."""

    MEMBER = {
        'name': 'member',
        'properties': {
            'image_id': fields.ID,
            'member_id': {'type': 'string'},
            'status': {'type': 'string', 'enum': ['pending', 'accepted', 'rejected']},
            'created_at': {'type': 'string'},
            'updated_at': {'type': 'string'},
            'schema': {'type': 'string', 'readOnly': True},
        },
    }
    LINKS = {
        'images': [
            {'rel': 'first', 'href': '{first}'},
            {'rel': 'next', 'href': '{next}'},
            {'rel': 'describedby', 'href': '{schema}'},
        ],
        'members': [{'rel': 'describedby', 'href': '{schema}'}],
    }

    def on_get(self, req: web.Request, resp: falcon.Response, name: str) -> None:
        known = {'image': fields.document(), 'member': self.MEMBER}
        single = name.removesuffix('s')
        if single not in known:
            raise faults.NotFound(f'There is no schema {name[:64]}.')
        if name == single:
            resp.media = known[single]
            return
        listed = ['schema', *(('first', 'next') if name == 'images' else ())]
        resp.media = {
            'name': name,
            'properties': {
                name: {'type': 'array', 'items': known[single]},
                **{each: {'type': 'string'} for each in listed},
            },
            'links': self.LINKS[name],
        }


def add(app: routing.App, db: database.Database) -> None:
    """Put the image service's routes into `app`."""
    v2 = f'{PREFIX}/v2'
    app.add_route(PREFIX, routing.Document(_versions, status=300))
    app.add_route(v2, routing.Document(_versions, status=300))
    app.add_route(f'{PREFIX}/versions', routing.Document(_versions))
    app.add_route(f'{v2}/schemas/{{name}}', Schemas())
    app.add_route(f'{v2}/schemas/metadefs/{{name}}', metadef_schemas.Schemas())
    app.add_route(f'{v2}/info/import', routing.Document(IMPORT))
    app.add_route(f'{v2}/info/stores', routing.Document(_stores))
    app.add_route(f'{v2}/info/usage', routing.Document({'usage': {}}))
    one = f'{v2}/images/{{image_id}}'
    routing.add_resource(app, db, f'{v2}/images', field='image_id', resource=images.RESOURCE)
    data = images.ContentResource(db)
    app.add_route(f'{one}/file', data)
    for name in ('tasks', 'locations'):
        app.add_route(f'{one}/{name}', data, suffix=name)
    for name in ('deactivate', 'reactivate'):
        app.add_route(f'{one}/actions/{name}', data, suffix=name)
    app.add_route(f'{one}/tags/{{tag}}', images.TagResource(db))
    routing.add_resource(app, db, f'{one}/members', field='member_id', resource=members.RESOURCE)
    metadefs.add(app, db, f'{v2}/metadefs')
