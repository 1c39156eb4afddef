"""Rows of cells on MariaDB and PostgreSQL: numbers given in order, races for a row, conditions."""

from tests.fixtures import on_servers
from tests.unit.conductor import test_reports_together
from tests.unit.db.cell import test_copies
from tests.unit.db.cell import test_deletions
from tests.unit.db.cell import test_fence
from tests.unit.db.cell import test_services

CASES = (
    test_copies.CreateTest,
    test_deletions.TestAccept,
    test_fence.TestFence,
    test_reports_together.TestDeletions,
    test_services.TestBrief,
)

globals().update(on_servers.classes(CASES, module=__name__))
