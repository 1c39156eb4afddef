"""Statements by their shape: a table, columns and kinds of condition, whatever the values.

The value of a column in a condition is the parameter `where_` with its name, and `expect_` in
the second set of conditions of an update; a new value is `set_` with the name.
"""

from collections.abc import Iterator
from collections.abc import Mapping
import typing

import sqlalchemy as sa

Select: typing.TypeAlias = sa.Select[*tuple[typing.Any, ...]]
Expression: typing.TypeAlias = sa.ColumnElement[typing.Any]
Condition: typing.TypeAlias = sa.ColumnElement[bool]
# Pairs of a column and the kind of condition on it.
Shape: typing.TypeAlias = tuple[tuple[str, str], ...]
# Pairs of a column and an expression of its value.
Computed: typing.TypeAlias = tuple[tuple[str, Expression], ...]

# Kinds of condition on a column.
IS, IN, NULL, IN_OR_NULL, NEVER = 'is', 'in', 'null', 'in or null', 'never'


def inserting(table: sa.Table, computed: Computed = ()) -> sa.Insert:
    """Return an INSERT of one row or many."""
    return table.insert().values(dict(computed)) if computed else table.insert()


def selecting(
    table: sa.Table,
    shape: Shape,
    more: tuple[Expression, ...] = (),
    *,
    conditions: tuple[Condition, ...] = (),
    order_by: Expression | None = None,
) -> Select:
    """Return a SELECT of a table's columns, and of more."""
    query = sa.select(table, *more).where(*conditions_of(table, shape), *conditions)
    return query if order_by is None else query.order_by(order_by)


def deleting(table: sa.Table, shape: Shape, conditions: tuple[Condition, ...] = ()) -> sa.Delete:
    """Return a DELETE."""
    return table.delete().where(*conditions_of(table, shape), *conditions)


def updating(
    table: sa.Table,
    shape: Shape,
    names: tuple[str, ...],
    *,
    expected: Shape = (),
    computed: Computed = (),
    conditions: tuple[Condition, ...] = (),
) -> sa.Update:
    """Return an UPDATE of the columns called `names`, and of those that are computed."""
    values = {name: sa.bindparam(f'set_{name}', type_=table.c[name].type) for name in names}
    return (
        table.update()
        .where(
            *conditions_of(table, shape),
            *conditions_of(table, expected, 'expect'),
            *conditions,
        )
        .values({**values, **dict(computed)})
    )


def conditions_of(table: sa.Table, shape: Shape, prefix: str = 'where') -> Iterator[Condition]:
    """Yield the condition on each column of a shape."""
    for name, kind in shape:
        column = table.c[name]
        if kind in (IN, IN_OR_NULL):
            allowed = sa.bindparam(f'{prefix}_{name}', type_=column.type, expanding=True)
            found = column.in_(allowed)
            yield sa.or_(found, column.is_(None)) if kind == IN_OR_NULL else found
        elif kind == IS:
            yield column == sa.bindparam(f'{prefix}_{name}', type_=column.type)
        else:
            yield column.is_(None) if kind == NULL else sa.false()


def new_values(values: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    """Return the parameters of an update for new values of columns."""
    return {f'set_{name}': value for name, value in values.items()}
