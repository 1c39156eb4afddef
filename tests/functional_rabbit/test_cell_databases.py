"""Rows of cells on MariaDB and PostgreSQL: numbers given in order, and races for a row."""

from tests.fixtures import on_servers
from tests.unit.db.cell import test_copies
from tests.unit.db.cell import test_fence

CASES = (test_copies.CreateTest, test_fence.TestFence)

globals().update(on_servers.classes(CASES, module=__name__))
