"""Databases on a real server under the scheduler: who waits for a lock there is blocked.

Simulated threads are greenlets of one real thread. A statement is sent, and this process
waits for the answer for real, which takes no virtual time. If the server says that the
statement waits for a lock, the simulated thread is blocked and others run. After each
answer of the server those who wait are looked at: whose lock was granted is waited for.
"""

import sqlalchemy as sa

from tests.sim import kernel
from tests.sim.kernel import outside
from tests.sim.world import faults as faults_module
from tests.sim.world import sqlite

# What URLs name. The server is elsewhere, and its databases have a prefix for each history.
HOST = 'database.sim'
NAMES = sqlite.SERVED
# Real milliseconds after which the server is asked what a statement waits for.
LOOK_MS = 5
# A statement that waits at so many looks is blocked: a deadlock has been found by then, also by
# a server that has to wait for a processor.
LOOKS = 10
# How often a transaction with locks takes longer before its next statement, and how long.
LINGERING, LINGERS_S = 0.05, (0.01, 0.1, 1.0)
UNLOCKED = ('SELECT', 'SHOW', 'SET', *sqlite.ENDS)


class Session:
    """One connection of a simulated process to a database.

    ident: by which the server knows it; record: the pool's, of the connection
    """

    def __init__(self, name, ident, fileno, record):
        self.name, self.ident, self.record = name, ident, record
        self.descriptor = outside.Descriptor(fileno)
        self.process = kernel.current().here
        # Whether its transaction may have written, or locked rows.
        self.has_locks = False
        # Virtual seconds after which a statement that waits for a lock fails.
        self.timeout_s = None
        # Which waits for a lock.
        self.thread = None

    def is_answered(self, within_ms=0):
        """Return whether the server has sent something, or is gone."""
        return bool(self.descriptor.ready(outside.READ, within_ms))


class Databases:
    """All databases of one history. backend: a mariadb.Backend or a postgresql.Backend

    prefix: of their names on the server
    faults: a faults.Faults; kinds are those of sqlite.Connection
    """

    def __init__(self, backend, prefix, faults):
        self.backend, self.prefix, self.faults = backend, prefix, faults
        self._sessions = {}
        self._blocked = []
        self._watchers = []

    def install(self):
        """Make the databases; have this process use them whenever it connects to HOST."""
        self.backend.install(self)
        self.backend.create(self.prefix)
        sa.event.listen(sa.pool.Pool, 'connect', self._connected)

    def url(self, name):
        """The SQLAlchemy URL of a database."""
        return f'{self.backend.scheme}://{self.backend.login}@{HOST}/{name}'

    def _connected(self, connection, record):
        found = self.backend.session_of(connection)
        if found is None:
            return
        database, ident, fileno = found
        session = Session(database.removeprefix(self.prefix), ident, fileno, record)
        self.backend.attach(connection, session)
        known = self._sessions.get(session.process)
        if known is None:
            known = self._sessions[session.process] = {}
            session.process.on_kill(lambda: self._killed(session.process))
        known[ident] = session

    def _killed(self, process):
        for session in list(self._sessions.get(process, {}).values()):
            self.end(session)

    def end(self, session):
        """End a session on the server, which rolls back what it has not committed."""
        if self._sessions[session.process].pop(session.ident, None) is None:
            return
        if session in self._blocked:
            self._blocked.remove(session)
        self.backend.end(session.ident)
        self._settle()

    # ---- statements ----

    def prepare(self, session, sql):
        """A statement is about to be sent; return the fault that it meets, or None."""
        verb = sql.split(None, 1)[0].upper()
        kernel.current().point(f'db: {verb}', session.name)
        self._linger(session)
        locks = verb not in UNLOCKED or 'FOR UPDATE' in sql
        if locks and not session.has_locks:
            self.faults.delay_begin(session.name)
        session.has_locks |= locks
        return None if verb in sqlite.ENDS else self._fate('statement', verb, session)

    def prepare_commit(self, session):
        """COMMIT is about to be sent; return the fault that it meets, or None."""
        kernel.current().point('db: COMMIT', session.name)
        self._linger(session)
        fate = self._fate('commit', 'COMMIT', session)
        if fate is None and session.has_locks and faults_module.is_at_work():
            fate = self._fate('work', 'COMMIT', session)
        return fate

    def committed(self, session):
        """The server has committed a transaction."""
        if session.has_locks:
            session.has_locks = False
            for watcher in self._watchers:
                watcher.committed(session.name)
        kernel.current().point('db: committed', session.name)

    def _fate(self, kind, what, session):
        return self.faults.draw(kind, what, session.name)

    def _linger(self, session):
        """At times let others meet the locks of a transaction, as if the server were slow."""
        if session.has_locks and not self.faults.quiet:
            stream = kernel.current().stream('slow transactions')
            if stream.happens(LINGERING, session.name):
                kernel.current().sleep(stream.choice(LINGERS_S))

    # ---- waiting ----

    def answered(self, session):
        """Wait until the server answers; return False after the session's time for it."""
        waits = self._waits(session)
        # A lock may have been granted, and a deadlock has a victim.
        self._settle()
        if not waits or session.is_answered():
            return True
        now = kernel.current()
        now.log('db: waits for a lock', session.name)
        limit_s = session.timeout_s
        deadline = None if limit_s is None else now.here.deadline_us(limit_s)
        session.thread = now.running
        self._blocked.append(session)
        now.block('db: lock', deadline)
        if session not in self._blocked:
            now.log('db: has waited', session.name)
            return True
        self._blocked.remove(session)
        now.log('db: has waited in vain', session.name)
        return False

    def _waits(self, session):
        """Wait for real until a statement is answered or waits for a lock; whether it does."""
        looks = 0
        while looks < LOOKS:
            if session.is_answered(LOOK_MS):
                return False
            looks = looks + 1 if session.ident in self.backend.waiting() else 0
        return True

    def _settle(self):
        """Wake threads whose statements are not blocked any more, once these are answered."""
        for session in list(self._blocked):
            while not session.is_answered():
                if session.ident in self.backend.waiting():
                    break
                session.is_answered(LOOK_MS)
            else:
                self._blocked.remove(session)
                kernel.current().wake(session.thread)

    # ---- the oracle ----

    def watch(self, watcher):
        """Notify `watcher` of each commit that has written: committed(name)."""
        self._watchers.append(watcher)

    def reader(self, name):
        """A connection that reads what is committed, with sqlite3's `execute`."""
        return self.backend.reader(self.prefix + name)

    # ---- the start of histories ----

    def is_idle(self):
        """Return whether no connection is in use."""
        return not any(session.record.in_use for session in self._every())

    def close_all(self):
        """Close all connections; pools open new ones when they need them."""
        for session in list(self._every()):
            session.record.invalidate()
        self.backend.disconnect()

    def _every(self):
        return [each for known in self._sessions.values() for each in known.values()]

    def continue_as(self, prefix):
        """Copy the databases to another prefix, and use the copies; no connection is open."""
        self.backend.copy(self.prefix, prefix)
        self.prefix = prefix

    def drop(self):
        """Remove the databases of a history that has ended."""
        for session in self._every():
            self.backend.end(session.ident)
        self.backend.drop(self.prefix)
