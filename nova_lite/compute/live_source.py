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
# Seconds until the next poll of a waiting migration, by its place in the queue. The end of another
# migration wakes it before.
TURN_S, LONGEST_TURN_S = 1.0, 5.0
UNDO_TRIES = 3


class LiveSource:
    """A part of the ComputeManager: live migrations at their source.

    Each method answers the method of ComputeAPI with its name. move: the uuid of the migration
    """

    def __init__(self, site: site.Site) -> None:
        self._site = site

    # ---- forward ----

    def take_live_migration_turn(
        self, ctxt: context.RequestContext, host: str, instance: objects.Instance, move: str
    ) -> replies.Reply:
        """Queue the migration. Admit it when fewer migrations than the limit leave the host.

        Raises LiveMigrationAborted if the migration was aborted.
        """
        found = self._site.conductor.live_migration_turn(
            ctxt,
            host=host,
            migration_uuid=move,
            limit=self._site.conf.max_concurrent_live_migrations,
        )
        if found['turn']:
            return {'done': True}
        return {'pending': min(LONGEST_TURN_S, TURN_S * (1 + found['ahead']))}

    def live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        ticket: model.Ticket,
        block_migration: bool,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Start the copy, or poll it.

        While it runs, report the counters, carry out commands and enforce the time limit.
        Replies {'handover', counters} as soon as the guest may run at the destination. The time
        limit is enforced only while a super-conductor polls. Raises LiveMigrationAborted,
        DriverError.
        """
        driver, node = self._site.driver, self._site.node_of(host, instance)
        job = driver.live_migrate(
            node, instance.uuid, move, key=key, ticket=ticket, block_migration=block_migration
        )
        if job.state is model.JobState.RUNNING:
            self._report(ctxt, host, instance.uuid, move, job)
            self._mind_time(node, instance, move, job)
            job = replies.awaited(driver, driver.poll(job.id))
            if job.state is model.JobState.RUNNING and 'handover' not in job.result:
                return replies.pending(job)
        if job.state is model.JobState.FAILED:
            if job.failure.error_class in ABORTED:
                raise exception.LiveMigrationAborted(migration_id=move)
            return replies.reply(driver, job)
        if 'handover' in job.result:
            return {'done': True, 'handover': job.result['handover'], **counters(job)}
        return replies.reply(driver, job)

    def _report(
        self, ctxt: context.RequestContext, host: str, guest: str, move: str, job: model.Job
    ) -> None:
        """Report the progress of the copy, and carry out requests of operators."""
        commands = self._site.conductor.live_migration_progress(
            ctxt, host=host, migration_uuid=move, counters=counters(job)
        )
        for command, values in commands.items():
            asked = context.RequestContext.from_wire(values)
            fulfil(self._site, asked, host, guest, move, command=command)

    def _mind_time(self, node: str, instance: objects.Instance, move: str, job: model.Job) -> None:
        """Abort or force a copy after its timeout, which depends on the guest's size."""
        options = self._site.conf.compute
        size_gib = instance.flavor.memory_mb / MIB_PER_GIB
        size_gib += job.result['disk_total'] / BYTES_PER_GIB
        allowed_s = options.live_migration_completion_timeout * max(1, size_gib)
        if not allowed_s or job.result['elapsed'] < allowed_s:
            return
        action = options.live_migration_timeout_action
        if action == ABORT and not self._site.driver.can_abort_live_migration(node):
            return
        LOG.warning(
            'Live migration %s of server %s takes longer than %s s: %s',
            move,
            instance.uuid,
            allowed_s,
            action,
        )
        _end_copy(self._site, node, instance.uuid, move, key='timeout', how=action)

    def live_migration_abort(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        fulfil(self._site, ctxt, host, instance_uuid, migration_uuid, command=ABORT)

    def live_migration_force_complete(
        self, ctxt: context.RequestContext, host: str, instance_uuid: str, migration_uuid: str
    ) -> None:
        fulfil(self._site, ctxt, host, instance_uuid, migration_uuid, command=FORCE_COMPLETE)

    def post_live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        move: str,
        key: str,
    ) -> replies.Reply:
        """Remove the guest here after it was started elsewhere.

        Wait for the end of the copy, which with post-copy comes after the departure.
        """
        driver, node = self._site.driver, self._site.node_of(host, instance)
        running = self._running_copy(node, instance.uuid)
        if running:
            self._report(ctxt, host, instance.uuid, move, running)
            running = self._running_copy(node, instance.uuid)
            if running:
                copy = replies.awaited(driver, running)
                if copy.state is model.JobState.RUNNING:
                    return replies.pending(copy)
        job = driver.confirm_migration(node, instance.uuid, move, key=key)
        reply = replies.reply(driver, job)
        if 'done' in reply:
            self._site.claims.release(node, instance.uuid)
            LOG.info('Server %s was migrated away from node %s', instance.uuid, node)
        return reply

    def _running_copy(self, node: str, guest: str) -> model.Job | None:
        for job in self._site.driver.list_jobs(node, guest):
            if job.verb is model.Verb.LIVE_MIGRATE:
                return job
        return None

    # ---- back ----

    def rollback_live_migration(
        self,
        ctxt: context.RequestContext,
        host: str,
        instance: objects.Instance,
        *,
        move: str,
        key: str,
        gone: bool,
    ) -> replies.Reply:
        """Run the guest here as before the migration.

        A guest that had already left is booted again. Only its memory is lost, because no
        destination was asked to start it.
        gone: the server is deleted, so remove the guest
        """
        driver, node = self._site.driver, self._site.node_of(host, instance)
        if gone:
            return self._drop(node, instance.uuid, move, key)
        for attempt in range(UNDO_TRIES):
            job = driver.abort_live_migration(node, instance.uuid, move, key=f'{key}/{attempt}')
            if job.state is not model.JobState.FAILED:
                return replies.reply(driver, job)
            LOG.info('Cannot abort the copy of server %s: %s', instance.uuid, job.failure.message)
            if job.failure.error_class in ('AbortRefused', 'GuestNotFound'):
                break
        busy = replies.running(driver, node, instance.uuid, (model.Verb.LIVE_MIGRATE,))
        return busy or self._take_back(node, instance, move, key)

    def _take_back(
        self, node: str, instance: objects.Instance, move: str, key: str
    ) -> replies.Reply:
        driver = self._site.driver
        job = driver.revert_migration(node, instance.uuid, move, key=key, power_on=True)
        reply = replies.reply(driver, job)
        if 'pending' in reply:
            return reply
        LOG.warning(
            'Server %s was restarted on its source node %s after a failed live migration',
            instance.uuid,
            node,
        )
        if instance.vm_state != states.VmState.PAUSED:
            return reply
        job = driver.change_power(node, instance.uuid, model.PowerAction.PAUSE, key=key)
        return replies.reply(driver, job)

    def _drop(self, node: str, guest: str, move: str, key: str) -> replies.Reply:
        """Destroy the guest on the source, whether it has left or not."""
        driver = self._site.driver
        for job in (
            driver.destroy(node, guest, key=key),
            driver.confirm_migration(node, guest, move, key=key),
        ):
            reply = replies.reply(driver, job)
            if 'pending' in reply:
                return reply
        self._site.claims.release(node, guest)
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
