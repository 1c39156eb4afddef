"""Errors about builds of servers, and errors of the hypervisor."""

from nova_lite.exception import base


class BuildAborted(base.NovaLiteError):
    """The build failed for a reason that another host would not change."""

    msg = 'Build of instance %(instance_uuid)s aborted: %(reason)s'


class BuildRescheduled(base.NovaLiteError):
    """The build failed here; the next alternate may be tried."""

    msg = 'Build of instance %(instance_uuid)s was re-scheduled: %(reason)s'


class DriverError(base.NovaLiteError):
    """The hypervisor refused or failed. error_class: class of the error of its job, if any"""

    error_class = ''
    msg = '%(verb)s of guest %(guest)s failed on %(node)s: %(reason)s'
