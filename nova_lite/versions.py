"""What each release speaks: API, RPC, object and service versions.

The history of the interfaces lives here. `[upgrade_levels]` and the oldest
service of a deployment choose a row; RPC clients then keep to its versions.
"""

SERVICE_VERSION = 1
# Computes of this version and newer put the trait OWNER_NOVA on their providers.
OWNER_TRAIT_SINCE = 1
# Computes of this version and newer can rebuild an evacuated server without starting it.
STOPPED_EVACUATION_SINCE = 1
# Computes of this version and newer can send a guest to another cell, and take one.
CROSS_CELL_RESIZE = 1

RELEASES = {
    '1.0': {
        'api': '2.104',
        'service': 1,
        'rpc': {'super-conductor': '1.0', 'scheduler': '1.0', 'conductor': '1.0', 'compute': '1.0'},
    },
}


def rpc_caps(release):
    """The highest RPC version per topic that `release` understands."""
    return dict(RELEASES[release]['rpc'])
