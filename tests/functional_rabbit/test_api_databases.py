"""Rows of the API on MariaDB and PostgreSQL: the cases whose SQL differs there.

Lengths and bytes of texts, sums, order, patterns, pages, plans of statements, and locks
that keep names unique and quotas; tests/nightly has the other cases.
"""

from tests.fixtures import on_servers
from tests.unit.api.servers import test_actions
from tests.unit.api.servers import test_bad_input
from tests.unit.api.servers import test_create
from tests.unit.api.servers import test_create_devices
from tests.unit.api.servers import test_create_limits
from tests.unit.api.servers import test_list
from tests.unit.api.servers import test_resize_quota
from tests.unit.db.api import test_saga_events
from tests.unit.dialects import test_execute

MODULES = (
    test_actions,
    test_bad_input,
    test_create,
    test_create_devices,
    test_create_limits,
    test_execute,
    test_list,
    test_resize_quota,
    test_saga_events,
)
HERE = (
    'TestBadInput',
    'TestFilters',
    'TestExecute',
    'TestLongNotes',
    'TestPages',
    'TestQuota',
    'TestStored',
    'TestTags',
    'TestUniqueNames',
)
# Makes a SQLite file unreachable.
ONLY_SQLITE = ('TestDownCell',)


def cases():
    """{name: case of the unit tests}."""
    return {
        name: case
        for module in MODULES
        for name, case in vars(module).items()
        if name.startswith('Test') and name not in ONLY_SQLITE
    }


globals().update(on_servers.classes([cases()[name] for name in HERE], module=__name__))
