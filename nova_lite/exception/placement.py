"""Errors about resource providers and allocations."""

from nova_lite.exception import base


class ResourceProviderNotFound(base.NotFound):
    msg = 'No such resource provider %(name_or_uuid)s.'


class ProviderConflict(base.Conflict):
    """A provider's generation moved on and the retries are used up."""

    transient = True
    msg = 'Resource provider %(provider)s was changed by another process.'


class AllocationConflict(base.Conflict):
    """Another writer changed this consumer's allocations (consumer generation)."""

    transient = True
    msg = 'Allocations of consumer %(consumer)s were changed by another process.'
