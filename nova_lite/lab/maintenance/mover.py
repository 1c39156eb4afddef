"""The move of one server off a host: requested once, watched until it ends.

If the API refuses a live migration before it begins, the server is cold migrated instead, and that
is reported.
"""

from collections.abc import Callable
import dataclasses
import enum
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite import states
from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import plan

# Before 2.34, the answer waits for the checks, so a refusal can be told from a failure.
CHECKED = '2.30'
VERIFY, ERROR = 'VERIFY_RESIZE', 'ERROR'


# Reports a text about a server to the operator.
Tell: typing.TypeAlias = Callable[[plan.Entry, str], None]


class What(enum.StrEnum):
    """The outcome of the move of a server."""

    MOVED = 'moved'
    # The server runs elsewhere. Its old guest stays until its user confirms or reverts the move.
    WAITS = 'waits'
    GONE = 'gone'
    LEFT = 'left'


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one server. how: the way in which it moved; host: its present host"""

    entry: plan.Entry
    what: What
    how: plan.How
    host: str | None = None
    reason: str = ''


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a move off a host.

    target: destination host, or None for any
    poll_s: seconds between two polls; timeout_s: seconds to wait for each server
    """

    target: str | None = None
    confirm: bool = False
    poll_s: float = 1.0
    timeout_s: float = 3600.0


class Mover:
    """Moves servers off `host`; `move` may be called in many threads.

    leaving: event that ends all waits at once
    """

    def __init__(self, cloud: client.Cloud, host: str, options: Options) -> None:
        self._cloud, self._host, self._options = cloud, host, options
        self.leaving = runtime.Event()

    def move(self, entry: plan.Entry, tell: Tell) -> Outcome:
        """Move a server in the way that its entry states. Return the outcome."""
        begin = {
            plan.How.LIVE: self._live,
            plan.How.COLD: self._cold,
            plan.How.EVACUATE: self._evacuate,
            plan.How.FOLLOW: self._watch,
            plan.How.CONFIRM: self._confirm,
        }[entry.how]
        try:
            return begin(entry, tell)
        except client.Refused as error:
            what = What.GONE if error.status == 404 else What.LEFT
            return Outcome(entry, what, entry.how, reason=str(error))
        except exception.NovaLiteError as error:
            return Outcome(entry, What.LEFT, entry.how, reason=str(error))

    # ---- asking ----

    def _live(self, entry: plan.Entry, tell: Tell) -> Outcome:
        content = {'host': self._options.target, 'block_migration': 'auto'}
        try:
            asked = self._ask(entry, tell, 'os-migrateLive', content, version=CHECKED)
        except client.Refused as error:
            if error.status not in (400, 409) or not entry.cold_instead:
                raise
            tell(entry, f'live migration was refused, using cold migration: {error}')
            return self._cold(dataclasses.replace(entry, how=plan.How.COLD), tell)
        return self._watch(entry, tell, asked)

    def _cold(self, entry: plan.Entry, tell: Tell) -> Outcome:
        content = {'host': self._options.target} if self._options.target else None
        return self._watch(entry, tell, self._ask(entry, tell, 'migrate', content))

    def _evacuate(self, entry: plan.Entry, tell: Tell) -> Outcome:
        content = {'host': self._options.target} if self._options.target else {}
        return self._watch(entry, tell, self._ask(entry, tell, 'evacuate', content))

    def _ask(
        self,
        entry: plan.Entry,
        tell: Tell,
        action: str,
        content: plan.Json | None,
        *,
        version: str = client.VERSION,
    ) -> str | None:
        """Send an action. Return the id of the request; None if it may not have been accepted."""
        try:
            return self._cloud.act(entry.uuid, action, content, version=version)
        except client.Refused as error:
            if error.status < 500:
                raise
            doubt = str(error)
        except exception.Unavailable as error:
            doubt = str(error)
        tell(entry, f'{action}: unknown whether it was accepted, polling the server: {doubt}')
        return None

    # ---- watching ----

    def _watch(self, entry: plan.Entry, tell: Tell, request_id: str | None = None) -> Outcome:
        deadline = runtime.monotonic() + self._options.timeout_s
        server = None
        while True:
            server = self._look(entry, tell, again=server == {})
            if server is None:
                return Outcome(entry, What.GONE, entry.how, reason='deleted')
            task = server and server['OS-EXT-STS:task_state']
            if server and task is None:
                return self._judge(entry, tell, server, request_id)
            if runtime.monotonic() > deadline or self.leaving.is_set():
                return Outcome(entry, What.LEFT, entry.how, reason=f'still in progress: {task}')
            runtime.wait(self.leaving, self._options.poll_s)

    def _look(self, entry: plan.Entry, tell: Tell, *, again: bool = False) -> plan.Json | None:
        """Return the server; None if it was deleted, {} if the API does not answer.

        again: whether the API did not answer the last request either, which was reported
        """
        try:
            return self._cloud.server(entry.uuid)
        except exception.Unavailable as error:
            doubt = str(error)
        except client.Refused as error:
            if error.status < 500:
                raise
            doubt = str(error)
        if not again:
            tell(entry, f'the API does not answer, polling until it does: {doubt}')
        return {}

    def _judge(
        self, entry: plan.Entry, tell: Tell, server: plan.Json, request_id: str | None
    ) -> Outcome:
        """Return the outcome of a server without a task state."""
        host = server.get('OS-EXT-SRV-ATTR:host')
        if server['status'] == ERROR:
            fault = server.get('fault', {}).get('message', 'it has no fault')
            return Outcome(entry, What.LEFT, entry.how, host, f'in ERROR: {fault}')
        if host == self._host:
            why = request_id and self._cloud.failure(entry.uuid, request_id)
            return Outcome(entry, What.LEFT, entry.how, host, why or 'it did not move')
        if server['status'] != VERIFY:
            return Outcome(entry, What.MOVED, entry.how, host)
        if self._options.confirm and self._is_cold(entry):
            return self._confirm(entry, tell)
        return Outcome(entry, What.WAITS, entry.how, host, 'waits for confirm or revert')

    def _is_cold(self, entry: plan.Entry) -> bool:
        """Return whether a server waits for the confirm of a cold migration, not of a resize."""
        if entry.how is plan.How.COLD:
            return True
        last = self._cloud.last_migration(entry.uuid)
        return last is not None and last['migration_type'] == states.MigrationType.MIGRATION

    # ---- confirming ----

    def _confirm(self, entry: plan.Entry, tell: Tell) -> Outcome:
        self._ask(entry, tell, 'confirmResize', None)
        deadline = runtime.monotonic() + self._options.timeout_s
        server = None
        while True:
            server = self._look(entry, tell, again=server == {})
            if server is None:
                return Outcome(entry, What.GONE, entry.how, reason='deleted')
            outcome = self._confirmed(entry, server) if server else None
            if outcome:
                return outcome
            if runtime.monotonic() > deadline or self.leaving.is_set():
                host = server.get('OS-EXT-SRV-ATTR:host')
                return Outcome(entry, What.WAITS, entry.how, host, 'confirm is still in progress')
            runtime.wait(self.leaving, self._options.poll_s)

    def _confirmed(self, entry: plan.Entry, server: plan.Json) -> Outcome | None:
        """Return the outcome of a server if its confirm has ended, or None."""
        host = server.get('OS-EXT-SRV-ATTR:host')
        if server['status'] not in (VERIFY, ERROR) and server['OS-EXT-STS:task_state'] is None:
            return Outcome(entry, What.MOVED, entry.how, host)
        last = self._cloud.last_migration(entry.uuid)
        if server['status'] == ERROR or (last and last['status'] == states.MigrationStatus.ERROR):
            fault = server.get('fault', {}).get('message', 'see its migration')
            return Outcome(entry, What.LEFT, entry.how, host, f'not confirmed: {fault}')
        return None
