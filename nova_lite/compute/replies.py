"""Replies of the methods of moves while a hypervisor works.

A call starts an effect, or finds the effect that an earlier call has started, by its key in the
driver. The reply has the result, or the seconds after which to poll. This process keeps nothing.
"""

from collections.abc import Collection
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

# {'done': True, ...} with the results, or {'pending': seconds}.
Reply: typing.TypeAlias = model.Json

# A call waits at most so many seconds for a job; longer jobs are polled.
SHORT_S = 0.25
SOONEST_S = 0.1


def reply(driver: protocol.Driver, job: model.Job) -> Reply:
    """Return {'done': True, **result} of a driver's job, or {'pending': seconds}.

    Raise DriverError when the job failed.
    """
    job = awaited(driver, job)
    if job.state is model.JobState.RUNNING:
        return pending(job)
    if job.state is model.JobState.FAILED:
        raise exception.DriverError(
            verb=str(job.verb), guest=job.guest, node=job.node, reason=job.failure.message
        )
    return {'done': True, **job.result}


def awaited(driver: protocol.Driver, job: model.Job) -> model.Job:
    """Return the job, after its next event if that is due within SHORT_S."""
    if job.state is model.JobState.RUNNING and job.ready_in <= SHORT_S:
        runtime.sleep(job.ready_in)
        job = driver.poll(job.id)
    return job


def pending(job: model.Job) -> Reply:
    """Return {'pending': seconds} for a running job."""
    return {'pending': max(job.ready_in, SOONEST_S)}


def running(
    driver: protocol.Driver, node: str, guest: str, verbs: Collection[model.Verb]
) -> Reply | None:
    """Return {'pending': seconds} if a job of one of `verbs` runs on the guest, else None."""
    for job in driver.list_jobs(node, guest):
        if job.verb in verbs:
            return pending(job)
    return None
