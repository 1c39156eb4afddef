"""Faults of a cloud while its moves are held: a daemon dies, or worse.

Each is a context. Entering it does the harm and lets the moves go on; its value is the
time from which recovery is counted. Leaving it ends what has not ended before.
"""

import contextlib
import os
import signal

from nova_lite import runtime
from nova_lite.saga import engine
from tests.crash import cases

RESTART_S = 180
DATABASE_AWAY_S = 20


class Faults:
    """cloud: a CrashCloud; stage: a Stage that knows who plays which role."""

    def __init__(self, cloud, stage):
        self.cloud, self.stage = cloud, stage

    def of(self, role, stops):
        """The fault of a case. stops: those of the moves that are held."""
        if role in cases.ROLES:
            return self._killed(self.stage.daemon(role))
        if role == cases.CALLED:
            return self._killed(*self._called(stops))
        if role == cases.LATE:
            return self._late()
        if role == cases.FROZEN:
            return self._frozen(sum(stop.met is not None for stop in stops))
        if role == cases.DATABASE:
            return self._away(self.cloud.far_database, DATABASE_AWAY_S)
        return self._away(self.cloud.brokers[self._broker(role)], 0)

    def _broker(self, role):
        cells = dict(zip(cases.BROKERS, ('top', self.stage.home, self.stage.away), strict=True))
        return cells[role].partition('-')[0]

    def _called(self, stops):
        """Names of the daemons that came to these stops."""
        pids = {stop.met['pid'] for stop in stops if stop.met}
        children = self.cloud.cloud.children.items()
        return [name for name, child in children if child.process.pid in pids]

    @contextlib.contextmanager
    def _killed(self, *names):
        """kill -9; the supervisor starts them again."""
        children = [self.cloud.cloud.children[name] for name in names]
        before = [(child, child.starts, child.process) for child in children]
        for name in names:
            # With its workers, if it has any.
            os.killpg(self.cloud.pid(name), signal.SIGKILL)
        for _child, _starts, process in before:
            process.wait(RESTART_S)
        self.cloud.points.release()
        self.cloud.wait_for(
            lambda: all(child.starts > starts for child, starts, _process in before),
            f'{names} to start again',
            RESTART_S,
        )
        yield runtime.monotonic()

    @contextlib.contextmanager
    def _late(self):
        """Held processes continue by themselves when no test waits for them any more."""
        yield runtime.monotonic()
        self.cloud.points.release()

    @contextlib.contextmanager
    def _away(self, server, seconds):
        """A broker or a database stops, and is back after so long."""
        server.stop()
        self.cloud.points.release()
        runtime.wait(runtime.Event(), seconds)
        server.start()
        yield runtime.monotonic()

    @contextlib.contextmanager
    def _frozen(self, count):
        """One that held leases sleeps past their end, and wakes when others have acted."""
        name = self.stage.daemon(cases.SUPER)
        said = self.cloud.log(name).count(engine.TAKEN_OVER)
        self.cloud.signal(name, signal.SIGSTOP)
        self.cloud.points.release()
        with self.cloud.cloud.second_super_conductor():
            yield runtime.monotonic()
            self.cloud.signal(name, signal.SIGCONT)
            self.cloud.wait_for(
                lambda: self.cloud.log(name).count(engine.TAKEN_OVER) >= said + count,
                f'{count} moves to be refused to who slept',
                RESTART_S,
            )
