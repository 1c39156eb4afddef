"""Statements that every query module needs: insert, compare-and-swap, fetch."""

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception


def insert(connection, table, values):
    """Insert one row (a dict) or many (a list of dicts)."""
    if values:
        connection.execute(table.insert(), values)


def insert_returning_id(connection, table, values):
    """Insert one row and return its `id`."""
    return connection.execute(table.insert().values(**values)).inserted_primary_key[0]


def insert_new(connection, table, values, error):
    """Insert one row and return its first key; raises `error` when a unique key is taken."""
    try:
        return connection.execute(table.insert().values(**values)).inserted_primary_key[0]
    except db_exception.DBDuplicateEntry:
        raise error from None


def get(connection, table, error, **where):
    """The one row whose columns equal `where`; raises `error` when there is none."""
    row = find(connection, table, **where)
    if row is None:
        raise error
    return row


def find(connection, table, **where):
    """As `get`, but None when there is none."""
    return connection.execute(sa.select(table).where(*_equal(table, where))).first()


def every(connection, table, *conditions, order_by=None, **where):
    """All rows that fulfil the conditions."""
    query = sa.select(table).where(*conditions, *_equal(table, where))
    if order_by is not None:
        query = query.order_by(order_by)
    return connection.execute(query).all()


def swap(connection, table, key, values, *, expected, what):
    """Set `values` where `key` matches and every column has an expected value.

    key: {column: value}; expected: {column: allowed values, as a tuple}
    Raises StateChanged when the row is gone or no longer as expected.
    """
    conditions = list(_equal(table, key))
    for name, allowed in expected.items():
        conditions.append(one_of(table.c[name], allowed))
    result = connection.execute(table.update().where(*conditions).values(**values))
    if result.rowcount != 1:
        row = find(connection, table, **key)
        found = None if row is None else {name: getattr(row, name) for name in expected}
        raise exception.StateChanged(
            what=what,
            key=next(iter(key.values())),
            detail='it is gone' if found is None else f'found {found}',
        )


def one_of(column, allowed):
    """Column is among `allowed`, in which None stands for NULL."""
    values = [value for value in allowed if value is not None]
    found = column.in_(values) if values else sa.false()
    return sa.or_(found, column.is_(None)) if None in allowed else found


def delete(connection, table, **where):
    """Delete the rows whose columns equal `where`; how many there were."""
    return connection.execute(table.delete().where(*_equal(table, where))).rowcount


def _equal(table, where):
    for name, value in where.items():
        column = table.c[name]
        if isinstance(value, list | tuple | set | frozenset):
            yield column.in_(list(value))
        else:
            yield column.is_(None) if value is None else column == value
