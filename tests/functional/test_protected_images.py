"""Owners protect the images that sagas make of their servers, which want to delete them."""

from tests.fixtures import owners
from tests.functional import owners_table
from tests.sim.cases import loading

load_tests = loading.load_tests
NAMES = ('shelve', 'unshelve', 'unshelve-in-place', 'cross-cell-resize', 'volume-image')
globals().update(
    owners_table.classes(
        __name__, 'ProtectedImages', owners.PROTECTED_IMAGES, names=NAMES, every=len(NAMES)
    )
)
