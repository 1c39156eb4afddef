"""Bounds of columns, checked before a value is accepted.

SQLite stores any value; MariaDB and PostgreSQL refuse a value that is too long, too large or not
text. Without this check, an accepted value could fail at each attempt to store it.
"""

from collections.abc import Mapping

import sqlalchemy as sa

from nova_lite.db import types

INTEGERS = range(-(1 << 31), 1 << 31)


def fault_of(table: sa.Table, name: str, value: object) -> str | None:
    """Return the reason why a column cannot store a value, or None."""
    kind = table.c[name].type
    if value is None or isinstance(kind, types.Json):
        return None
    if isinstance(kind, sa.Boolean):
        return None if isinstance(value, bool) else 'is not a boolean'
    if isinstance(kind, sa.Integer):
        fits = isinstance(value, int) and value in INTEGERS
        return None if fits else 'is not an integer of 32 bits'
    if isinstance(kind, sa.String):
        return _fault_of_text(kind, value)
    return None


def _fault_of_text(kind: sa.String, value: object) -> str | None:
    if not isinstance(value, str):
        return 'is not text'
    if kind.length is not None and len(value) > kind.length:
        return f'has {len(value)} characters, {kind.length} are allowed'
    if '\0' in value:
        return 'contains a NUL character'
    try:
        value.encode()
    except UnicodeEncodeError:
        return 'is not valid Unicode'
    return None


def faults(table: sa.Table, values: Mapping[str, object]) -> dict[str, str]:
    """Return {column: reason why it cannot store its value}. Ignore names that are no columns."""
    found = {
        name: fault_of(table, name, value) for name, value in values.items() if name in table.c
    }
    return {name: fault for name, fault in found.items() if fault is not None}


def cut(table: sa.Table, name: str, value: object) -> object:
    """Return a valid value in place of one that the column cannot store: cut, empty or zero."""
    column = table.c[name]
    if isinstance(column.type, sa.String):
        text = str(value).replace('\0', '').encode(errors='replace').decode()
        return text[: column.type.length]
    return None if column.nullable else column.type.python_type()
