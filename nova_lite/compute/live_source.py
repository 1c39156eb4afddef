"""Live migration at the source: one call for each poll.

The hypervisor keeps the copy as a job, and the cell keeps the record, so this process keeps
nothing: after a restart it replies to the next poll as before.
Source: reference/nova/moves 4.2 to 4.4.
"""

from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import states
from nova_lite.compute import replies
from nova_lite.compute import site
from nova_lite.objects import instance as objects
from nova_lite.virt import model

LOG = log.getLogger(__name__)

COUNTERS = tuple(
    f'{what}_{part}' for what in ('memory', 'disk') for part in ('total', 'processed', 'remaining')
)
ABORT, FORCE_COMPLETE = 'abort', 'force_complete'
# Error of a request to complete a copy that has nothing left to copy.
OVER = ('MigrationNotRunning', 'GuestNotFound')
# Error of a copy that was aborted, or that was aborted before it began.
ABORTED = ('MigrationAborted', 'MoveEnded')
BYTES_PER_GIB = 2**30
MIB_PER_GIB = 1024
# Seconds until the next poll of a waiting migration, by its place in the queue.
TURN_S, LONGEST_TURN_S = 0.25, 5.0
UNDO_TRIES = 3


class Source:
    """One live migration at its source. move: the migration's uuid"""

    def __init__(
        self,
        site: site.Site,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        move: str,
    ) -> None:
        self._site, self._ctxt, self._host = site, ctxt, host
        self._instance, self._move = instance, move
        self._node = site.node_of(host, instance)

    # ---- forward ----

    def take_turn(self) -> replies.Reply:
        """Queue the migration. Admit it when fewer migrations than the limit leave the host.

        Raises LiveMigrationAborted if the migration was aborted.
        """
        found = self._site.conductor.live_migration_turn(
            self._ctxt,
            host=self._host,
            migration_uuid=self._move,
            limit=self._site.conf.max_concurrent_live_migrations,
        )
        if found['turn']:
            return {'done': True}
        return {'pending': min(LONGEST_TURN_S, TURN_S * (1 + found['ahead']))}

    def copy(self, *, key: str, ticket: model.Ticket, block_migration: bool) -> replies.Reply:
        """Start the copy, or poll it.

        While it runs, report the counters, carry out commands and enforce the time limit.
        Replies {'handover', counters} as soon as the guest may run at the destination. The time
        limit is enforced only while a super-conductor polls. Raises LiveMigrationAborted,
        DriverError.
        """
        job = self._site.driver.live_migrate(
            self._node,
            self._instance.uuid,
            self._move,
            key=key,
            ticket=ticket,
            block_migration=block_migration,
        )
        if job.state is model.JobState.RUNNING:
            self._fulfil(self._report(job))
            self._mind_time(job)
            job = replies.awaited(self._site.driver, self._site.driver.poll(job.id))
            if job.state is model.JobState.RUNNING and 'handover' not in job.result:
                return replies.pending(job)
        if job.state is model.JobState.FAILED:
            if job.failure.error_class in ABORTED:
                raise exception.LiveMigrationAborted(migration_id=self._move)
            return replies.reply(self._site.driver, job)
        if 'handover' in job.result:
            return {'done': True, 'handover': job.result['handover'], **counters(job)}
        return replies.reply(self._site.driver, job)

    def _report(self, job: model.Job) -> dict[str, model.Json]:
        """Report the progress of the copy. Return requests of operators."""
        return self._site.conductor.live_migration_progress(
            self._ctxt, host=self._host, migration_uuid=self._move, counters=counters(job)
        )

    def _running_copy(self) -> model.Job | None:
        for job in self._site.driver.list_jobs(self._node, self._instance.uuid):
            if job.verb is model.Verb.LIVE_MIGRATE:
                return job
        return None

    def _fulfil(self, commands: dict[str, model.Json]) -> None:
        for command, values in commands.items():
            asked = context.RequestContext.from_wire(values)
            fulfil(self._site, asked, self._host, self._instance.uuid, self._move, command=command)

    def _mind_time(self, job: model.Job) -> None:
        """Abort or force a copy after its timeout, which depends on the guest's size."""
        options = self._site.conf.compute
        size_gib = self._instance.flavor.memory_mb / MIB_PER_GIB
        size_gib += job.result['disk_total'] / BYTES_PER_GIB
        allowed_s = options.live_migration_completion_timeout * max(1, size_gib)
        if not allowed_s or job.result['elapsed'] < allowed_s:
            return
        action = options.live_migration_timeout_action
        if action == ABORT and not self._site.driver.can_abort_live_migration(self._node):
            return
        LOG.warning(
            'Live migration %s of server %s takes longer than %s s: %s',
            self._move,
            self._instance.uuid,
            allowed_s,
            action,
        )
        _end_copy(
            self._site, self._node, self._instance.uuid, self._move, key='timeout', how=action
        )

    def finish(self, *, key: str) -> replies.Reply:
        """Remove the guest here after it was started elsewhere.

        Wait for the end of the copy, which with post-copy comes after the departure.
        """
        running = self._running_copy()
        if running:
            self._fulfil(self._report(running))
            running = self._running_copy()
            if running:
                copy = replies.awaited(self._site.driver, running)
                if copy.state is model.JobState.RUNNING:
                    return replies.pending(copy)
        job = self._site.driver.confirm_migration(
            self._node, self._instance.uuid, self._move, key=key
        )
        reply = replies.reply(self._site.driver, job)
        if 'done' in reply:
            self._site.claims.release(self._node, self._instance.uuid)
            LOG.info('Server %s was migrated away from node %s', self._instance.uuid, self._node)
        return reply

    # ---- back ----

    def roll_back(self, *, key: str, gone: bool) -> replies.Reply:
        """Run the guest here as before the migration.

        A guest that had already left is booted again. Only its memory is lost, because no
        destination was asked to start it.
        gone: the server is deleted, so remove the guest
        """
        if gone:
            return self._drop(key)
        uuid, driver = self._instance.uuid, self._site.driver
        for attempt in range(UNDO_TRIES):
            job = driver.abort_live_migration(self._node, uuid, self._move, key=f'{key}/{attempt}')
            if job.state is not model.JobState.FAILED:
                return replies.reply(driver, job)
            LOG.info('Cannot abort the copy of server %s: %s', uuid, job.failure.message)
            if job.failure.error_class in ('AbortRefused', 'GuestNotFound'):
                break
        busy = replies.running(driver, self._node, uuid, (model.Verb.LIVE_MIGRATE,))
        return busy or self._take_back(key)

    def _take_back(self, key: str) -> replies.Reply:
        uuid = self._instance.uuid
        job = self._site.driver.revert_migration(
            self._node, uuid, self._move, key=key, power_on=True
        )
        reply = replies.reply(self._site.driver, job)
        if 'pending' in reply:
            return reply
        LOG.warning(
            'Server %s was restarted on its source node %s after a failed live migration',
            uuid,
            self._node,
        )
        if self._instance.vm_state != states.VmState.PAUSED:
            return reply
        job = self._site.driver.change_power(self._node, uuid, model.PowerAction.PAUSE, key=key)
        return replies.reply(self._site.driver, job)

    def _drop(self, key: str) -> replies.Reply:
        """Destroy the guest on the source, whether it has left or not."""
        uuid = self._instance.uuid
        for job in (
            self._site.driver.destroy(self._node, uuid, key=key),
            self._site.driver.confirm_migration(self._node, uuid, self._move, key=key),
        ):
            reply = replies.reply(self._site.driver, job)
            if 'pending' in reply:
                return reply
        self._site.claims.release(self._node, uuid)
        return {'done': True}


def fulfil(
    site: site.Site, ctxt: context.RequestContext, host: str, guest: str, move: str, *, command: str
) -> None:
    """Abort a migration, or force it to complete, for the request of `ctxt`.

    A migration whose copy has not begun is aborted in the record alone. A migration that has ended
    cannot be forced, and needs no force.
    """
    try:
        node = site.node_with(host, guest)
        if command == ABORT and not site.driver.can_abort_live_migration(node):
            raise exception.AbortMigrationNotSupported(host=host, migration_id=move)
        job = _end_copy(site, node, guest, move, key=ctxt.request_id, how=command)
        error = job.error
        if job.state is model.JobState.RUNNING:
            # The next poll finds the job under the same key.
            return
    except exception.GuestNotFound as missing:
        error = model.JobError('GuestNotFound', missing.message)
    except exception.AbortMigrationNotSupported as refused:
        error = model.JobError('AbortMigrationNotSupported', refused.message)
    if error is not None:
        LOG.warning('Request to %s live migration %s failed: %s', command, move, error.message)
    if command == FORCE_COMPLETE and error and error.error_class in OVER:
        error = None
    site.conductor.live_migration_answered(
        ctxt,
        host=host,
        migration_uuid=move,
        command=command,
        error=error.message if error else None,
    )


def _end_copy(
    site: site.Site, node: str, guest: str, move: str, *, key: str, how: str
) -> model.Job:
    end = site.driver.abort_live_migration
    if how == FORCE_COMPLETE:
        end = site.driver.force_complete_live_migration
    return end(node, guest, move, key=f'{move}/{how}/{key}')


def counters(job: model.Job) -> dict[str, int]:
    """Return {column of the migration: bytes} of a copy's job."""
    return {name: job.result[name] for name in COUNTERS if name in job.result}
