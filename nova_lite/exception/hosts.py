"""Errors about hosts, compute nodes, services, cells and aggregates."""

from nova_lite.exception import base


class ComputeHostNotFound(base.Invalid):
    msg = 'Compute host %(host)s could not be found.'


class ComputeNodeNotFound(base.NotFound):
    msg = 'Compute node %(node)s could not be found.'


class HostMappingNotFound(base.NotFound):
    reschedule = gone = True
    msg = "Host '%(host)s' is not mapped to any cell"


class CellMappingNotFound(base.NotFound):
    reschedule = gone = True
    msg = 'Cell %(cell)s has no mapping.'


class ServiceNotFound(base.NotFound):
    msg = 'Service %(service_id)s could not be found.'


class ServiceIsDown(base.Conflict):
    msg = 'Service is unavailable at this time: %(binary)s on %(host)s is not up.'


class AggregateNotEmpty(base.Invalid):
    msg = 'Cannot delete aggregate %(aggregate_id)s. Reason: Host aggregate is not empty.'


class AggregateNotFound(base.NotFound):
    msg = 'Aggregate %(aggregate_id)s could not be found.'


class AggregateHostNotFound(base.NotFound):
    msg = 'Aggregate %(aggregate_id)s has no host %(host)s.'


class AggregateActionRefused(base.Conflict):
    msg = 'Cannot %(action)s aggregate %(aggregate_id)s. Reason: %(reason)s.'
