"""Errors about images."""

from nova_lite.exception import base


class ImageNotUsable(base.Invalid):
    msg = 'Image %(image_id)s cannot be used: %(reason)s'


class ImageNotFound(base.NotFound):
    msg = 'Image %(image_id)s could not be found.'
