"""Write the first revision of each database anew from the models.

Run as `python -m tools.schema` after a change of the models. That is right
until the first release only: what is released stays, and a change then needs a
further revision beside it (see nova_lite/db/schema).
"""

import pathlib
import subprocess

from nova_lite.db import migrate
from nova_lite.db import types

FILE = 'v0001_initial.py'
HEADER = '''"""The tables of the first release. Written by `python -m tools.schema`."""

from alembic import op
import sqlalchemy as sa

from nova_lite.db import types

revision = '0001'
down_revision = None

METADATA = sa.MetaData()

'''
FOOTER = '''

def upgrade() -> None:
    """Create the tables."""
    METADATA.create_all(op.get_bind())
'''


def text(metadata):
    """The module that creates the tables of `metadata`."""
    tables = '\n'.join(_table(table) for table in metadata.sorted_tables)
    return HEADER + tables + FOOTER


def _table(table):
    parts = [repr(table.name), 'METADATA']
    parts += [_column(column) for column in table.columns]
    parts += [_unique(each) for each in _named_constraints(table)]
    parts += [_index(each) for each in _named_indexes(table)]
    parts.append("mysql_charset='utf8mb4'")
    return f'sa.Table({", ".join(parts)},)'


def _column(column):
    parts = [repr(column.name), _type(column.type)]
    for key in column.foreign_keys:
        ondelete = f', ondelete={key.ondelete!r}' if key.ondelete else ''
        parts.append(f'sa.ForeignKey({key.target_fullname!r}{ondelete})')
    if column.primary_key:
        parts.append('primary_key=True')
    elif not column.nullable:
        parts.append('nullable=False')
    parts += [f'{name}=True' for name in ('unique', 'index') if getattr(column, name)]
    return f'sa.Column({", ".join(parts)})'


def _type(kind):
    if isinstance(kind, types.Json | types.Time):
        return f'types.{type(kind).__name__}()'
    if kind is types.LongText:
        return 'types.LongText'
    length = getattr(kind, 'length', None)
    return f'sa.{type(kind).__name__}({length or ""})'


def _named_constraints(table):
    found = [each for each in table.constraints if each.__visit_name__ == 'unique_constraint']
    return sorted((each for each in found if each.name), key=lambda each: each.name)


def _named_indexes(table):
    made_by_column = {f'ix_{table.name}_{column.name}' for column in table.columns if column.index}
    return sorted(
        (each for each in table.indexes if each.name not in made_by_column),
        key=lambda each: each.name,
    )


def _unique(constraint):
    names = ', '.join(repr(column.name) for column in constraint.columns)
    return f'sa.UniqueConstraint({names}, name={constraint.name!r})'


def _index(index):
    names = ', '.join(repr(column.name) for column in index.columns)
    unique = ', unique=True' if index.unique else ''
    return f'sa.Index({index.name!r}, {names}{unique})'


def main():
    for which, metadata in migrate.METADATA.items():
        path = pathlib.Path(migrate.SCHEMA, which, FILE)
        path.write_text(text(metadata))
        subprocess.run(['ruff', 'format', '--quiet', path], check=True)
        print(path)


if __name__ == '__main__':
    main()
