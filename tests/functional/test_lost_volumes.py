"""Owners and administrators take a volume from a server at each step of each saga.

Unit tests do so at each step of a resize and its revert, so a commit takes a few sagas here.
"""

from tests.fixtures import owners
from tests.fixtures import scenarios
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
EVERY = 12
# Of others the servers have a volume beside their root disk.
ROOT_ONLY = ('volume-image', 'rebuild-from-volume', 'shelve-from-volume')
NAMES = tuple(name for name in scenarios.SCENARIOS if name not in ROOT_ONLY)
globals().update(
    owners_table.classes(__name__, 'ResetVolume', owners.RESET_VOLUME, names=NAMES, every=EVERY)
    | owners_table.classes(
        __name__, 'DeletedVolume', owners.DELETED_VOLUME, names=NAMES, every=EVERY
    )
)
