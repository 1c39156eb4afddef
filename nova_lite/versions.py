"""The API, RPC, object and service versions of each release.

The history of the interfaces lives here. `[upgrade_levels]` and the oldest
service of a deployment choose a row; RPC clients then keep to its versions.
"""

import typing

SERVICE_VERSION = 1
# Computes of this version and newer put the trait OWNER_NOVA on their providers.
OWNER_TRAIT_SINCE = 1
# Computes of this version and newer can rebuild an evacuated server without starting it.
STOPPED_EVACUATION_SINCE = 1
# Computes of this version and newer can send a guest to another cell, and take one.
CROSS_CELL_RESIZE = 1


class Release(typing.TypedDict):
    """The versions of a release. rpc: {topic: version}; objects: {name: version}"""

    api: str
    service: int
    rpc: dict[str, str]
    objects: dict[str, str]


RELEASES: dict[str, Release] = {
    '1.0': {
        'api': '2.104',
        'service': 1,
        'rpc': {'super-conductor': '1.0', 'scheduler': '1.0', 'conductor': '1.0', 'compute': '1.0'},
        'objects': {
            'BlockDevice': '1.0',
            'Destination': '1.0',
            'Flavor': '1.1',
            'ImageMeta': '1.0',
            'Instance': '1.1',
            'InstanceGroup': '1.0',
            'RequestGroup': '1.0',
            'RequestSpec': '1.0',
            'Selection': '1.0',
        },
    },
}


class Pin(typing.NamedTuple):
    """Versions that the far side understands: that of the RPC interface, and {object: version}."""

    rpc: str
    objects: dict[str, str]


def pin(topic: str, level: str) -> Pin:
    """Return the Pin of a release, or of a version of the interface `topic`. Raise ValueError."""
    if level in RELEASES:
        row = RELEASES[level]
        return Pin(row['rpc'][topic], row['objects'])
    try:
        wanted = pair(level)
    except ValueError:
        raise ValueError(f'{level} is neither a release nor a version of RPC') from None
    fitting = [row for row in RELEASES.values() if pair(row['rpc'][topic]) <= wanted]
    if not fitting:
        raise ValueError(f'{level} is older than any version of {topic} that is still spoken')
    return Pin(level, fitting[-1]['objects'])


def pin_of_service(topic: str, oldest: int) -> Pin:
    """Return the Pin of the newest release whose services are no newer than version `oldest`."""
    rows = list(RELEASES.values())
    row = next((row for row in reversed(rows) if row['service'] <= oldest), rows[0])
    return Pin(row['rpc'][topic], row['objects'])


def pair(version: str) -> tuple[int, int]:
    """Return a version such as 1.10 as a pair of numbers, to compare."""
    major, minor = version.split('.')
    return int(major), int(minor)
