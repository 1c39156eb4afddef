"""Documents in the format of OpenStack, by version."""

import base64
from collections.abc import Callable
import json

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lifecycle.guests import constraints
from nova_lite.metadata import instance_metadata
from nova_lite.metadata import network_data
from nova_lite.metadata import tagged_devices
from nova_lite.objects import base

# Versions are dates, which sort as text.
VERSIONS = (
    '2012-08-10',
    '2013-04-04',
    '2013-10-17',
    '2015-10-15',
    '2016-06-30',
    '2016-10-06',
    '2017-02-22',
    '2018-08-27',
    '2020-10-14',
)
META_DATA, USER_DATA, PASSWORD = 'meta_data.json', 'user_data', 'password'
VENDOR_DATA, VENDOR_DATA_2 = 'vendor_data.json', 'vendor_data2.json'
NETWORK_DATA = 'network_data.json'
# {document or key of meta_data.json: the version that added it}
SINCE = {
    META_DATA: VERSIONS[0],
    USER_DATA: VERSIONS[0],
    PASSWORD: '2013-04-04',
    VENDOR_DATA: '2013-10-17',
    NETWORK_DATA: '2015-10-15',
    VENDOR_DATA_2: '2016-10-06',
    'random_seed': '2013-04-04',
    'project_id': '2015-10-15',
    'devices': '2016-06-30',
    'dedicated_cpus': '2020-10-14',
}
# The seed is 512 random characters, encoded once more.
SEED_ENTROPY_BYTES = 384
X509 = '-----BEGIN CERTIFICATE'


def documents(
    facts: instance_metadata.Facts, version: str, extra: base.Data | None = None
) -> dict[str, bytes]:
    """Return the documents of one of VERSIONS. extra: further keys of meta_data.json"""
    found = {name: make() for name, make in _makers(facts, version, extra).items()}
    return {name: content for name, content in found.items() if content is not None}


def document(facts: instance_metadata.Facts, version: str, name: str) -> bytes | None:
    """Return one of the documents of a version, or None if the version does not have it."""
    make = _makers(facts, version).get(name)
    return None if make is None else make()


def names(facts: instance_metadata.Facts, version: str) -> set[str]:
    """Return the names of the documents of a version. This asks no service for vendor data."""
    return {
        name for name in _makers(facts, version) if name != USER_DATA or facts.user_data is not None
    }


def _makers(
    facts: instance_metadata.Facts, version: str, extra: base.Data | None = None
) -> dict[str, Callable[[], bytes | None]]:
    """Return {name of a document: function that makes it} of a version."""
    found: dict[str, Callable[[], bytes | None]] = {
        META_DATA: lambda: _text(meta_data(facts, version, extra)),
        USER_DATA: lambda: facts.user_data,
        VENDOR_DATA: lambda: _text(facts.vendor_data.static()),
        NETWORK_DATA: lambda: _text(network_data.build(facts.network_info)),
        VENDOR_DATA_2: lambda: _text(facts.vendor_data.all()),
    }
    return {name: make for name, make in found.items() if version >= SINCE[name]}


def meta_data(
    facts: instance_metadata.Facts, version: str, extra: base.Data | None = None
) -> base.Data:
    """Return the content of meta_data.json."""
    instance = facts.instance
    found = {
        'uuid': instance.uuid,
        'name': instance.display_name,
        'hostname': facts.hostname,
        'launch_index': instance.get('launch_index') or 0,
        'availability_zone': facts.zone,
        **_keys(instance.get('key_name'), instance.get('key_data')),
        **({'meta': dict(instance.metadata)} if instance.metadata else {}),
        'random_seed': _seed(),
        'project_id': instance.project_id,
        'devices': tagged_devices.of(facts, version),
        'dedicated_cpus': _dedicated_cpus(facts),
        **(extra or {}),
    }
    return {key: value for key, value in found.items() if version >= SINCE.get(key, VERSIONS[0])}


def _keys(name: str | None, data: str | None) -> base.Data:
    if not name or not data:
        return {}
    kind = 'x509' if data.startswith(X509) else 'ssh'
    return {
        'public_keys': {name: data},
        'keys': [{'name': name, 'type': kind, 'data': data}],
    }


def _seed() -> str:
    return base64.b64encode(runtime.new_secret(SEED_ENTROPY_BYTES).encode()).decode()


def _dedicated_cpus(facts: instance_metadata.Facts) -> list[int]:
    """Return the numbers of the guest's CPUs that have a CPU of the host each."""
    instance = facts.instance
    try:
        guest = constraints.of(
            constraints.Asked.of(instance.flavor.as_dict(), instance.get('image_properties') or {})
        )
    except exception.Invalid:
        # A former release has accepted the server.
        return []
    return sorted(guest.dedicated)


def _text(value: base.Data) -> bytes:
    return json.dumps(value).encode()
