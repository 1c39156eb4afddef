"""Small histories with databases on a server: python -m tests.functional_rabbit.simulated

Arguments: the kind of the server, and names of programs. Prints {program: [outcome, ...]}.
"""
# ruff: noqa: E402 what is imported after the patch gets the simulated primitives

from tests.sim.kernel import patch

patch.reexecute()
patch.apply()

import contextlib
import dataclasses
import functools
import json
import logging
import shutil
import sys

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import database_clock
from nova_lite.db import timeouts
from nova_lite.db import transactions
from tests.sim import kernel
from tests.sim import session
from tests.sim.world import databases as databases_module
from tests.sim.world import directories

# Twice the same: so must the logs be.
SEEDS = (1, 1)
LIMITS = timeouts.Limits(5, 10)
HELD_S = 5
ACCOUNTS = sa.Table(
    'accounts',
    sa.MetaData(),
    sa.Column('id', sa.Integer, primary_key=True, autoincrement=False),
    sa.Column('balance', sa.Integer),
)
# Histories are begun again where others were, whose tables refer to each other.
ENTRIES = sa.Table('entries', ACCOUNTS.metadata, sa.Column('account', sa.ForeignKey('accounts.id')))


class Once:
    """Stands in for faults.Faults: one thing meets what is due. due: (kind, fate), or None"""

    due = None
    # Nothing else is drawn.
    quiet = True

    def draw(self, kind, what, _where):
        """Return the fate of something that writes."""
        if self.due is None or self.due[0] != kind or what not in ('COMMIT', 'UPDATE'):
            return None
        (_kind, fate), self.due = self.due, None
        return fate

    def delay_begin(self, _where):
        """Transactions begin at once."""


class World:
    """A database with two accounts. seen: names of those after whose commits the oracle looked"""

    def __init__(self, backend):
        self.faults = Once()
        self.databases = databases_module.Databases(backend, 'test_', self.faults)
        self.databases.install()
        self.databases.watch(self)
        self.seen = []
        with self.opened() as database:
            database.write(lambda connection: ACCOUNTS.metadata.create_all(connection))
            database.write(_fill)

    @contextlib.contextmanager
    def opened(self):
        """A connection of the calling process."""
        database = transactions.Database(self.databases.url('cell1'), limits=LIMITS)
        yield database
        database.dispose()

    def committed(self, name):
        """Count a commit that has written."""
        self.seen.append(name)

    def balances(self):
        """Return what is committed, as the oracle sees it."""
        reader = self.databases.reader('cell1')
        return [row[0] for row in reader.execute('SELECT balance FROM accounts ORDER BY id')]


def _fill(connection):
    connection.execute(ACCOUNTS.insert(), [{'id': 1, 'balance': 0}, {'id': 2, 'balance': 0}])


def add(connection, account, amount=1):
    """Add to an account."""
    which = ACCOUNTS.c.id == account
    connection.execute(ACCOUNTS.update().where(which).values(balance=ACCOUNTS.c.balance + amount))


def hold(connection):
    """Keep an account locked."""
    add(connection, 1)
    kernel.current().log('holds')
    kernel.current().sleep(HELD_S)


def _tick():
    now = kernel.current()
    for _ in range(HELD_S - 1):
        now.sleep(1)
        now.log('tick')


def waits(world):
    """Wait for a row that another process has changed."""
    with world.opened() as one, world.opened() as other:
        holder = kernel.current().process('holder').spawn(one.write, hold)
        kernel.current().sleep(0.5)
        ticking = kernel.current().spawn(_tick)
        other.write(add, 1)
        kernel.current().log('balances', world.balances())
        holder.join()
        ticking.join()


def gives_up(world):
    """Wait in vain, and find the connections of use afterwards."""
    with world.opened() as one, world.opened() as other:
        now = kernel.current()
        holder = now.process('holder')
        holder.spawn(one.write, hold)
        now.sleep(0.5)
        holder.freeze()
        try:
            other.write(add, 1, 10)
        except exception.Unavailable as error:
            now.log('unavailable', error)
        holder.thaw()
        now.sleep(HELD_S)
        other.write(add, 1, 100)
        now.log('balances', world.balances())


def outlives(world):
    """Wait for a process that is killed: it is rolled back."""
    with world.opened() as one, world.opened() as other:
        now = kernel.current()
        holder = now.process('holder')
        holder.spawn(one.write, hold)
        now.sleep(0.5)
        now.spawn(lambda: (now.sleep(1), holder.kill()))
        other.write(add, 1, 10)
        now.log('balances', world.balances())


def deadlocks(world):
    """Lock two rows in different orders; the engine repeats what the server rolls back."""

    def transfer(connection, first, second):
        add(connection, first)
        kernel.current().sleep(0.1)
        add(connection, second)

    with world.opened() as one, world.opened() as other:
        processes = [kernel.current().process(name) for name in ('a', 'b')]
        running = [
            process.spawn(database.write, transfer, *rows)
            for process, database, rows in zip(
                processes, (one, other), ((1, 2), (2, 1)), strict=True
            )
        ]
        for thread in running:
            thread.join()
        kernel.current().log('balances', world.balances())


def reads_the_clock(world):
    """Compare the clock of the database with the virtual one."""
    now = kernel.current()
    now.sleep(3600)
    with world.opened() as database:
        before = runtime.database_now().replace(tzinfo=None)
        found = database.read(
            lambda connection: connection.scalar(sa.select(database_clock.after(60)))
        )
        now.log('ahead', round((found - before).total_seconds(), 2))


def fails(world):
    """Meet each fault of a commit and of a statement once."""
    now = kernel.current()
    fates = {
        'commit': ('lost before', 'lost after', 'conflict', 'busy', 'read-only', 'killed after'),
        'statement': ('lost', 'conflict', 'busy'),
    }
    for kind, names in fates.items():
        for name in names:
            with world.opened() as database:
                database.read(lambda connection: connection.scalar(sa.select(1)))
                world.faults.due = kind, name
                try:
                    database.write(add, 1)
                    told = 'repeated'
                except exception.Unavailable as error:
                    told = 'unknown' if error.kwargs.get('may_have_committed') else 'unavailable'
                now.log('met', f'{kind} {name}: {told}, {world.balances()}')


def main(kind, *names):
    """Print what histories of programs came to."""
    logging.basicConfig(level=logging.CRITICAL)
    root = directories.new()
    found = {}
    try:
        with session.server(root, kind) as backend:
            for name in names:
                run = functools.partial(_lived, globals()[name], backend)
                found[name] = [
                    dataclasses.asdict(kernel.run(seed, run, limit_s=7200)) for seed in SEEDS
                ]
    finally:
        shutil.rmtree(root)
    print(json.dumps(found))


def _lived(program, backend):
    world = World(backend)
    program(world)
    kernel.current().log('seen', len(world.seen))


if __name__ == '__main__':
    main(*sys.argv[1:])
