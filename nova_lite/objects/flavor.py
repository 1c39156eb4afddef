"""Flavor: the size of a server, as it was when the server got it."""

from oslo_utils import versionutils
from oslo_versionedobjects import fields

from nova_lite import exception
from nova_lite.objects import base

# A guest without the devices would look as if it had what its flavor promises.
NO_DEVICES = 'Finish the upgrade first: a service does not support flavors with PCI devices.'


@base.Registry.register
class Flavor(base.Object):
    """A flavor. memory_mb and swap in MiB; root_gb and ephemeral_gb in GiB.

    devices: requests for PCI devices, which the API reads from the aliases of the extra specs; see
        lifecycle.guests.pci. A flavor without such aliases does not have this field
    """

    # 1.0: first version
    # 1.1: devices
    VERSION = '1.1'
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
        'devices': base.JsonField(),
    }
    name: str
    vcpus: int
    memory_mb: int
    root_gb: int
    ephemeral_gb: int
    swap: int
    extra_specs: dict[str, str | None]
    devices: list[base.Data]

    def obj_make_compatible(self, primitive: base.Data, target_version: str) -> None:
        super().obj_make_compatible(primitive, target_version)
        old = versionutils.convert_version_to_tuple(target_version) < (1, 1)
        if old and primitive.pop('devices', None):
            raise exception.TooOld(NO_DEVICES)
