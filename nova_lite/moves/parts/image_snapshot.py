"""An image for the disk of a guest. Its id is the saga's."""

from collections.abc import Callable
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import saga
from nova_lite.moves import places
from nova_lite.moves import scope as scopes

LOG = log.getLogger(__name__)


class Snapshot:
    """The image of a saga. pattern: its name, with %s for the server's name

    is_wanted: function that returns whether to create the image: not if all disks are volumes
    properties: further properties of the image
    """

    def __init__(
        self,
        scope: scopes.Scope,
        pattern: str,
        *,
        is_wanted: Callable[[], bool] = lambda: True,
        properties: dict[str, str] | None = None,
    ) -> None:
        self.scope, self._pattern = scope, pattern
        self._is_wanted, self._properties = is_wanted, properties

    @property
    def id(self) -> str | None:
        return self.scope.uuid if self._is_wanted() else None

    def step(self, name: str, do: saga.Effect) -> saga.Step:
        """Return the step that creates the image. do: the effect, which calls `queue`"""
        clean = saga.Clean(self.drop)
        return places.IMAGES.step(name, do, self.drop, clean=clean, harmless=True)

    def queue(self) -> str | None:
        """Create the image, without data yet. Return its id, or None."""
        scope, image_id = self.scope, self.id
        if image_id is not None:
            row = scope.row()
            scope.world.image.create_snapshot(
                scope.ctxt,
                self._pattern % row.display_name,
                row,
                properties=self._properties,
                image_id=image_id,
            )
        return image_id

    def dropping(self, name: str, **options: typing.Any) -> saga.Step:
        """Return the step that deletes the image when it is no longer needed.

        options: see saga.Step
        """
        return places.IMAGES.best_effort(name, self.drop, clean=saga.Clean(self.drop), **options)

    def drop(self) -> None:
        """Delete the image, if it exists. An image that its owner has protected stays."""
        scope = self.scope
        try:
            scope.world.image.delete(scope.ctxt, scope.uuid, missing_ok=True)
        except exception.Forbidden as error:
            if not self._is_protected():
                raise
            LOG.warning('Image %s of a move stays: %s', scope.uuid, error)

    def _is_protected(self) -> bool:
        scope = self.scope
        try:
            return bool(scope.world.image.get(scope.ctxt, scope.uuid)['protected'])
        except exception.ImageNotFound:
            return True
