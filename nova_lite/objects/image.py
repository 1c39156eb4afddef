"""ImageMeta: the fields of an image that scheduling and building need."""

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class ImageMeta(base.Object):
    """An image's record. min_disk in GiB, min_ram in MiB, size in bytes.

    id is None for a server that boots from a volume.
    """

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'id': fields.StringField(nullable=True),
        'name': fields.StringField(nullable=True),
        'status': fields.StringField(nullable=True),
        'owner': fields.StringField(nullable=True),
        'disk_format': fields.StringField(nullable=True),
        'container_format': fields.StringField(nullable=True),
        'min_disk': fields.IntegerField(),
        'min_ram': fields.IntegerField(),
        'size': fields.IntegerField(nullable=True),
        'properties': fields.DictOfNullableStringsField(),
    }
    id: str | None
    name: str | None
    disk_format: str | None
    properties: dict[str, str | None]
