"""Rows of the API on MariaDB and PostgreSQL: the cases that are not in functional_rabbit."""

from tests.fixtures import on_servers
from tests.functional_rabbit import test_api_databases as there

globals().update(
    on_servers.classes(
        [case for name, case in there.cases().items() if name not in there.HERE], module=__name__
    )
)
