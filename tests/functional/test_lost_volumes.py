"""Owners and administrators take a volume from a server at each step of each saga.

Unit tests do so at each step of a resize and its revert, so a commit takes a few sagas here.
"""

from tests.fixtures import owners
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
EVERY = 12
globals().update(
    owners_table.classes(__name__, 'ResetVolume', owners.RESET_VOLUME, every=EVERY)
    | owners_table.classes(__name__, 'DeletedVolume', owners.DELETED_VOLUME, every=EVERY)
)
