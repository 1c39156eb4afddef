"""The metadata of an instance from which the documents of its guest are made."""

import base64
from collections.abc import Iterable
import dataclasses
import json

from oslo_config import cfg
from oslo_log import log

from nova_lite.objects import base
from nova_lite.objects import block_device
from nova_lite.objects import instance as objects

LOG = log.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A server with its block devices, and the values that the configuration adds.

    network_info: that of its ports; hostname: with the domain; zone: availability zone
    vendor_data: the operator's JSON object
    """

    instance: objects.Instance
    block_devices: tuple[block_device.BlockDevice, ...]
    network_info: tuple[base.Data, ...]
    hostname: str
    zone: str
    vendor_data: base.Data

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
    network_info: Iterable[base.Data] | None = None,
) -> Facts:
    """Return the Facts of a server. network_info: None means that of the record"""
    if network_info is None:
        network_info = instance.get('network_info') or ()
    domain = conf.api.dhcp_domain
    name = instance.get('hostname') or ''
    return Facts(
        instance=instance,
        block_devices=tuple(block_devices),
        network_info=tuple(network_info),
        hostname=f'{name}.{domain}' if domain else name,
        zone=instance.get('availability_zone') or conf.default_availability_zone,
        vendor_data=vendor_data(conf.api.vendordata_jsonfile_path),
    )


def vendor_data(path: str | None) -> base.Data:
    """Return the JSON object in a file, {} without a path or if the file cannot be used."""
    if not path:
        return {}
    try:
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        LOG.warning('Cannot read the vendor data in %s: %s. Guests get none.', path, error)
        return {}
    if not isinstance(found, dict):
        LOG.warning('The vendor data in %s is not a JSON object. Guests get none.', path)
        return {}
    return found
