"""Owners and administrators take a volume from a server at each step of each saga."""

from tests.fixtures import owners
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
globals().update(owners_table.classes(__name__, 'ResetVolume', owners.RESET_VOLUME))
globals().update(owners_table.classes(__name__, 'DeletedVolume', owners.DELETED_VOLUME))
