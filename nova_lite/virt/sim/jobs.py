"""Jobs: effects that are started under a key and take place at a time of the clock.

A job is a row with the time (see `job_clock`) of its effect. The next call (a poll, a list,
another effect on the guest) first settles the jobs that are due, in the order of their times.
There is no timer and no thread, so the end of a daemon loses nothing.
"""

from collections.abc import Callable
from collections.abc import Sequence
import dataclasses
import functools
import json
import sqlite3

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import model
from nova_lite.virt.sim import cold
from nova_lite.virt.sim import delay
from nova_lite.virt.sim import effects
from nova_lite.virt.sim import job_clock
from nova_lite.virt.sim import life
from nova_lite.virt.sim import live_migration
from nova_lite.virt.sim import rules
from nova_lite.virt.sim import store

EFFECTS = life.EFFECTS | cold.EFFECTS | live_migration.EFFECTS
Verb = model.Verb
# Verbs that act on the running copy, so they do not wait for its end.
ON_COPY = (Verb.ABORT_LIVE_MIGRATION, Verb.FORCE_COMPLETE)
# The columns of which at least one changes if a guest is created again or changes its power.
IDENTITY = ('role', 'power_state', 'move', 'started_at')
# Seconds between two polls of a running copy, whose counters change all the time: as many as it has
# run, within these limits. An abort, or a request to complete it, is carried out at once.
COPY_INTERVAL_S, LONGEST_COPY_INTERVAL_S = 1.0, 5.0
# Seconds that ended jobs are kept for repeated calls, far longer than any saga retries.
RETENTION_S = 86400
PURGE_EVERY = 4096
PURGE_SPAN = 16384


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """A requested effect. spec: definition of a guest that the node may not know yet"""

    node: str
    guest: str
    verb: Verb
    key: str
    subject: str = ''
    args: model.Json = dataclasses.field(default_factory=dict)
    spec: model.GuestSpec | None = None


class Jobs:
    """The jobs of one store.

    profile, injected: may be replaced at any time; the failures that `injected` returns come before
        those of the profile
    """

    def __init__(self, store_: store.Store, profile: rules.Profile, speed: float) -> None:
        self._store = store_
        self.profile = profile
        self.injected: Callable[[], tuple[rules.FailureRule, ...]] = tuple
        self._speed = speed

    def start(self, request: Request) -> model.Job:
        """Start the effect, or return the job that an equal request has started."""
        now = self._store.now()
        with self._store.write() as tx:
            row = _find(tx, request)
            if row is None:
                powered, _booted = store.node_power(tx, request.node)
                if not powered:
                    raise exception.Unavailable(
                        service='hypervisor', reason=f'{request.node} is powered off'
                    )
                job_id = self._admit(tx, request, now)
            else:
                job_id = row['id']
            settle(tx, request.node, request.guest, now)
            return to_job(_get(tx, job_id), now)

    def poll(self, job_id: str) -> model.Job:
        """Return the job as it is now. Raise NotFound."""
        now = self._store.now()
        with self._store.read() as tx:
            row = _get(tx, job_id)
            if row['state'] != 'running' or row['due'] is None or row['due'] > now:
                return to_job(row, now)
        with self._store.write() as tx:
            settle(tx, row['node'], row['guest'], now)
            return to_job(_get(tx, job_id), now)

    def running(self, node: str, guest: str | None = None) -> list[model.Job]:
        """Return the jobs that have not ended."""
        self.settle_node(node)
        now = self._store.now()
        with self._store.read() as tx:
            return [to_job(row, now) for row in store.running_jobs(tx, node, guest)]

    def settle_node(self, node: str) -> None:
        """Apply all effects that are due on the node."""
        now = self._store.now()
        due = "SELECT DISTINCT guest FROM jobs WHERE state = 'running' AND node = ? AND due <= ?"
        with self._store.read() as tx:
            if tx.execute(due, (node, now)).fetchone() is None:
                return
        with self._store.write() as tx:
            for row in tx.execute(due, (node, now)).fetchall():
                settle(tx, node, row['guest'], now)

    # ---- admission --------------------------------------------------------

    def _admit(self, tx: sqlite3.Connection, request: Request, now: float) -> int:
        """Write the job's row and what shows of it at once; return its id."""
        settle(tx, request.node, request.guest, now)
        job_id = _insert(tx, request, now)
        job_clock.mark(tx, now)
        if job_id % PURGE_EVERY == 0:
            _purge(tx, now)
        work = effects.Work(
            tx,
            job_id,
            request.node,
            request.guest,
            request.verb,
            request.subject,
            dict(request.args),
            now,
        )
        due: float | None
        try:
            begins = due = _queue(work)
            effect = EFFECTS[request.verb]
            if effect.is_idle is not None and effect.is_idle(work):
                failure = None
            else:
                failure = self._failure(work, request.spec)
                due = self._schedule(work, begins, failure)
            if due is not None and due > now and effect.begin is not None:
                effect.begin(work)
        except effects.Refused as refusal:
            store.fail_job(tx, _get(tx, job_id), refusal.error)
            return job_id
        tx.execute(
            'UPDATE jobs SET begins = ?, due = ?, args = ?, failure = ? WHERE id = ?',
            (begins, due, json.dumps(work.args), json.dumps(failure) if failure else None, job_id),
        )
        return job_id

    def _schedule(
        self, work: effects.Work, begins: float, failure: model.Json | None
    ) -> float | None:
        """Return the instant at which the effect takes place (or fails); None: not foreseeable."""
        delay = self._delay(work)
        when = failure and failure['when']
        if work.verb == Verb.FINISH_MIGRATION:
            copy_s = cold.copy_s(work, self.profile.live_migration) / self._speed
            # Less than a millisecond is no time: the instant profile means it.
            delay += copy_s if copy_s >= 0.001 else 0
        if work.verb == Verb.LIVE_MIGRATE:
            spec = model.GuestSpec.from_dict(json.loads(work.resident()['spec']))
            live_migration.prepare(work, self.profile.live_migration(work.node, spec), self._speed)
            work.args['setup'] = delay
            if when != 'before':
                seconds = live_migration.until_event(work.args, fails=when == 'during')
                return None if seconds is None else live_migration.due(begins, work.args, seconds)
        if when == 'before':
            return begins
        return begins + (delay / 2 if when == 'during' else delay)

    def _delay(self, work: effects.Work) -> float:
        """Seconds; random ones follow from seed, node, verb and how many were drawn."""
        distribution = self.profile.behaviour(work.node).delays[work.verb]
        if isinstance(distribution, delay.Fixed):
            return distribution.seconds / self._speed
        name = f'{work.node}/{work.verb}'
        count = store.count(work.tx, f'delay/{name}')
        rng = runtime.seeded_random(f'{self.profile.seed}/{name}/{count}')
        return distribution.draw(rng) / self._speed

    def _failure(self, work: effects.Work, spec: model.GuestSpec | None) -> model.Json | None:
        """Return the injected failure of this effect as {when, error}, or None."""
        injected = tuple(rule for rule in self.injected() if work.verb in rule.verbs)
        failures = injected + self.profile.failures(work.verb)
        if not failures:
            return None
        if spec is None:
            row = work.find() or work.find(departed=True)
            spec = model.GuestSpec.from_dict(json.loads(row['spec'])) if row else None
        for rule in failures:
            if not rule.match.fits(work.node, spec):
                continue
            count = store.count(work.tx, f'failure/{rule.identity}')
            seed = f'{self.profile.seed}/{rule.identity}/{count}'
            if rule.limit.strikes(count, functools.partial(runtime.seeded_random, seed)):
                return {'when': rule.when, 'error': dataclasses.astuple(rule.error)}
        return None


def identity(guest: model.Guest) -> model.Json:
    """Return columns by which a guest that was listed is known again."""
    return {name: getattr(guest, name) for name in IDENTITY}


def _require_as_seen(work: effects.Work, others: Sequence[sqlite3.Row]) -> None:
    """Refuse to destroy a guest that has changed since it was listed, or is being changed."""
    seen, row = work.args.get('seen'), work.find()
    if seen is None:
        return
    busy = [other for other in others if other['verb'] not in (Verb.DESTROY, Verb.LIVE_MIGRATE)]
    if busy or (row is not None and {name: row[name] for name in IDENTITY} != seen):
        raise effects.Refused(
            'GuestBusy', f'Guest {work.guest} on {work.node} has changed since it was listed.'
        )


def _queue(work: effects.Work) -> float:
    """Return the instant at which the job begins: after what runs on the guest.

    A destroy interrupts that instead. Refuses to wait for a live migration, and refuses a live
    migration that would have to wait. Requests about its copy may come first, and find the copy.
    """
    others = [
        row for row in store.running_jobs(work.tx, work.node, work.guest) if row['id'] != work.id
    ]
    _require_as_seen(work, others)
    if work.verb in ON_COPY or not others:
        return work.at
    if work.verb == Verb.DESTROY:
        error = model.JobError(
            'Interrupted', f'Guest {work.guest} was destroyed during the operation.'
        )
        for row in others:
            if row['verb'] != Verb.DESTROY:
                interrupt(work.tx, row, error, work.at)
        return work.at
    if work.verb == Verb.LIVE_MIGRATE:
        blocking = [row for row in others if row['verb'] not in ON_COPY]
    else:
        blocking = others if any(row['verb'] == Verb.LIVE_MIGRATE for row in others) else []
    if blocking:
        verb = blocking[0]['verb']
        raise effects.Refused(
            'GuestBusy', f'{verb} of guest {work.guest} is in progress on {work.node}.'
        )
    if work.verb == Verb.LIVE_MIGRATE:
        return work.at
    begins: float = max(work.at, *(row['due'] for row in others))
    return begins


def interrupt(tx: sqlite3.Connection, row: sqlite3.Row, error: model.JobError, now: float) -> None:
    """End a job from outside with a model.JobError."""
    result = {}
    if row['verb'] == Verb.LIVE_MIGRATE:
        result = live_migration.describe(json.loads(row['args']), row['begins'], now)
    store.fail_job(tx, row, error, result=json.dumps(result))


# ---- settling -------------------------------------------------------------


def settle(tx: sqlite3.Connection, node: str, guest: str, now: float) -> None:
    """Apply the effects on a guest that are due, in order."""
    while True:
        row = tx.execute(
            "SELECT * FROM jobs WHERE state = 'running' AND node = ? AND guest = ?"
            ' AND due <= ? ORDER BY due, id LIMIT 1',
            (node, guest, now),
        ).fetchone()
        if row is None:
            return
        _take_place(tx, row)


def _take_place(tx: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Carry out the effect of the due job, or the part that its injected failure leaves."""
    effect = EFFECTS[row['verb']]
    work = effects.Work(
        tx,
        row['id'],
        row['node'],
        row['guest'],
        row['verb'],
        row['subject'],
        json.loads(row['args']),
        row['due'],
    )
    failure = json.loads(row['failure']) if row['failure'] else None
    result: model.Json | effects.Later = {}
    try:
        if failure and failure['when'] == 'during' and effect.partial is not None:
            effect.partial(work)
        if failure is None or failure['when'] == 'after':
            result = effect.finish(work)
    except effects.Refused as refusal:
        store.fail_job(tx, row, refusal.error)
        return
    if isinstance(result, effects.Later):
        tx.execute(
            'UPDATE jobs SET due = ?, args = ? WHERE id = ?',
            (result.due, json.dumps(work.args), row['id']),
        )
    elif failure:
        if row['verb'] == Verb.LIVE_MIGRATE and not result:
            result = live_migration.describe(work.args, row['begins'], work.at)
        store.fail_job(tx, row, model.JobError(*failure['error']), result=json.dumps(result))
    else:
        store.end_job(tx, row, 'done', result=json.dumps(result))


# ---- rows -----------------------------------------------------------------


def _find(tx: sqlite3.Connection, request: Request) -> sqlite3.Row | None:
    row: sqlite3.Row | None = tx.execute(
        'SELECT id FROM jobs WHERE guest = ? AND key = ? AND verb = ? AND node = ? AND subject = ?',
        (request.guest, request.key, request.verb, request.node, request.subject),
    ).fetchone()
    return row


def _get(tx: sqlite3.Connection, job_id: int | str) -> sqlite3.Row:
    row: sqlite3.Row | None = tx.execute('SELECT * FROM jobs WHERE id = ?', (job_id,)).fetchone()
    if row is None:
        raise exception.NotFound(f'Job {job_id} could not be found.')
    return row


def _insert(tx: sqlite3.Connection, request: Request, now: float) -> int:
    job_id: int = tx.execute(
        'INSERT INTO jobs (node, guest, verb, subject, key, state, begins, args, result)'
        " VALUES (?, ?, ?, ?, ?, 'running', ?, '{}', '{}') RETURNING id",
        (request.node, request.guest, request.verb, request.subject, request.key, now),
    ).fetchone()[0]
    return job_id


def _purge(tx: sqlite3.Connection, now: float) -> None:
    tx.execute('DELETE FROM ended_moves WHERE ended_at < ?', (now - RETENTION_S,))
    tx.execute(
        "DELETE FROM jobs WHERE state != 'running' AND begins < ? AND id <= ?"
        " + (SELECT id FROM jobs WHERE state != 'running' ORDER BY id LIMIT 1)",
        (now - RETENTION_S, PURGE_SPAN),
    )


def to_job(row: sqlite3.Row, now: float) -> model.Job:
    """Return the model.Job of a row at the instant `now`."""
    result = json.loads(row['result'])
    ready_in, progress = 0.0, 100
    if row['state'] == 'running':
        copy = row['verb'] == Verb.LIVE_MIGRATE
        if copy:
            result = live_migration.describe(json.loads(row['args']), row['begins'], now)
        due = row['due']
        interval_s = min(max(now - row['begins'], COPY_INTERVAL_S), LONGEST_COPY_INTERVAL_S)
        ready_in = interval_s if due is None else max(0.0, due - now)
        if copy:
            ready_in = min(ready_in, interval_s)
        progress = _percent(row, now)
    error = model.JobError(*json.loads(row['error'])) if row['error'] else None
    return model.Job(
        str(row['id']),
        row['guest'],
        row['node'],
        Verb(row['verb']),
        model.JobState(row['state']),
        ready_in,
        progress,
        result,
        error,
        row['subject'],
        _device(row),
    )


def _device(row: sqlite3.Row) -> model.Device | None:
    """Return the interface that a running job attaches, or None."""
    if row['verb'] != Verb.ATTACH_INTERFACE or row['state'] != 'running':
        return None
    return model.Device.from_dict(json.loads(row['args'])['device'])


def _percent(row: sqlite3.Row, now: float) -> int:
    if row['due'] is None or row['due'] <= row['begins']:
        return 0
    return max(0, min(99, int(100 * (now - row['begins']) / (row['due'] - row['begins']))))
