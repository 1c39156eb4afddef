"""POST /os-aggregates/{aggregate_id}/images: cache images on its hosts.

Source: reference/nova/api-surface 2.5.
"""

from nova_lite import exception
from nova_lite.api import identifiers
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import aggregates as rules
from nova_lite.db.api import aggregates

IMAGE = schema_parts.whole({'id': schema_parts.UUID}, required=('id',))
BODY = schema_parts.body('cache', {'type': 'array', 'minItems': 1, 'items': IMAGE})


class ImageTwice(exception.Invalid):
    msg = 'Duplicate images in request: %(image_id)s'


@operation.operation(
    'POST',
    '/os-aggregates/{aggregate_id}/images',
    since='2.81',
    policy=rules.IMAGES,
    body={'2.81': BODY},
    success=202,
    faults=(400, 403, 404),
)
def cache(req: request.Request) -> None:
    """Request the caching. Only notifications report the progress."""
    aggregate_id = identifiers.number(req.args['aggregate_id'], 'aggregate_id')
    images = [image['id'] for image in req.content]
    for image_id in images:
        if images.count(image_id) > 1:
            raise ImageTwice(image_id=image_id)
    req.app.api_db.read(aggregates.get, aggregate_id)
    for image_id in images:
        try:
            req.app.image.get(req.ctxt, image_id)
        except exception.ImageNotFound as error:
            raise exception.Invalid(error.message) from error
    req.app.super_conductor.cache_images(req.ctxt, aggregate_id=aggregate_id, image_ids=images)
