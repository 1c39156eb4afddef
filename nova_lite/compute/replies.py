"""Replies of the methods of moves while a hypervisor works.

A call starts an effect, or finds the one it started before: the driver knows it by the
key. It answers at once with the result, or with when to ask again; nothing is kept here.
"""

from collections.abc import Collection
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.virt import driver as protocol
from nova_lite.virt import model

# {'done': True, ...} with the results, or {'pending': seconds}.
Reply: typing.TypeAlias = model.Json

# What takes no longer is waited for; all else is asked for again.
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
    """Return the job; poll it at its next event if that is at most SHORT_S away."""
    if job.state is model.JobState.RUNNING and job.ready_in <= SHORT_S:
        runtime.sleep(job.ready_in)
        job = driver.poll(job.id)
    return job


def pending(job: model.Job) -> Reply:
    """Return {'pending': seconds} for a job that runs."""
    return {'pending': max(job.ready_in, SOONEST_S)}


def running(
    driver: protocol.Driver, node: str, guest: str, verbs: Collection[model.Verb]
) -> Reply | None:
    """Return {'pending': seconds} if the node is at one of these verbs on the guest, else None."""
    for job in driver.list_jobs(node, guest):
        if job.verb in verbs:
            return pending(job)
    return None
