"""Health of a daemon: whether the services that it needs answer, with the cause if not.

Checks run in parallel and time out, so that a dead broker does not block the report.
"""

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import typing

from nova_lite import runtime

LIMIT_S = 5
# Seconds between two runs of the checks; requests in between get the results of the last run.
KEPT_S = 2
NO_ANSWER = f'no answer in {LIMIT_S} s'

Check: typing.TypeAlias = Callable[[], typing.Any]
Report: typing.TypeAlias = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Result:
    """Result of a check. cause: None if it succeeded"""

    name: str
    cause: str | None


class Health:
    """Health checks of a daemon.

    checks: {name: function that raises an error, which is the cause, if the check fails}
    """

    def __init__(self, daemon: str, checks: Mapping[str, Check]) -> None:
        self.daemon = daemon
        self._checks = dict(checks)
        self._pool = runtime.executor(len(self._checks) + 1)
        self._running: dict[str, runtime.Future[typing.Any]] = {}
        self._lock = runtime.Lock()
        self._found: tuple[Result, ...] = ()
        self._until = 0.0

    def results(self) -> tuple[Result, ...]:
        """Return the Result of each check."""
        with self._lock:
            if runtime.monotonic() >= self._until:
                self._found = self._look()
                self._until = runtime.monotonic() + KEPT_S
            return self._found

    def report(self) -> tuple[bool, Report]:
        """Return (healthy, {'daemon', 'healthy', 'checks': {name: cause or None}})."""
        found = {result.name: result.cause for result in self.results()}
        healthy = not any(found.values())
        return healthy, {'daemon': self.daemon, 'healthy': healthy, 'checks': found}

    def close(self) -> None:
        """Run no more checks."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _look(self) -> tuple[Result, ...]:
        for name, check in self._checks.items():
            # A check that hangs is not started again before it has ended.
            if name not in self._running or self._running[name].done():
                self._running[name] = self._pool.submit(check)
        runtime.wait_all(self._running.values(), LIMIT_S)
        return tuple(Result(name, _cause(future)) for name, future in self._running.items())


def _cause(future: runtime.Future[typing.Any]) -> str | None:
    if not future.done():
        return NO_ANSWER
    error = future.exception()
    return None if error is None else str(error) or type(error).__name__
