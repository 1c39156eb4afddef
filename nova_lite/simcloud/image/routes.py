"""Everything under /image."""

from nova_lite.simcloud import faults
from nova_lite.simcloud import routing
from nova_lite.simcloud.image import fields
from nova_lite.simcloud.image import images
from nova_lite.simcloud.image import members

PREFIX = '/image'
CURRENT = 'v2.17'
# Without those of features that are optional. The order is Glance's.
VERSIONS = (
    'v2.15',
    'v2.9',
    CURRENT,
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
                for name in VERSIONS
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

    def on_get(self, req, resp, name):
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


class Info:
    """/v2/info: there are no import, no several stores and no limits of use."""

    def on_get_import(self, req, resp):
        resp.media = {
            'import-methods': {
                'description': 'Import methods available.',
                'type': 'array',
                'value': [],
            }
        }

    def on_get_usage(self, req, resp):
        resp.media = {'usage': {}}

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
    app.add_route(f'{v2}/info/usage', info, suffix='usage')
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
