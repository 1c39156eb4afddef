"""Events that a trace does not have: live migrations, and a host that loses its power.

The seed alone decides the times of the events and the servers that they affect.
"""

from collections.abc import Callable

from nova_lite import runtime
from nova_lite.lab.replay import booter
from nova_lite.lab.replay import stream
from nova_lite.lab.replay import trace

MIGRATED, NOT_MIGRATED = 'migrated', 'not_migrated'
EVACUATED, NOT_EVACUATED = 'evacuated', 'not_evacuated'
# A host is lost after this share of the trace's time, when the cloud has servers.
LOST_AFTER = 0.6


class Disturbances:
    """Live migrations and the loss of a host during a run with whole boots."""

    def __init__(self, booting: booter.Booter, seed: int) -> None:
        self._booter = booting
        self._rng = runtime.seeded_random(f'{seed}/disturbances')

    def planned(self, found: trace.Trace, migrations: int, *, lose: bool) -> list[stream.Planned]:
        """Return (seconds, event) of so many migrations and, with `lose`, of the loss of a host."""
        span_s = found.ended_s - found.began_s
        events: list[stream.Planned] = [
            (found.began_s + span_s * self._rng.random(), self.migrate) for _ in range(migrations)
        ]
        if lose:
            events.append((found.began_s + span_s * LOST_AFTER, self.lose_host))
        return sorted(events, key=lambda each: each[0])

    def migrate(self, progress: stream.Progress) -> None:
        """Live-migrate a server, if the cloud has one."""
        if progress.living:
            name = self._rng.choice(progress.living)
            self._note(progress, [name], self._booter.migrate, (MIGRATED, NOT_MIGRATED))

    def lose_host(self, progress: stream.Progress) -> None:
        """Power off the host with the most servers, and evacuate its servers."""
        names = self._booter.lose_host(progress.living)
        self._note(progress, names, self._booter.evacuate, (EVACUATED, NOT_EVACUATED))

    @staticmethod
    def _note(
        progress: stream.Progress,
        names: list[str],
        move: Callable[[str], str | None],
        results: tuple[str, str],
    ) -> None:
        """Move servers one by one. move: returns the new host, None if the server stays"""
        for name in names:
            host = move(name)
            result = results[host is None]
            progress.moves[result] = progress.moves.get(result, 0) + 1
            progress.note(name, host)
