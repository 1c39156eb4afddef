"""Errors of requests to the API that concern no particular kind of object."""

from nova_lite.exception import base


class InvalidMicroversion(base.Invalid):
    msg = 'API Version String %(version)s is of invalid format. It must be of format Major.Minor.'


class MarkerNotFound(base.Invalid):
    msg = 'marker [%(marker)s] not found'


class PolicyNotAuthorized(base.Forbidden):
    msg = "Policy doesn't allow %(action)s to be performed."


class OverQuota(base.Forbidden):
    msg = (
        'Quota exceeded for %(resource)s: Requested %(requested)s, but already used %(used)s '
        'of %(limit)s %(resource)s'
    )
