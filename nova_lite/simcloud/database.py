"""The database of simcloud: SQLAlchemy 2 Core, one engine for each URL.

Changes run one after another, so rows that a change has read are still current when it writes.
SQLite runs in WAL mode and takes its write lock when a change begins; on other servers each change
first locks a row of a table for that purpose. The tables of all services have one MetaData
and are created if they are missing.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import contextlib
import functools
import logging
import sqlite3
import typing

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from nova_lite import runtime
from nova_lite.dialects import compiled
from nova_lite.dialects import execute
from nova_lite.dialects import plain_errors
from nova_lite.dialects import shapes
from nova_lite.dialects import sqlite
from nova_lite.dialects import sqlite_pool
from nova_lite.dialects import writing
from nova_lite.simcloud import faults

T = typing.TypeVar('T')
P = typing.ParamSpec('P')
# A row of a table: {column name: value}.
Row: typing.TypeAlias = dict[str, typing.Any]

LOG = logging.getLogger(__name__)

ATTEMPTS = 8
# Deadlocks, and tables that another process is creating at the same time.
RACE_SQLSTATES = frozenset(('40001', '40P01', '42P07'))
RACE_ERRNOS = frozenset((1050, 1205, 1213))
MEDIUM_BLOB_BYTES = 2**24 - 1

METADATA = sa.MetaData()
TURN = sa.Table(
    'simcloud_turn', METADATA, sa.Column('id', sa.Integer, primary_key=True, autoincrement=False)
)

_LOCK_TURN = writing.locking(sa.select(TURN))

Id = sa.String(64)
Name = sa.String(255)
Text = sa.Text
Blob = sa.LargeBinary(length=MEDIUM_BLOB_BYTES)
Time = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql', 'mariadb')


def url_of(database: str) -> sa.URL:
    """Return a SQLAlchemy URL from a URL or the path of a SQLite file."""
    return sa.make_url(database if '://' in database else f'sqlite:///{database}')


def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    for pragma in (
        'journal_mode=WAL',
        'synchronous=NORMAL',
        'busy_timeout=30000',
        'foreign_keys=ON',
        'cache_size=-16000',
    ):
        connection.execute(f'PRAGMA {pragma}')


def make_engine(database: str) -> sa.Engine:
    """Return an engine for `database`. Transactions that write begin as such."""
    url = url_of(database)
    pool: dict[str, typing.Any] = {
        'pool_size': 10,
        'max_overflow': 30,
        'pool_use_lifo': True,
        'hide_parameters': True,
    }
    if url.get_backend_name() == 'sqlite':
        arguments = sqlite.ARGUMENTS
        engine = sa.create_engine(sqlite.with_dialect(url), **pool, connect_args=arguments)
        sqlite_pool.close_rested(engine.pool)
        sa.event.listen(engine, 'connect', _on_connect)
    else:
        engine = sa.create_engine(url, **pool, pool_pre_ping=True, isolation_level='READ COMMITTED')
        if engine.dialect.driver == 'pymysql':
            from nova_lite.dialects import mariadb

            mariadb.use(engine)
    plain_errors.use(engine)
    compiled.share(engine)
    writing.guard(engine)
    return engine


def _is_lost_race(error: sa.exc.DBAPIError) -> bool:
    """Return whether the same change may succeed when it is repeated.

    A violated unique key counts. Every change looks before it inserts, so another writer has
    inserted the row. The next attempt will see the row and will report the proper error.
    """
    if isinstance(error, sa.exc.IntegrityError):
        return True
    if 'database is locked' in str(error.orig):
        return True
    if getattr(error.orig, 'sqlstate', None) in RACE_SQLSTATES:
        return True
    arguments = error.orig.args if error.orig else ()
    return bool(arguments) and arguments[0] in RACE_ERRNOS


def _make_turn(conn: sa.Connection) -> None:
    if one(conn, sa.select(TURN)) is None:
        conn.execute(TURN.insert().values(id=1))


class Database:
    """Transactions on the tables of one simcloud, from many threads."""

    def __init__(self, database: str) -> None:
        self.engine = make_engine(database)
        self._has_one_writer = self.engine.dialect.name == 'sqlite'
        # In one process a lock is fairer than SQLite's polling and keeps no connection waiting.
        self._turn = runtime.RLock()
        self._has_ended = False

    def create_tables(self) -> None:
        """Create the tables that do not exist yet."""
        self._insist(METADATA.create_all)
        self._insist(_make_turn)

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Return a connection for queries, in one transaction that changes nothing."""
        self._check()
        with self.engine.connect() as conn:
            writing.declare(conn.info, False)
            with conn.begin():
                yield conn

    def change(
        self,
        function: Callable[typing.Concatenate[sa.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run function(conn, *args) in a write transaction and return its value.

        The function runs again if another writer was faster, so it must have no effect outside
        the database.
        """

        def in_turn(conn: sa.Connection) -> T:
            if not self._has_one_writer:
                execute.first(conn, _LOCK_TURN)
            result = function(conn, *args, **kwargs)
            self._check()
            return result

        return self._insist(in_turn)

    def _insist(self, function: Callable[[sa.Connection], T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._turn, self.engine.connect() as conn:
                    writing.declare(conn.info, True)
                    with conn.begin():
                        return function(conn)
            except sa.exc.DBAPIError as error:
                if attempt == ATTEMPTS or not _is_lost_race(error):
                    raise
                LOG.debug(
                    'Retrying a transaction that lost a race (%s), attempt %d', error.orig, attempt
                )
            runtime.sleep(runtime.random().uniform(0, 0.01 * attempt))
        raise AssertionError('unreachable')

    def end(self) -> None:
        """Refuse all changes from now on, also changes that are waiting for their turn."""
        self._has_ended = True

    def _check(self) -> None:
        if self._has_ended:
            raise faults.Unavailable('The service is being reset.', headers={'Retry-After': '1'})

    def close(self) -> None:
        """Close the pooled connections."""
        self.engine.dispose()


def one(
    conn: sa.Connection, statement: shapes.Select, given: execute.Parameters | None = None
) -> Row | None:
    """Return the first row of `statement` as a dict, or None. given: its parameters"""
    row = conn.execute(statement, given).mappings().first()
    return dict(row) if row is not None else None


def rows(
    conn: sa.Connection, statement: shapes.Select, given: execute.Parameters | None = None
) -> list[Row]:
    """Return the rows of `statement` as dicts. given: its parameters"""
    return [dict(row) for row in conn.execute(statement, given).mappings()]


def find(
    conn: sa.Connection, table: sa.Table, *conditions: shapes.Condition, **values: typing.Any
) -> Row | None:
    """Return the first row with these values of columns, or None."""
    statement, given = _selecting(table, _shape(values)), _given(values)
    if conditions:
        return one(conn, statement.where(*conditions), given)
    row = execute.first(conn, statement, given)
    return None if row is None else dict(row._mapping)


def find_all(
    conn: sa.Connection,
    table: sa.Table,
    *conditions: shapes.Condition,
    order: Iterable[str] = (),
    **values: typing.Any,
) -> list[Row]:
    """Return the rows with these values of columns, ordered by the columns in `order`."""
    statement, given = _selecting(table, _shape(values), tuple(order)), _given(values)
    if conditions:
        return rows(conn, statement.where(*conditions), given)
    return [dict(row._mapping) for row in execute.every(conn, statement, given)]


def exists(
    conn: sa.Connection, table: sa.Table, *conditions: shapes.Condition, **values: typing.Any
) -> bool:
    """Return whether there is a row with these values of columns."""
    statement, given = _finding(table, _shape(values)), _given(values)
    if conditions:
        return conn.execute(statement.where(*conditions), given).first() is not None
    return execute.first(conn, statement, given) is not None


def get(conn: sa.Connection, table: sa.Table, **values: typing.Any) -> Row:
    """Return the row with these values of columns. Raise LookupError if there is none."""
    row = find(conn, table, **values)
    if row is None:
        raise LookupError(f'{table.name} has no row with {values}')
    return row


def count(conn: sa.Connection, table: sa.Table, **values: typing.Any) -> int:
    """Return how many rows have these values of columns."""
    found: int = execute.value(conn, _counting(table, _shape(values)), _given(values))
    return found


def grouped(
    conn: sa.Connection, column: sa.Column[typing.Any], ids: Iterable[str], *order: str
) -> dict[str, list[Row]]:
    """Return {id: [rows of the column's table with that id]}, ordered by the columns in `order`."""
    found: dict[str, list[Row]] = {}
    for some in in_chunks(ids):
        for row in execute.every(conn, _grouping(column, order), {'some': execute.filled(some)}):
            values = dict(row._mapping)
            found.setdefault(values[column.name], []).append(values)
    return found


def default_of(column: sa.Column[typing.Any]) -> typing.Any:
    """Return the default value of a column in a new row."""
    default = column.default
    if isinstance(default, sa.ColumnDefault):
        return default.arg(None) if default.is_callable else default.arg
    return None


def columns(table: sa.Table, wanted: Row) -> Row:
    """Return those values of a request that are columns. Null becomes the column's default."""
    return {
        name: default_of(table.c[name]) if value is None and not table.c[name].nullable else value
        for name, value in wanted.items()
        if name in table.c
    }


def insert(conn: sa.Connection, table: sa.Table, **values: typing.Any) -> Row:
    """Insert a row, with the table's defaults, and return it."""
    # In the order of the table's columns, so that all inserts share one plan.
    row = {
        column.name: values[column.name] if column.name in values else default_of(column)
        for column in table.c
    } | values
    if 'updated_at' in table.c:
        row['updated_at'] = row['created_at']
    execute.insert(conn, _inserting(table), row)
    return row


def save(conn: sa.Connection, table: sa.Table, row: Row, **values: typing.Any) -> Row:
    """Write columns of a row, and updated_at if the table has it. Return the new row."""
    if 'updated_at' in table.c:
        values['updated_at'] = runtime.naive_now()
    key = {column.name: row[column.name] for column in table.primary_key}
    names = tuple(sorted(values))
    new = shapes.new_values({name: values[name] for name in names})
    execute.change(conn, _updating(table, _shape(key), names), {**_given(key), **new})
    return {**row, **values}


def delete(
    conn: sa.Connection, table: sa.Table, *conditions: shapes.Condition, **values: typing.Any
) -> int:
    """Delete the rows with these values of columns. Return the number of deleted rows."""
    statement, given = _deleting(table, _shape(values)), _given(values)
    if conditions:
        return conn.execute(statement.where(*conditions), given).rowcount
    return execute.change(conn, statement, given)


def in_chunks(items: Iterable[T], size: int = 400) -> Iterator[list[T]]:
    """Yield slices of `items` that are short enough for one IN (...)."""
    items = list(items)
    for start in range(0, len(items), size):
        yield items[start : start + size]


# ---- statements without conditions, each built once ----

# Bounded, because clients choose the columns that they filter by and change.
_once = functools.lru_cache(maxsize=2000)


_inserting = _once(shapes.inserting)
_updating = _once(shapes.updating)
_deleting = _once(shapes.deleting)


@_once
def _selecting(table: sa.Table, shape: shapes.Shape, order: tuple[str, ...] = ()) -> shapes.Select:
    return shapes.selecting(table, shape).order_by(*_columns(table, order))


@_once
def _finding(table: sa.Table, shape: shapes.Shape) -> shapes.Select:
    found = sa.select(sa.literal(1)).select_from(table)
    return found.where(*shapes.conditions_of(table, shape)).limit(1)


@_once
def _counting(table: sa.Table, shape: shapes.Shape) -> shapes.Select:
    found = sa.select(sa.func.count()).select_from(table)
    return found.where(*shapes.conditions_of(table, shape))


@_once
def _grouping(column: sa.Column[typing.Any], order: tuple[str, ...]) -> shapes.Select:
    some = sa.bindparam('some', type_=column.type, expanding=True)
    return sa.select(column.table).where(column.in_(some)).order_by(*_columns(column.table, order))


def _columns(table: sa.FromClause, names: Iterable[str]) -> list[shapes.Expression]:
    return [table.c[name] for name in names]


def _shape(values: Row) -> shapes.Shape:
    """Return the shape of the conditions that columns equal these values. A list is one value."""
    return tuple(
        (name, shapes.NULL if value is None else shapes.IS) for name, value in values.items()
    )


def _given(values: Row) -> Row:
    return {f'where_{name}': value for name, value in values.items() if value is not None}
