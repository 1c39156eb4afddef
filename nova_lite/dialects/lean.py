"""Executes statements that are constants with little work for each execution.

For each execution, SQLAlchemy looks for the compiled statement by a key that contains the whole
statement, and creates a context and a result. For a row that is found by its key, this takes three
times as long as the driver. A plan keeps the parts that do not change. SQLAlchemy makes the first
execution, from which the plan is read, and executions for which no plan is suitable.

Errors, transactions and rows are those of SQLAlchemy in either case. The statements must be
constants, since a plan is found by the statement itself.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
import operator
import typing

import sqlalchemy as sa
from sqlalchemy.engine import interfaces

from nova_lite.dialects import compiled
from nova_lite.dialects import writing
from nova_lite.private_apis import sqlalchemy as internals

Parameters: typing.TypeAlias = Mapping[str, typing.Any]
Row: typing.TypeAlias = sa.Row[*tuple[typing.Any, ...]]

_NONE: Parameters = {}
# What is read of a cursor.
_ALL = operator.methodcaller('fetchall')
_FIRST = operator.methodcaller('fetchone')
_COUNT = operator.attrgetter('rowcount')
# Maximum length of a list with a plan, which takes a third of a KiB for each element.
LONGEST = 64
# Maximum length of a list that is filled: servers limit the parameters of a statement.
LONGEST_FILLED = 1024
# Options of an execution that change what is sent, or how its result is read.
_OPTIONS = frozenset(('schema_translate_map', 'stream_results', 'yield_per', 'preserve_rowcount'))


class Plan:
    """A way to execute a statement with parameters of certain names, and lists of certain lengths.

    sql: for the driver
    binds: (name, function that converts the value, or None) in the order of the statement
    is_positional: whether the driver takes a sequence of values
    constants: values that the statement has itself, by name
    defaults: (name, function of None) of columns that have a default
    lists: (name of a list, names of its elements)
    row: makes a row of what was fetched; None: the statement returns no rows
    writes: whether the statement changes or locks rows
    """

    __slots__ = 'binds', 'constants', 'defaults', 'is_positional', 'lists', 'row', 'sql', 'writes'

    def __init__(
        self,
        sql: str,
        *,
        binds: list[tuple[str, Callable[[typing.Any], typing.Any] | None]],
        is_positional: bool,
        row: internals.MakeRow | None,
        writes: bool,
    ) -> None:
        self.sql, self.binds, self.is_positional, self.row = sql, binds, is_positional, row
        self.writes = writes
        self.constants: dict[str, typing.Any] = {}
        self.defaults: list[tuple[str, Callable[[None], typing.Any]]] = []
        self.lists: list[tuple[str, list[str]]] = []

    def values(self, given: Parameters) -> typing.Any:
        """Convert the values of parameters to values for the driver."""
        if self.constants or self.defaults or self.lists:
            given = {**self.constants, **given}
            for name, default in self.defaults:
                given[name] = default(None)
            for name, elements in self.lists:
                given.update(zip(elements, given[name], strict=True))
        if self.is_positional:
            return tuple(
                [given[name] if bind is None else bind(given[name]) for name, bind in self.binds]
            )
        return {
            name: given[name] if bind is None else bind(given[name]) for name, bind in self.binds
        }


def every(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> list[Row]:
    """Return all rows of a query."""
    key = _key(statement, given)
    plan = _plan(connection, key)
    if plan is None or plan.row is None:
        return list(_learn(connection, key, statement, given).all())
    found = _run(connection, plan, given, _ALL)
    return [plan.row(each) for each in found]


def first(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> Row | None:
    """Return the first row of a query, or None."""
    key = _key(statement, given)
    plan = _plan(connection, key)
    if plan is None or plan.row is None:
        return _learn(connection, key, statement, given).first()
    found = _run(connection, plan, given, _FIRST)
    return None if found is None else plan.row(found)


def one(connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE) -> Row:
    """Return the first row of a query that always has one."""
    found = first(connection, statement, given)
    if found is None:
        raise sa.exc.NoResultFound()
    return found


def values(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> list[typing.Any]:
    """Return the first column of all rows of a query."""
    return [row[0] for row in every(connection, statement, given)]


def value(
    connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE
) -> typing.Any:
    """Return the first column of the first row of a query; None if there is no row."""
    found = first(connection, statement, given)
    return None if found is None else found[0]


def change(connection: sa.Connection, statement: sa.Executable, given: Parameters = _NONE) -> int:
    """Execute an UPDATE or DELETE that returns no rows; return how many it changed."""
    key = _key(statement, given)
    plan = _plan(connection, key)
    if plan is None or plan.row is not None:
        return _learn(connection, key, statement, given).rowcount
    changed: int = _run(connection, plan, given, _COUNT)
    return changed


def insert(connection: sa.Connection, statement: sa.Executable, given: Parameters) -> None:
    """Insert one row."""
    # How many there were is not known where the server also returns its key.
    change(connection, statement, given)


def filled(values: Iterable[typing.Any]) -> list[typing.Any]:
    """Return a list for IN, filled with its last value to a length that is a power of two.

    Databases and their drivers keep a statement for each length. Those of lists of up to
    1,000 values take 100 MiB of each connection to SQLite.
    """
    found = list(values)
    length = len(found)
    if length <= LONGEST_FILLED:
        found += found[-1:] * ((1 << (length - 1).bit_length()) - length)
    return found


def _run(
    connection: sa.Connection,
    plan: Plan,
    given: Parameters,
    read: Callable[[typing.Any], typing.Any],
) -> typing.Any:
    """Execute a plan; return what `read` does of the cursor."""
    if plan.writes:
        writing.require(connection.info)
    cursor = sent = None
    try:
        sent = plan.values(given)
        cursor = connection.connection.cursor()
        connection.dialect.do_execute(cursor, plan.sql, sent)
        found = read(cursor)
        cursor.close()
    except (sa.exc.PendingRollbackError, sa.exc.ResourceClosedError):
        raise
    except BaseException as error:
        internals.raise_translated(connection, error, plan.sql, sent, cursor)
        raise
    return found


def _key(statement: sa.Executable, given: Parameters) -> compiled.Key | None:
    """Return the key of the plan of a statement; None if it has no plan."""
    lengths = tuple([len(each) for each in given.values() if type(each) is list])
    return None if lengths and max(lengths) > LONGEST else (statement, tuple(given), lengths)


def _plan(connection: sa.Connection, key: compiled.Key | None) -> Plan | None:
    """Return the plan of a statement, if one is known and may be used now."""
    shared = compiled.of(connection)
    if (
        key is None
        or shared is None
        or not connection.in_transaction()
        or internals.is_watched(connection)
    ):
        return None
    return shared.plan(key) or None


def _learn(
    connection: sa.Connection,
    key: compiled.Key | None,
    statement: sa.Executable,
    given: Parameters,
) -> sa.CursorResult[typing.Any]:
    """Return SQLAlchemy's result, and remember the plan that it shows, or that there is none."""
    result = connection.execute(statement, given)
    shared = compiled.of(connection)
    if key is not None and shared is not None and shared.plan(key) is None:
        shared.add_plan(key, _planned(result, given) or False)
    return result


def _planned(result: sa.CursorResult[typing.Any], given: Parameters) -> Plan | None:
    """Return the plan that a first execution shows; None if each must be SQLAlchemy's."""
    context: typing.Any = result.context
    statement = context.compiled
    # Without the lists, whose elements have names of their own.
    values = context.compiled_parameters[0]
    lists = internals.expanded(context)
    defaults = _defaults(statement, values)
    if (
        not _is_plain(context)
        or defaults is None
        or not given.keys() <= values.keys() | lists.keys()
        or not all(_is_plain_list(given[name]) for name in lists if name in given)
    ):
        return None
    convert = internals.bind_processors(statement)
    names = statement.positiontup if statement.positional else statement.bind_names.values()
    plan = Plan(
        context.statement,
        binds=[(each, convert.get(name)) for name in names for each in lists.get(name, (name,))],
        is_positional=statement.positional,
        row=None if context.is_crud else internals.row_maker(result),
        writes=writing.is_needed(context),
    )
    plan.defaults = list(defaults.items())
    plan.lists = [(name, elements) for name, elements in lists.items() if name in given]
    listed = {each for _name, elements in plan.lists for each in elements}
    computed = given.keys() | defaults.keys() | listed
    plan.constants = {name: value for name, value in values.items() if name not in computed}
    return plan


def _is_plain(context: typing.Any) -> bool:
    """Return whether nothing but values of parameters changes between executions."""
    statement = context.compiled
    return not (
        context.executemany
        or context.is_text
        or statement.literal_execute_params
        or statement.escaped_bind_names
        or statement.has_out_parameters
        or any(isinstance(each, tuple) for each in internals.bind_processors(statement).values())
        or context.dialect.bind_typing is interfaces.BindTyping.SETINPUTSIZES
        or not _OPTIONS.isdisjoint(context.execution_options)
    )


def _is_plain_list(values: typing.Any) -> bool:
    return type(values) is list and not any(isinstance(each, list | tuple) for each in values)


def _defaults(
    statement: typing.Any, values: Parameters
) -> dict[str, Callable[[None], typing.Any]] | None:
    """Return the functions of a statement's columns that have a default; None if it is SQL."""
    found = {}
    for column in (*statement.insert_prefetch, *statement.update_prefetch):
        default = column.default if statement.isinsert else column.onupdate
        if default is None or column.key not in values:
            return None
        if default.is_callable:
            found[column.key] = default.arg
        elif not default.is_scalar:
            return None
    return found
