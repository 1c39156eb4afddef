"""Starts that histories have in common, and the histories that continue from them."""

import os
import random
import sqlite3
import sys
import threading
import time

from tests.sim import kernel
from tests.sim.world import faults as faults_module
from tests.sim.world import sqlite


def together(*functions):
    """Run functions in threads of their own, and wait for these."""
    running = [threading.Thread(target=function) for function in functions]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def _begun(key, _number, branch):
    """Tick in a thread, log at length, and continue as another history after three seconds."""
    now = kernel.current()
    now.log('long', 'x' * 500_000)
    ticks = []

    def tick():
        while True:
            time.sleep(1)
            ticks.append(now.time())
            now.log('tick', (key, len(ticks), random.random()))

    threading.Thread(target=tick, daemon=True).start()
    time.sleep(3.5)
    branch()
    now.log('begun', (now.seed, len(ticks)))
    together(lambda: time.sleep(3), lambda: time.sleep(now.stream('mine').random()))
    if now.seed == 13:
        now.fail('unlucky')


BEGUN = kernel.Zygotes(lambda seed: seed % 2, _begun)
ONE_KEPT = kernel.Zygotes(lambda seed: seed % 2, _begun, most=1)


def _grown(branch):
    """Tick for two seconds, which all starts of GROWN have in common."""
    kernel.current().log('root')
    time.sleep(2)
    start = branch()
    start()


# Each start is a child of one process.
GROWN = kernel.Zygotes(lambda seed: seed % 2, _begun, most=1, first=_grown)


def _reopened(_key, _number, branch):
    """Hibernate a connection, and use it in the process of a history."""
    now = kernel.current()
    disk = sqlite.Disk(faults_module.Faults())
    sqlite.install(disk)
    connection = sqlite3.connect(':memory:')
    connection.isolation_level, connection.row_factory = None, sqlite3.Row
    connection.execute('PRAGMA cache_size = -3000')
    connection.create_function('twice', 1, lambda number: 2 * number, deterministic=True)
    connections = disk.close_all()
    branch()
    for each in connections:
        each.reopen()
    row = connection.execute('SELECT twice(21) AS answer').fetchone()
    size = connection.execute('PRAGMA cache_size').fetchone()[0]
    now.log('reopened', (row['answer'], size, connection.isolation_level, connection.name))


REOPENED = kernel.Zygotes(lambda _seed: None, _reopened)


def _endless(_key, _number, branch):
    """Run until the process is killed, after a start that was logged at length."""
    kernel.current().log('long', 'x' * 500_000)
    branch()
    # In one piece, since another history does the same.
    os.write(sys.stdout.fileno(), b'runs\n')
    while True:
        time.sleep(1)


ENDLESS = kernel.Zygotes(lambda _seed: None, _endless)


def _unbegun(_key, _number, _branch):
    """Fail in the start, with a log that does not fit into a pipe."""
    kernel.current().log('long', 'x' * 500_000)
    raise RuntimeError('no database')


UNBEGUN = kernel.Zygotes(lambda _seed: None, _unbegun)
