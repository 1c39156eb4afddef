"""Errors about resizes, migrations, evacuations and their sagas."""

from nova_lite.exception import base


class MigrationNotFound(base.NotFound):
    msg = 'Migration %(migration_id)s could not be found.'


class MigrationNotFoundForInstance(base.NotFound):
    msg = 'Migration %(migration_id)s not found for instance %(instance_id)s'


class CannotMigrateToSameHost(base.Invalid):
    msg = 'Cannot migrate to the host where the server exists.'


class MoveRefused(base.NovaLiteError):
    """A host rejects a server that moves to it; another host may accept it."""

    reschedule = True
    msg = 'Host %(host)s cannot take instance %(instance_uuid)s: %(reason)s'


class MigrationPreCheckError(base.Invalid):
    reschedule = True
    msg = 'Migration pre-check error: %(reason)s'


class LiveMigrationAborted(base.Conflict):
    msg = 'Live migration %(migration_id)s was aborted.'


class AbortMigrationNotSupported(base.NovaLiteError):
    msg = 'The hypervisor of host %(host)s cannot abort live migration %(migration_id)s.'


class SagaNotFound(base.NotFound):
    msg = 'Saga %(uuid)s could not be found. `nova-lite saga list` lists sagas.'


class StaleEpoch(base.Conflict):
    """The call comes from a former owner of the saga: a newer epoch is known."""

    msg = 'Saga %(saga)s is at epoch %(seen)s; a call from epoch %(epoch)s is refused.'
