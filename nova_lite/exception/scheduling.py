"""Errors about the choice of a host."""

from nova_lite.exception import base


class NoValidHost(base.NovaLiteError):
    msg = 'No valid host was found. %(reason)s'


class ComputeHostMetricNotFound(base.NotFound):
    msg = 'Metric %(name)s could not be found on the compute host node %(host)s.%(node)s.'


class RequestFilterFailed(NoValidHost):
    msg = 'No valid host was found. Scheduling failed: %(reason)s'


class MaxRetriesExceeded(NoValidHost):
    msg = (
        'Exceeded maximum number of retries. Exhausted all hosts available for retrying build '
        'failures for instance %(instance_uuid)s.'
    )


class NoCapacity(base.NovaLiteError):
    """The host does not have the resources for the guest; another host may have them."""

    reschedule = True
    msg = 'Insufficient compute resources: %(reason)s.'


class DecisionNotFound(base.NotFound):
    msg = (
        'The scheduler has no decision about instance %(uuid)s in its memory, which has the latest '
        'decisions since its start. Name a server that was created or moved since then.'
    )
