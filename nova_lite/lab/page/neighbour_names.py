"""Names of projects, users and images, read from the database of simcloud.

Asked by REST, the services would need a token of an administrator for each reading.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

import sqlalchemy as sa

PROJECTS, USERS, IMAGES = 'identity_projects', 'identity_users', 'image_images'

# The name of each id.
Names: typing.TypeAlias = dict[str, str]


def read(connection: sa.Connection, wanted: Mapping[str, Iterable[str | None]]) -> Names:
    """Return the names of the rows that exist. wanted: {table: ids}; None is ignored"""
    found: Names = {}
    for table, ids in wanted.items():
        named = sa.table(table, sa.column('id'), sa.column('name'))
        query = sa.select(named.c.id, named.c.name).where(
            named.c.id.in_(sorted({each for each in ids if each}))
        )
        found |= {row.id: row.name for row in connection.execute(query) if row.name}
    return found
