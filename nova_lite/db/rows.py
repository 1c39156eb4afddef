"""Statements that every query module needs: insert, compare-and-swap, fetch.

To build a statement takes as long as to run it, so those of one shape are built once: the
same table, columns and kinds of condition, whatever the values. Statements of other shapes
are constants of their modules, with `sa.bindparam` for each value, or results of functions
that `functools.cache` remembers; `dialects.lean` executes them.

The SQL expressions that functions here take (conditions, columns, orders) are parts of a
shape and must be constants as well. `given` has the values of their parameters, by name.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import functools
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.dialects import lean
from nova_lite.dialects import shapes

# A row that a statement returns: a type checker takes its columns for attributes of any type.
Row: typing.TypeAlias = sa.Row[*tuple[typing.Any, ...]]
Select: typing.TypeAlias = shapes.Select
# Values of columns or parameters by name.
Values: typing.TypeAlias = Mapping[str, typing.Any]
Expression: typing.TypeAlias = shapes.Expression
Condition: typing.TypeAlias = shapes.Condition
# Expressions of columns by name.
Computed: typing.TypeAlias = Mapping[str, Expression]

MANY = (list, tuple, set, frozenset)


def insert(
    connection: sa.Connection,
    table: sa.Table,
    values: dict[str, typing.Any] | Sequence[Values],
    /,
    *,
    given: Values | None = None,
    **computed: Expression,
) -> None:
    """Insert one row (a dict) or many (a list of dicts).

    computed: SQL expressions of further columns
    """
    if values:
        if given:
            values = (
                {**values, **given}
                if isinstance(values, dict)
                else [{**each, **given} for each in values]
            )
        statement = _inserting(table, tuple(computed.items()))
        if isinstance(values, dict):
            lean.insert(connection, statement, values)
        else:
            connection.execute(statement, values)


def insert_returning_id(connection: sa.Connection, table: sa.Table, values: Values) -> int:
    """Insert one row and return its `id`."""
    result = connection.execute(_inserting(table, ()), values)
    key: int = result.inserted_primary_key[0]  # type: ignore[index]  # of one row there is one
    return key


def insert_new(
    connection: sa.Connection,
    table: sa.Table,
    values: Values,
    error: Exception,
    /,
    *,
    given: Values | None = None,
    **computed: Expression,
) -> typing.Any:
    """Insert one row and return its first key; raises `error` when a unique key is taken.

    computed: SQL expressions of further columns
    """
    try:
        statement = _inserting(table, tuple(computed.items()))
        result = connection.execute(statement, {**values, **(given or {})})
        return result.inserted_primary_key[0]  # type: ignore[index]  # of one row there is one
    except db_exception.DBDuplicateEntry:
        raise error from None


def get(
    connection: sa.Connection,
    table: sa.Table,
    error: Exception,
    /,
    *,
    more: tuple[Expression, ...] = (),
    **where: typing.Any,
) -> Row:
    """Return the one row whose columns equal `where`; raises `error` when there is none.

    more: labelled SQL expressions that the row has besides its columns (a tuple)
    """
    row = find(connection, table, more=more, **where)
    if row is None:
        raise error
    return row


def find(
    connection: sa.Connection,
    table: sa.Table,
    /,
    *,
    more: tuple[Expression, ...] = (),
    **where: typing.Any,
) -> Row | None:
    """Return as `get` does, but None if there is none."""
    query = _selecting(table, _shape(where), more)
    return lean.first(connection, query, _parameters(where))


def one(connection: sa.Connection, table: sa.Table, /, **where: typing.Any) -> Row:
    """Return a row that is known to be there."""
    return lean.one(connection, _selecting(table, _shape(where)), _parameters(where))


def lock(connection: sa.Connection, table: sa.Table, /, **where: typing.Any) -> Row | None:
    """Return as `find` does, and lock the row until the transaction ends."""
    return lean.first(connection, _locking(table, _shape(where)), _parameters(where))


def every(
    connection: sa.Connection,
    table: sa.Table,
    /,
    *conditions: Condition,
    order_by: Expression | None = None,
    more: tuple[Expression, ...] = (),
    given: Values | None = None,
    **where: typing.Any,
) -> Sequence[Row]:
    """Return all rows that fulfil the conditions. more: as of `get`"""
    query = _selecting(table, _shape(where), more, conditions=conditions, order_by=order_by)
    return lean.every(connection, query, {**_parameters(where), **(given or {})})


def change(
    connection: sa.Connection,
    table: sa.Table,
    values: Values,
    /,
    *conditions: Condition,
    computed: Computed | None = None,
    given: Values | None = None,
    **where: typing.Any,
) -> int:
    """Set `values` in the rows that fulfil the conditions; how many there were.

    computed: {column: SQL expression} of further columns
    """
    expressions = tuple((computed or {}).items())
    statement = _updating(
        table, _shape(where), tuple(values), computed=expressions, conditions=conditions
    )
    parameters = {**_parameters(where), **shapes.new_values(values), **(given or {})}
    return lean.change(connection, statement, parameters)


def swap(
    connection: sa.Connection,
    table: sa.Table,
    key: Values,
    values: Values,
    *,
    expected: Mapping[str, tuple[object, ...]],
    what: str,
) -> None:
    """Set `values` where `key` matches and every column has an expected value.

    key: {column: value}; expected: {column: allowed values, as a tuple}
    Raises StateChanged when the row is gone or no longer as expected.
    """
    shape = tuple((name, _kind_among(allowed)) for name, allowed in expected.items())
    statement = _updating(table, _shape(key), tuple(values), expected=shape)
    parameters = {**_parameters(key), **shapes.new_values(values)}
    for name, allowed in expected.items():
        found = [value for value in allowed if value is not None]
        if found:
            parameters[f'expect_{name}'] = found if len(allowed) > 1 else found[0]
    if lean.change(connection, statement, parameters) != 1:
        row = find(connection, table, **key)
        actual = None if row is None else {name: getattr(row, name) for name in expected}
        raise exception.StateChanged(
            what=what,
            key=next(iter(key.values())),
            detail='it does not exist' if actual is None else f'found {actual}',
        )


def delete(
    connection: sa.Connection,
    table: sa.Table,
    /,
    *conditions: Condition,
    given: Values | None = None,
    **where: typing.Any,
) -> int:
    """Delete the rows that fulfil the conditions; how many there were."""
    statement = _deleting(table, _shape(where), conditions)
    return lean.change(connection, statement, {**_parameters(where), **(given or {})})


def among(column: sa.Column[typing.Any], name: str, *, many: bool) -> Condition:
    """Return the condition that a column has one of the values of a parameter.

    many: False for a parameter that is one value. See `one_or_many`.
    """
    parameter = sa.bindparam(name, type_=column.type, expanding=many)
    return column.in_(parameter) if many else column == parameter


def one_or_many(values: Sequence[object]) -> tuple[bool, object]:
    """Return whether there are not just one of the values, and the parameter for `among`."""
    return len(values) != 1, _parameter(list(values))


# ---- statements, each built once ----

# Bounded, as an expression that is no constant makes another shape each time.
_once = functools.lru_cache(maxsize=2000)


_inserting = _once(shapes.inserting)
_selecting = _once(shapes.selecting)
_deleting = _once(shapes.deleting)
_updating = _once(shapes.updating)


@_once
def _locking(table: sa.Table, shape: shapes.Shape) -> Select:
    return _selecting(table, shape).with_for_update()


def _shape(where: Values) -> shapes.Shape:
    return tuple((name, _kind(value)) for name, value in where.items())


def _kind(value: object) -> str:
    if value is None:
        return shapes.NULL
    # One of a list is compared as by itself: IN with a parameter costs a third more.
    return shapes.IN if isinstance(value, MANY) and len(value) != 1 else shapes.IS


def _kind_among(allowed: tuple[object, ...]) -> str:
    """Return the kind of condition that a column is among `allowed`; None stands for NULL."""
    if None in allowed:
        return shapes.IN_OR_NULL if len(allowed) > 1 else shapes.NULL
    return _kind(allowed) if allowed else shapes.NEVER


def _parameters(where: Values) -> dict[str, typing.Any]:
    return {
        f'where_{name}': _parameter(value) for name, value in where.items() if value is not None
    }


def _parameter(value: object) -> object:
    if not isinstance(value, MANY):
        return value
    return next(iter(value)) if len(value) == 1 else lean.filled(value)
