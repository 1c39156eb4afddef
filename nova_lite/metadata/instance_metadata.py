"""The metadata of an instance from which the documents of its guest are made."""

import base64
from collections.abc import Iterable
import dataclasses

from oslo_config import cfg

from nova_lite.metadata import vendor_data
from nova_lite.metadata import vendor_services
from nova_lite.objects import base
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A server with its block devices, and the values that the configuration adds.

    network_info: that of its ports; hostname: with the domain; zone: availability zone
    vendor_data: the operator's JSON objects
    """

    instance: objects.Instance
    block_devices: tuple[block_device.BlockDevice, ...]
    network_info: tuple[base.Data, ...]
    hostname: str
    zone: str
    vendor_data: vendor_data.VendorData

    @property
    def user_data(self) -> bytes | None:
        """Return the user data that the user gave, or None."""
        text = self.instance.get('user_data')
        return base64.b64decode(text) if text else None


def gather(
    conf: cfg.ConfigOpts,
    instance: objects.Instance,
    block_devices: Iterable[block_device.BlockDevice],
    *,
    services: vendor_services.Services,
    network_info: Iterable[base.Data] | None = None,
) -> Facts:
    """Return the Facts of a server.

    services: those of the daemon; network_info: None means that of the record
    """
    if network_info is None:
        network_info = instance.get('network_info') or ()
    domain = conf.api.dhcp_domain
    name = instance.get('hostname') or ''
    hostname = f'{name}.{domain}' if domain else name
    return Facts(
        instance=instance,
        block_devices=tuple(block_devices),
        network_info=tuple(network_info),
        hostname=hostname,
        zone=instance.get('availability_zone') or conf.default_availability_zone,
        vendor_data=vendor_data.VendorData(conf, services, _told(instance)),
    )


def _told(instance: objects.Instance) -> base.Data:
    """Return the facts of a server that services of dynamic vendor data receive."""
    return {
        'project-id': instance.project_id,
        'instance-id': instance.uuid,
        'image-id': instance.get('image_ref') or '',
        'user-data': instance.get('user_data'),
        'hostname': instance.get('hostname') or '',
        'metadata': dict(instance.metadata),
    }
