"""The image service: images' records and contents.

Calls are made in the user's name. Attributes that the service does not define
itself are an image's properties; its schema is not asked for.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import copy
import typing

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.clients import cache
from nova_lite.clients import items
from nova_lite.clients import responses
from nova_lite.clients import session
from nova_lite.clients import subject

ATTRIBUTES = (
    'id',
    'name',
    'status',
    'visibility',
    'owner',
    'protected',
    'tags',
    'size',
    'virtual_size',
    'checksum',
    'disk_format',
    'container_format',
    'min_disk',
    'min_ram',
    'created_at',
    'updated_at',
)
OTHERS = {
    'self',
    'file',
    'schema',
    'locations',
    'direct_url',
    'stores',
    'os_hidden',
    'os_hash_algo',
    'os_hash_value',
}
# A property of images that servers were shelved in.
SHELVED = 'nova_lite_shelved'
# Properties that describe only the image itself, and not a snapshot of a server made from it.
# [DEFAULT]non_inheritable_image_properties names further ones.
NOT_INHERITED = {
    SHELVED,
    'cinder_encryption_key_id',
    'cinder_encryption_key_deletion_policy',
    'img_signature',
    'img_signature_hash_method',
    'img_signature_key_type',
    'img_signature_certificate_uuid',
}
PAGE = 500

# (project id, whether for an administrator, image id)
Key: typing.TypeAlias = tuple[str | None, bool | None, str]


class Server(subject.Server, typing.Protocol):
    """The server that a snapshot is made of."""

    @property
    def flavor(self) -> session.Json: ...


def of(body: session.Json) -> session.Json:
    """Return an image from the service's representation.

    Returns ATTRIBUTES by name, and `properties`: {name: text}. min_disk is in
    GiB, min_ram in MiB, size in bytes or None.
    """
    image = {name: body.get(name) for name in ATTRIBUTES}
    image['min_disk'] = image['min_disk'] or 0
    image['min_ram'] = image['min_ram'] or 0
    image['properties'] = {
        name: value for name, value in body.items() if name not in ATTRIBUTES and name not in OTHERS
    }
    return image


class Image:
    """The image service."""

    def __init__(self, credentials: auth.Credentials) -> None:
        self.service = session.Neighbour(credentials, 'glance', title='image', version='/v2')
        self._images = items.Items(
            self.service, '/images', missing=(exception.ImageNotFound, 'image_id'), as_user=True
        )
        self._left_out = frozenset(credentials.conf.non_inheritable_image_properties)
        self.cache: cache.Cache[Key, session.Json] = cache.Cache(
            credentials.conf.glance.image_cache_seconds
        )

    def get(self, ctxt: session.Ctxt, image_id: str) -> session.Json:
        """Return the image, as `of` makes it. Raise ImageNotFound."""
        key = (ctxt.project_id, ctxt.is_admin, image_id)
        image = self.cache.get(key)
        if image is None:
            response = self._images.call(ctxt, 'GET', image_id)
            image = self.cache.put(key, of(response.json()))
        return copy.deepcopy(image)

    def url_of(self, image_id: str) -> str:
        """Return the address of an image, as clients of compute read it."""
        return f'{self.service.endpoint()}/images/{image_id}'

    def list(self, ctxt: session.Ctxt, /, **filters: typing.Any) -> session.Jsons:
        """Return the user's images that match the filters, which include marker and limit."""
        limit = filters.pop('limit', None)
        found: session.Jsons = []
        params = {'limit': min(limit or PAGE, PAGE), **filters}
        while True:
            body = self.service.get(
                ctxt, '/images', params=params, as_user=True, errors={400: exception.Invalid}
            )
            found.extend(of(item) for item in body['images'])
            if 'next' not in body or (limit is not None and len(found) >= limit):
                return found[:limit]
            params['marker'] = found[-1]['id']

    def create(
        self, ctxt: session.Ctxt, values: session.Json, *, image_id: str | None = None
    ) -> session.Json:
        """Create an image without contents (status queued), and return it.

        values:   attributes and properties, by name
        image_id: id of the new image; an existing image with this id is returned
        Raises Forbidden for more properties than an image may have.
        """
        if image_id is not None:
            values = {**values, 'id': image_id}
        errors = {
            400: exception.Invalid,
            409: exception.Conflict if image_id is None else None,
            413: _over_quota,
        }
        response = self.service.call(
            ctxt, 'POST', '/images', json=values, as_user=True, errors=errors
        )
        if image_id is not None and response.status_code == 409:
            return self.get(ctxt, image_id)
        return of(response.json())

    def create_snapshot(
        self,
        ctxt: session.Ctxt,
        name: str,
        server: Server,
        *,
        base: session.Json | None = None,
        properties: Mapping[str, str] | None = None,
        kind: str = 'snapshot',
        image_id: str | None = None,
    ) -> session.Json:
        """Create the queued image for a snapshot of a server, and return it.

        server:     its root disk (flavor) is the smallest that can boot from the image
        base:       the image of the server, as `get` returns it
        properties: further properties, which override those of the base, and image_type
        kind:       'snapshot' or 'backup', the property image_type
        """
        values = {'disk_format': 'qcow2', 'container_format': 'bare', 'min_disk': 0, 'min_ram': 0}
        if base is not None:
            values.update((key, base[key]) for key in values if base[key])
            values.update(
                (key, value)
                for key, value in base['properties'].items()
                if key not in NOT_INHERITED and key not in self._left_out
            )
            values['base_image_ref'] = base['id']
        values['min_disk'] = max(values['min_disk'], server.flavor['root_gb'])
        values['image_type'] = kind
        values.update(properties or {})
        values.update(
            name=name,
            visibility='private',
            instance_uuid=server.uuid,
            user_id=server.user_id,
        )
        if not self.service.has_user(ctxt):
            values['owner'] = server.project_id
        return self.create(ctxt, values, image_id=image_id)

    def update(
        self,
        ctxt: session.Ctxt,
        image_id: str,
        *,
        values: session.Json | None = None,
        remove: Iterable[str] = (),
    ) -> session.Json:
        """Set attributes and properties, and remove properties. Return the image.

        Raises Forbidden if the image would have too many properties.
        """
        patch = [
            {'op': 'add', 'path': _pointer(name), 'value': value}
            for name, value in (values or {}).items()
        ]
        patch += [{'op': 'remove', 'path': _pointer(name)} for name in remove]
        headers = {'Content-Type': 'application/openstack-images-v2.1-json-patch'}
        response = self._images.call(
            ctxt,
            'PATCH',
            image_id,
            json=patch,
            headers=headers,
            errors={400: exception.Invalid, 409: exception.Conflict, 413: _over_quota},
        )
        self.cache.drop((ctxt.project_id, ctxt.is_admin, image_id))
        return of(response.json())

    def upload(self, ctxt: session.Ctxt, image_id: str, data: bytes | Iterable[bytes]) -> None:
        """Store the image's contents (bytes or a file) and make it active.

        An image that is already active does not change. Raise ImageNotFound, also if the image is
        deleted during the upload.
        """
        response = self._images.call(
            ctxt,
            'PUT',
            image_id,
            '/file',
            data=data,
            errors={409: None, 410: self._images.missing(image_id)},
            headers={'Content-Type': 'application/octet-stream'},
        )
        if response.status_code == 409 and self.get(ctxt, image_id)['status'] != 'active':
            raise exception.Conflict(reason=responses.detail(response))

    def delete(self, ctxt: session.Ctxt, image_id: str, *, missing_ok: bool = False) -> None:
        """Delete the image. Raise ImageNotFound unless `missing_ok`.

        Raises Forbidden for a protected image, Conflict for an image in use.
        """
        errors: dict[int, session.Raising | None] = {409: exception.Conflict}
        if missing_ok:
            errors[404] = None
        self._images.call(ctxt, 'DELETE', image_id, errors=errors)
        self.cache.drop((ctxt.project_id, ctxt.is_admin, image_id))


def _over_quota(reason: str) -> exception.Forbidden:
    return exception.Forbidden(f'The image service refuses: {reason}')


def _pointer(name: str) -> str:
    """Return the JSON pointer to an attribute of an image."""
    return '/' + name.replace('~', '~0').replace('/', '~1')
