"""Everything under /image."""

from nova_lite.simcloud import faults
from nova_lite.simcloud import routing
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import images
from nova_lite.simcloud.image import members

PREFIX = '/image'
CURRENT = 'v2.16'
OLDER = (
    'v2.15',
    'v2.13',
    'v2.12',
    'v2.11',
    'v2.10',
    'v2.9',
    'v2.8',
    'v2.7',
    'v2.6',
    'v2.5',
    'v2.4',
    'v2.3',
    'v2.2',
    'v2.1',
    'v2.0',
)


class Versions:
    """The version documents; no token needed."""

    @staticmethod
    def _document(req):
        links = [{'rel': 'self', 'href': f'{req.context.public_url}{PREFIX}/v2/'}]
        return {
            'versions': [
                {
                    'id': name,
                    'links': links,
                    'status': 'CURRENT' if name == CURRENT else 'SUPPORTED',
                }
                for name in (CURRENT, *OLDER)
            ]
        }

    def on_get(self, req, resp):
        resp.status = 300
        resp.media = self._document(req)

    def on_get_list(self, req, resp):
        resp.media = self._document(req)


class Schemas:
    """/v2/schemas: what images and members look like."""

    MEMBER = {
        'name': 'member',
        'properties': {
            name: {'type': 'string'}
            for name in ('image_id', 'member_id', 'status', 'created_at', 'updated_at', 'schema')
        },
    }

    def on_get(self, req, resp, name):
        known = {'image': fields.document(), 'member': self.MEMBER}
        single = name.removesuffix('s')
        if single not in known:
            raise faults.NotFound(f'There is no schema {name[:64]}.')
        if name == single:
            resp.media = known[single]
            return
        resp.media = {
            'name': name,
            'properties': {
                name: {'type': 'array', 'items': known[single]},
                'first': {'type': 'string'},
                'next': {'type': 'string'},
                'schema': {'type': 'string'},
            },
        }


class Info:
    """/v2/info: there is no import and there are no several stores."""

    def on_get_import(self, req, resp):
        resp.media = {
            'import-methods': {
                'description': 'Import methods available.',
                'type': 'array',
                'value': [],
            }
        }

    def on_get_stores(self, req, resp):
        raise faults.NotFound('Multi backend is not supported at this site.')


def add(app, db):
    """Put the image service's routes into `app`."""
    v2 = f'{PREFIX}/v2'
    versions = Versions()
    app.add_route(PREFIX, versions)
    app.add_route(v2, versions)
    app.add_route(f'{PREFIX}/versions', versions, suffix='list')
    app.add_route(f'{v2}/schemas/{{name}}', Schemas())
    info = Info()
    app.add_route(f'{v2}/info/import', info, suffix='import')
    app.add_route(f'{v2}/info/stores', info, suffix='stores')
    image = images.ImageResource(db)
    one = f'{v2}/images/{{image_id}}'
    routing.add_crud(app, f'{v2}/images', image, 'image_id')
    app.add_route(f'{one}/tasks', image, suffix='tasks')
    app.add_route(f'{one}/locations', image, suffix='locations')
    data = images.ContentResource(db)
    app.add_route(f'{one}/file', data)
    app.add_route(f'{one}/actions/deactivate', data, suffix='deactivate')
    app.add_route(f'{one}/actions/reactivate', data, suffix='reactivate')
    app.add_route(f'{one}/tags/{{tag}}', images.TagResource(db))
    routing.add_crud(app, f'{one}/members', members.MemberResource(db), 'member_id')
