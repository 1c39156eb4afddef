"""Owners delete the snapshots that images of servers with volumes consist of."""

from tests.fixtures import owners
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
NAMES = ('volume-image',)
globals().update(
    owners_table.classes(__name__, 'DeletedSnapshots', owners.DELETED_SNAPSHOTS, names=NAMES)
)
