"""The stored request of a server, from which later moves and the scheduler start."""

from collections.abc import Callable
import contextlib
import typing

import sqlalchemy as sa

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.moves import places
from nova_lite.moves import scope as scopes
from nova_lite.objects import flavor as flavor_objects

SAVE = 'save-request-spec'


class StoredRequest:
    """The stored request of a server. Changes are refused if the epoch of the saga is old."""

    def __init__(self, scope: scopes.Scope) -> None:
        self.scope = scope

    def saving(self, do: saga.Effect) -> saga.Step:
        """Return the step that updates the request. do: may call `change`"""
        return places.API_DATABASE.step(SAVE, do, later=True, skips=True)

    def saving_flavor(self, find: Callable[[], saga.Data | None]) -> saga.Step:
        """Return the step that stores a flavor, and counts it in quotas.

        find: function that returns the flavor, or None for a server that was gone
        """

        def save(connection: sa.Connection) -> None:
            flavor = find()
            if flavor:
                self._save_flavor(connection, flavor)

        return places.API_DATABASE.transaction(SAVE, save)

    def change(self, **values: typing.Any) -> None:
        """Change the request, if there is one."""
        self.scope.world.api_db.write(self._change, values)

    def _change(self, connection: sa.Connection, values: dict[str, typing.Any]) -> None:
        sagas.hold(connection, self.scope.ctxt)
        with contextlib.suppress(exception.RequestSpecNotFound):
            request_specs.change(connection, self.scope.instance_uuid, **values)

    def _save_flavor(self, connection: sa.Connection, flavor: saga.Data) -> None:
        self._change(connection, {'flavor': flavor_objects.Flavor(**flavor)})
        uuid = self.scope.instance_uuid
        instance_mappings.set_size(connection, uuid, flavor['vcpus'], flavor['memory_mb'])
