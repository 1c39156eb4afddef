"""Flavor: the size of a server, as it was when the server got it."""

from oslo_versionedobjects import fields

from nova_lite.objects import base


@base.Registry.register
class Flavor(base.Object):
    """A flavor. memory_mb and swap in MiB; root_gb and ephemeral_gb in GiB."""

    # 1.0: first version
    VERSION = '1.0'
    fields = {
        'id': fields.IntegerField(),
        'flavorid': fields.StringField(),
        'name': fields.StringField(),
        'vcpus': fields.IntegerField(),
        'memory_mb': fields.IntegerField(),
        'root_gb': fields.IntegerField(),
        'ephemeral_gb': fields.IntegerField(),
        'swap': fields.IntegerField(),
        'rxtx_factor': fields.FloatField(),
        'disabled': fields.BooleanField(),
        'is_public': fields.BooleanField(),
        'description': fields.StringField(nullable=True),
        'extra_specs': fields.DictOfNullableStringsField(),
    }
    name: str
    vcpus: int
    memory_mb: int
    root_gb: int
    ephemeral_gb: int
    swap: int
    extra_specs: dict[str, str | None]
