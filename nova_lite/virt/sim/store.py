"""The file in which a compute process's simulated hosts live (SQLite, WAL).

It has guests, jobs, counters of failure rules, nodes whose power was switched, and images. A
process has one connection, which one thread uses at a time; other processes may read the file
(`census`) or cut a host's power (`hostpower`) at the same time. Each write is one BEGIN IMMEDIATE
transaction, so that a kill at any time leaves an effect either completely done or not begun.
"""

from collections.abc import Iterator
import contextlib
import json
import os
import sqlite3

from nova_lite import exception
from nova_lite import incarnation
from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import job_clock

VERSION = 1
BUSY_TIMEOUT_S = 30
# No space for the log, or for its index.
FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
SCHEMA = """
CREATE TABLE guests (
    node TEXT NOT NULL,
    uuid TEXT NOT NULL,
    departed INTEGER NOT NULL,
    role TEXT NOT NULL,
    power_state INTEGER NOT NULL,
    prior_power INTEGER,
    rescue_image TEXT,
    move TEXT,
    ticket TEXT,
    spec TEXT NOT NULL,
    started_at REAL,
    PRIMARY KEY (node, uuid, departed)
) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    guest TEXT NOT NULL,
    verb TEXT NOT NULL,
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    begins REAL NOT NULL,
    due REAL,
    args TEXT NOT NULL,
    failure TEXT,
    result TEXT NOT NULL,
    error TEXT,
    UNIQUE (guest, key, verb, node, subject)
);
CREATE INDEX jobs_running ON jobs (node, guest, due) WHERE state = 'running';
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE nodes (
    node TEXT PRIMARY KEY,
    powered INTEGER NOT NULL,
    booted_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE ended_moves (
    guest TEXT NOT NULL,
    move TEXT NOT NULL,
    node TEXT NOT NULL,
    ended_at REAL NOT NULL,
    PRIMARY KEY (guest, move, node)
) WITHOUT ROWID;
CREATE TABLE origin (created_at REAL NOT NULL)
"""
# Added later: files that are older get it when they are opened.
ADDED = """
CREATE TABLE IF NOT EXISTS images (
    node TEXT NOT NULL,
    image TEXT NOT NULL,
    PRIMARY KEY (node, image)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS drives (
    node TEXT NOT NULL,
    guest TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (node, guest)
);
CREATE TABLE IF NOT EXISTS cpu_times (
    node TEXT PRIMARY KEY,
    booted_at REAL NOT NULL,
    began REAL NOT NULL,
    counted_to REAL NOT NULL,
    user_s REAL NOT NULL
) WITHOUT ROWID
"""


class Store:
    """An open file. It is created, with its tables and its directory, if it does not exist."""

    def __init__(self, path: str) -> None:
        self.path = path
        os.makedirs(os.path.dirname(path) or '.', mode=0o700, exist_ok=True)
        self._lock = runtime.RLock()
        self._incarnation = incarnation.current()
        self._connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        for pragma in ('journal_mode = WAL', 'synchronous = NORMAL', 'cache_size = -2000'):
            self._connection.execute(f'PRAGMA {pragma}')
        self._create()

    def _create(self) -> None:
        with self.write() as tx:
            for statement in ADDED.split(';'):
                tx.execute(statement)
            self._clock = job_clock.Clock(tx)
            version = tx.execute('PRAGMA user_version').fetchone()[0]
            if version == VERSION:
                return
            if version != 0:
                raise exception.Invalid(
                    reason=f'{self.path} is of format {version}; this release reads {VERSION}'
                )
            for statement in SCHEMA.split(';'):
                tx.execute(statement)
            tx.execute('INSERT INTO origin VALUES (?)', (runtime.timestamp(),))
            tx.execute(f'PRAGMA user_version = {VERSION}')

    def now(self) -> float:
        """Return the instant by which the jobs of the file run."""
        return self._clock.now()

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, for statements that only read."""
        with _answering(self.path), self._lock:
            yield self._connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection inside a transaction: committed as a whole, or not at all."""
        with _answering(self.path), self._incarnation.passing(), self._lock:
            self._connection.execute('BEGIN IMMEDIATE')
            try:
                yield self._connection
                self._incarnation.check()
                self._connection.execute('COMMIT')
            except BaseException:
                # SQLite rolls back by itself after some errors, and not after others of COMMIT.
                if self._connection.in_transaction:
                    self._connection.execute('ROLLBACK')
                raise

    def close(self) -> None:
        with self._lock:
            self._connection.close()


@contextlib.contextmanager
def _answering(path: str) -> Iterator[None]:
    """Raise Unavailable or DiskFull for errors of the file system and of locks."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode in FULL:
            raise exception.DiskFull(service='the hypervisor', reason=f'{path}: {error}') from error
        # Defects of statements have this code.
        if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_ERROR:
            raise
        raise exception.Unavailable(service='The hypervisor', reason=f'{path}: {error}') from error


# ---- guests ---------------------------------------------------------------


def find_guest(
    tx: sqlite3.Connection, node: str, guest: str, *, departed: bool = False
) -> sqlite3.Row | None:
    """Return the row of a guest on a node, or None."""
    row: sqlite3.Row | None = tx.execute(
        'SELECT * FROM guests WHERE node = ? AND uuid = ? AND departed = ?',
        (node, guest, int(departed)),
    ).fetchone()
    return row


def insert_guest(tx: sqlite3.Connection, node: str, spec: str, **values: object) -> None:
    """Write the row of a guest; what stood there under its name is replaced.

    spec: as JSON text with its uuid in values['uuid'].
    """
    row = {
        'departed': 0,
        'prior_power': None,
        'rescue_image': None,
        'move': None,
        'ticket': None,
        'started_at': None,
        **values,
    }
    tx.execute(
        'INSERT OR REPLACE INTO guests (node, uuid, departed, role, power_state, prior_power,'
        ' rescue_image, move, ticket, spec, started_at)'
        ' VALUES (:node, :uuid, :departed, :role, :power_state, :prior_power,'
        ' :rescue_image, :move, :ticket, :spec, :started_at)',
        {'node': node, 'spec': spec, **row},
    )


def update_guest(tx: sqlite3.Connection, row: sqlite3.Row, **values: object) -> None:
    """Change columns of a guest's row."""
    columns = ', '.join(f'{name} = ?' for name in values)
    tx.execute(
        f'UPDATE guests SET {columns} WHERE node = ? AND uuid = ? AND departed = ?',
        (*values.values(), row['node'], row['uuid'], row['departed']),
    )


def delete_guest(tx: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Remove a guest's row, and its config drive with the last row of the guest on the node."""
    place = (row['node'], row['uuid'])
    tx.execute(
        'DELETE FROM guests WHERE node = ? AND uuid = ? AND departed = ?',
        (*place, row['departed']),
    )
    tx.execute(
        'DELETE FROM drives WHERE node = ? AND guest = ?'
        ' AND NOT EXISTS (SELECT 1 FROM guests WHERE node = ? AND uuid = ?)',
        (*place, *place),
    )


def put_drive(tx: sqlite3.Connection, node: str, guest: str, content: str) -> None:
    """Write the config drive of a guest, in place of a former one."""
    tx.execute('INSERT OR REPLACE INTO drives VALUES (?, ?, ?)', (node, guest, content))


# ---- jobs -----------------------------------------------------------------


def running_jobs(tx: sqlite3.Connection, node: str, guest: str | None = None) -> list[sqlite3.Row]:
    """Return the rows of jobs that have not ended, in the order in which they end."""
    where, values = 'node = ?', [node]
    if guest is not None:
        where, values = 'node = ? AND guest = ?', [node, guest]
    return tx.execute(
        f"SELECT * FROM jobs WHERE state = 'running' AND {where} ORDER BY due IS NULL, due, id",
        values,
    ).fetchall()


def end_job(
    tx: sqlite3.Connection,
    row: sqlite3.Row,
    state: str,
    *,
    result: str = '{}',
    error: str | None = None,
) -> None:
    """Write a job's end; what only its run needed is dropped."""
    tx.execute(
        "UPDATE jobs SET state = ?, result = ?, error = ?, args = '{}' WHERE id = ?",
        (state, result, error, row['id']),
    )


def fail_job(
    tx: sqlite3.Connection, row: sqlite3.Row, error: model.JobError, *, result: str = '{}'
) -> None:
    """End a job with a model.JobError."""
    text = json.dumps([error.error_class, error.message, error.reschedule])
    end_job(tx, row, 'failed', result=result, error=text)


# ---- ended moves ----------------------------------------------------------


def end_move(tx: sqlite3.Connection, node: str, guest: str, *, move: str, at: float) -> None:
    """Note that a move is over on this node: nothing is done for it any more."""
    tx.execute('INSERT OR IGNORE INTO ended_moves VALUES (?, ?, ?, ?)', (guest, move, node, at))


def move_has_ended(tx: sqlite3.Connection, node: str, guest: str, move: str) -> bool:
    """Return whether `end_move` was called."""
    return (
        tx.execute(
            'SELECT 1 FROM ended_moves WHERE guest = ? AND move = ? AND node = ?',
            (guest, move, node),
        ).fetchone()
        is not None
    )


# ---- images kept at hand --------------------------------------------------


def has_image(tx: sqlite3.Connection, node: str, image: str) -> bool:
    """Return whether a node has cached an image."""
    query = 'SELECT 1 FROM images WHERE node = ? AND image = ?'
    return tx.execute(query, (node, image)).fetchone() is not None


def cache_image(tx: sqlite3.Connection, node: str, image: str) -> bool:
    """Note that a node has an image; whether it had not."""
    found = tx.execute('INSERT OR IGNORE INTO images VALUES (?, ?)', (node, image))
    return bool(found.rowcount)


# ---- CPU time of nodes ----------------------------------------------------


def cpu_time(tx: sqlite3.Connection, node: str) -> sqlite3.Row | None:
    """Return what was counted of the CPU time of a node, or None.

    booted_at: time of the boot of the node, as of `node_power`
    began, counted_to: instants of the file's clock; user_s: seconds of all CPUs between them
    """
    query = 'SELECT * FROM cpu_times WHERE node = ?'
    row: sqlite3.Row | None = tx.execute(query, (node,)).fetchone()
    return row


def put_cpu_time(tx: sqlite3.Connection, node: str, **counted: float) -> None:
    """Record what was counted of the CPU time of a node, by the columns of `cpu_time`."""
    tx.execute(
        'INSERT OR REPLACE INTO cpu_times VALUES (:node, :booted_at, :began, :counted_to, :user_s)',
        {'node': node, **counted},
    )


# ---- the rest -------------------------------------------------------------


def count(tx: sqlite3.Connection, name: str) -> int:
    """Raise a counter by one and return it."""
    value: int = tx.execute(
        'INSERT INTO counters VALUES (?, 1)'
        ' ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value',
        (name,),
    ).fetchone()[0]
    return value


def node_power(tx: sqlite3.Connection, node: str) -> tuple[bool, float]:
    """Return (powered, booted_at) of a node."""
    row = tx.execute(
        'SELECT ifnull(powered, 1), ifnull(booted_at, created_at)'
        ' FROM origin LEFT JOIN nodes ON node = ?',
        (node,),
    ).fetchone()
    return bool(row[0]), row[1]


def nodes_off(tx: sqlite3.Connection) -> set[str]:
    """Return the names of the nodes that are powered off."""
    return {row['node'] for row in tx.execute('SELECT node FROM nodes WHERE powered = 0')}


def nodes_occupied(tx: sqlite3.Connection) -> set[str]:
    """Return the names of the nodes with guests or running jobs."""
    found = tx.execute(
        "SELECT node FROM guests UNION SELECT node FROM jobs WHERE state = 'running'"
    )
    return {row['node'] for row in found}
