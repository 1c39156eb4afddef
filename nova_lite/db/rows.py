"""Statements that all query modules need: insert, compare-and-swap, fetch.

Building a statement takes as long as running it, so statements of the same shape (table, columns
and kinds of condition, without the values) are built once. Statements of other shapes are constants
of their modules, with `sa.bindparam` for each value, or results of functions with
`functools.cache`; `dialects.execute` executes them.

SQL expressions in arguments of these functions (conditions, columns, orders) are parts of a shape,
and must be constants as well. `given` has the values of their parameters, by name.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import functools
import typing

from oslo_db import exception as db_exception
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db import known
from nova_lite.dialects import execute
from nova_lite.dialects import shapes
from nova_lite.dialects import writing

# A row of a result. For a type checker its columns are attributes of any type.
Row: typing.TypeAlias = sa.Row[*tuple[typing.Any, ...]]
Select: typing.TypeAlias = shapes.Select
# {name of a column or parameter: value}
Values: typing.TypeAlias = Mapping[str, typing.Any]
Expression: typing.TypeAlias = shapes.Expression
Condition: typing.TypeAlias = shapes.Condition
# {name of a column: SQL expression}
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
            execute.insert(connection, statement, values)
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
    """Insert one row and return its first key. Raise `error` if a unique key is taken.

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
    """Return the one row whose columns equal `where`. Raise `error` if it does not exist.

    more: tuple of labelled SQL expressions, which the row has in addition to its columns
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
    """Return the row whose columns equal `where`, or None. more: see `get`"""
    query = _selecting(table, _shape(where), more)
    return execute.first(connection, query, _parameters(where))


def one(connection: sa.Connection, table: sa.Table, /, **where: typing.Any) -> Row:
    """Return a row that is known to exist."""
    return execute.one(connection, _selecting(table, _shape(where)), _parameters(where))


def lock(connection: sa.Connection, table: sa.Table, /, **where: typing.Any) -> Row | None:
    """Return the row whose columns equal `where`, locked until the transaction ends; or None."""
    return execute.first(connection, _locking(table, _shape(where)), _parameters(where))


def lock_each(connection: sa.Connection, table: sa.Table, /, **where: typing.Any) -> Sequence[Row]:
    """Return the rows whose columns equal `where`, locked until the transaction ends."""
    return execute.every(connection, _locking(table, _shape(where)), _parameters(where))


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
    """Return all rows that meet the conditions. more: see `get`"""
    query = _selecting(table, _shape(where), more, conditions=conditions, order_by=order_by)
    return execute.every(connection, query, {**_parameters(where), **(given or {})})


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
    """Set `values` in the rows that meet the conditions. Return their number.

    computed: {column: SQL expression} of further columns
    """
    expressions = tuple((computed or {}).items())
    statement = _updating(
        table, _shape(where), tuple(values), computed=expressions, conditions=conditions
    )
    parameters = {**_parameters(where), **shapes.new_values(values), **(given or {})}
    known.forget(connection, table)
    return execute.change(connection, statement, parameters)


def swap(
    connection: sa.Connection,
    table: sa.Table,
    key: Values,
    values: Values,
    *,
    expected: Mapping[str, tuple[object, ...]],
    what: str,
) -> None:
    """Set `values` in the row of `key` if each column in `expected` has an allowed value.

    key: {column: value}; expected: {column: allowed values, as a tuple}
    Raises StateChanged if the row does not exist or is not as expected.
    """
    shape = tuple((name, _kind_among(allowed)) for name, allowed in expected.items())
    statement = _updating(table, _shape(key), tuple(values), expected=shape)
    parameters = {**_parameters(key), **shapes.new_values(values)}
    for name, allowed in expected.items():
        found = [value for value in allowed if value is not None]
        if found:
            parameters[f'expect_{name}'] = found if len(allowed) > 1 else found[0]
    known.forget(connection, table)
    if execute.change(connection, statement, parameters) != 1:
        row = find(connection, table, **key)
        raise exception.StateChanged(
            what=what,
            key=next(iter(key.values())),
            detail='it does not exist' if row is None else unexpected(row, expected),
        )


def unexpected(row: Row, expected: Mapping[str, tuple[object, ...]]) -> str:
    """Return which columns of a row have other values than the allowed ones, for people."""
    found = {name: getattr(row, name) for name in expected}
    # The row may be as expected by now.
    other = {name: value for name, value in found.items() if value not in expected[name]} or found
    shown = {name: 'none' if value is None else value for name, value in other.items()}
    return ', '.join(f'{name} is {value}' for name, value in shown.items())


def delete(
    connection: sa.Connection,
    table: sa.Table,
    /,
    *conditions: Condition,
    given: Values | None = None,
    **where: typing.Any,
) -> int:
    """Delete the rows that meet the conditions. Return their number."""
    statement = _deleting(table, _shape(where), conditions)
    known.forget(connection, table)
    return execute.change(connection, statement, {**_parameters(where), **(given or {})})


def among(column: sa.Column[typing.Any], name: str, *, many: bool) -> Condition:
    """Return the condition that a column has one of the values of a parameter.

    many: False if the parameter is a single value. See `one_or_many`.
    """
    parameter = sa.bindparam(name, type_=column.type, expanding=many)
    return column.in_(parameter) if many else column == parameter


def one_or_many(values: Sequence[object]) -> tuple[bool, object]:
    """Return (whether `values` has more or less than one value, the parameter for `among`)."""
    return len(values) != 1, _parameter(list(values))


# ---- statements, each built once ----

# The cache is bounded, because an expression that is no constant is a new shape each time.
_once = functools.lru_cache(maxsize=2000)


_inserting = _once(shapes.inserting)
_selecting = _once(shapes.selecting)
_deleting = _once(shapes.deleting)
_updating = _once(shapes.updating)


@_once
def _locking(table: sa.Table, shape: shapes.Shape) -> Select:
    return writing.locking(_selecting(table, shape))


def _shape(where: Values) -> shapes.Shape:
    return tuple((name, _kind(value)) for name, value in where.items())


def _kind(value: object) -> str:
    if value is None:
        return shapes.NULL
    # A single value is compared by =, because IN with a parameter costs a third more.
    return shapes.IN if isinstance(value, MANY) and len(value) != 1 else shapes.IS


def _kind_among(allowed: tuple[object, ...]) -> str:
    """Return the kind of the condition that a column is in `allowed`; None means NULL."""
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
    return next(iter(value)) if len(value) == 1 else execute.filled(value)
